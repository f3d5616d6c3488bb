// A profile in its three forms.
#include <gtest/gtest.h>

#include "core/json.h"
#include "report/profile_report.h"

namespace strop::report {
namespace {

ProfileReport sample() {
    ProfileReport report;
    report.kernel = "a<b>.cpp";
    report.problem = "softmax";
    report.compiler = "clang 19";
    report.strop_version = "1";
    report.machine.cpu = "a processor";
    report.machine.cores = 2;
    report.machine.ceilings = {50e9, 100e9, 20e9, 20e9, 10e9};
    PointProfile point;
    point.point = {"large", {{"M", 4096}, {"N", 8192}}};
    point.time = {{5e6}, 5e6, 4.9e6, 5.1e6, false, 0};
    point.one_core = {{9e6}, 9e6, 9e6, 9e6, false, 0};
    point.samples = 100;
    point.places = {{"kernel", 0.9}, {"waiting", 0.1}};
    HotLoop loop;
    loop.function = "softmax(float const*, float*)";
    loop.line = 3;
    loop.last_line = 5;
    loop.share = 0.8;
    loop.mix.total = 2;
    loop.mix.packed[64] = 1;
    loop.throughput = Throughput{4, 2, 0.5, 0.1, "FP0"};
    loop.listing = "L1:  vaddps zmm0, zmm0, zmmword ptr [rax]\n     jne L1\n";
    point.loops = {loop};
    point.counters = {{"cycles", 2000}, {"instructions", 5000}, {"last_level_misses", 12}};
    report.profile.points = {point};
    report.profile.missing = {"no <counters>"};
    Diagnosis diagnosis;
    diagnosis.label = "large";
    diagnosis.findings = {{Dimension::memory, 0.9, "much & more"}, {Dimension::compute, 0.1, "little"}};
    diagnosis.limit = Dimension::memory;
    diagnosis.at_ceiling = true;
    diagnosis.next = "fewer bytes";
    report.diagnoses = {diagnosis};
    ShapeReport shape;
    shape.label = "large";
    shape.nanoseconds = 5e6;
    shape.roofline_ns = 4.5e6;
    shape.roofline_share = 0.9;
    shape.bound = "memory";
    shape.bytes = 1e8;
    shape.flops = 1e8;
    report.shapes = {shape};
    return report;
}

bool has(const std::string& text, const std::string& words) { return text.find(words) != std::string::npos; }

TEST(ProfileReport, terminal_says_what_limits_and_what_is_next) {
    const std::string text = profile_terminal(sample(), false, 100);
    for (const char* words : {"verdict: ok", "large (M=4096,N=8192)  5.00 ms, 90% of the roofline (memory)",
                              "much & more", "limited by", "memory, at its ceiling", "fewer bytes",
                              "2.50 instructions a cycle", "12 last level misses", "no <counters>"})
        EXPECT_TRUE(has(text, words)) << words << "\n" << text;
    EXPECT_FALSE(has(text, "\033"));
    EXPECT_TRUE(has(profile_terminal(sample(), true, 100), "\033[1m"));
}

TEST(ProfileReport, json_has_the_profile_and_the_diagnosis_of_each_shape) {
    const Json json = Json::parse(profile_json(sample()));
    EXPECT_EQ(json["verdict"], "ok");
    const Json& shape = json["shapes"][0];
    EXPECT_EQ(shape["point"]["label"], "large");
    EXPECT_EQ(shape["diagnosis"]["limit"], "memory");
    EXPECT_EQ(shape["diagnosis"]["findings"][0]["dimension"], "memory");
    EXPECT_EQ(shape["loops"][0]["mix"]["packed"]["64"], 1);
    EXPECT_EQ(shape["loops"][0]["throughput"]["busiest"], "FP0");
    EXPECT_EQ(shape["roofline"]["bound"], "memory");
    EXPECT_EQ(shape.get<PointProfile>().loops[0].mix.packed.at(64), 1);
}

TEST(ProfileReport, page_has_pictures_and_assembly_and_escapes_everything) {
    const std::string page = profile_html(sample());
    for (const char* words : {"a&lt;b&gt;.cpp", "much &amp; more", "no &lt;counters&gt;", "vaddps zmm0", "lines 3–5",
                              "<svg", "Roofline", "fewer bytes", "4.0 cycles"})
        EXPECT_TRUE(has(page, words)) << words;
    EXPECT_FALSE(has(page, "<script"));
    EXPECT_FALSE(has(page, "a<b>"));
}

TEST(ProfileReport, of_a_kernel_that_is_not_right_is_its_verdict) {
    ProfileReport report = sample();
    report.profile = {Verdict::wrong_output, "y[3] is 1", {}, {}};
    report.diagnoses.clear();
    report.shapes.clear();
    EXPECT_EQ(profile_terminal(report, false, 80), "verdict: wrong_output\ny[3] is 1\n");
    EXPECT_EQ(Json::parse(profile_json(report))["shapes"].size(), 0u);
}

}  // namespace
}  // namespace strop::report
