// The measurement of a result in its users' process: its ratios, and the process itself.
#include "run/in_process.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/file.h"
#include "core/json.h"

namespace strop {
namespace {

using testing::HasSubstr;

std::string printed(const Json& samples) { return dump({{"points", {{{"label", "small"}, {"samples", samples}}}}}); }

TEST(InProcess, RatiosAreOfRoundsOverTheFastestVersion) {
    const Json samples = {{"strop", {{100, 50}, {110, 50}, {100, 60}, {5000, 50}, {100, 50}, {100, 50}}},
                          {"pytorch", {{300, 40}, {330, 40}, {300, 40}, {310, 40}, {300, 40}, {300, 40}}},
                          {"torch.compile", {{200, 25}, {220, 25}, {200, 25}, {200, 25}, {200, 25}, {200, 25}}}};
    const InProcess measured = in_process_of("pytorch", printed(samples));
    ASSERT_EQ(measured.points.size(), 1u);
    EXPECT_TRUE(measured.measured());
    EXPECT_EQ(measured.points[0].best_baseline, "torch.compile");
    EXPECT_EQ(measured.points[0].nanoseconds, 100);
    EXPECT_NEAR(measured.points[0].speedups.at("pytorch").ratio, 3, 0.01);  // whatever one round was
    EXPECT_NEAR(measured.headline.ratio, 2, 0.01);
    EXPECT_EQ(measured.points[0].neighbour, 2);
    const Json json = measured;
    EXPECT_EQ(json.get<InProcess>().points[0].speedups.at("pytorch").low,
              measured.points[0].speedups.at("pytorch").low);
}

class InProcessRun : public testing::Test {
protected:
    InProcessRun() {
        problem_.name = "doubled";
        problem_.function = "twice";
        Tensor x;
        x.name = "x";
        x.shape = {Expression::parse("N")};
        problem_.inputs = {x};
        x.name = "y";
        problem_.outputs = {x};
        problem_.dimensions = {"N"};
        problem_.points = {{"small", {{"N", 64}}}, {"large", {{"N", 5000}}}};
        problem_.reference = folder_.path() / "reference.py";
        record_.compiler = "g++ 12.2.0 -std=c++17 -O1";
        files_.compiler_flags = "-O1";
        files_.source =
            "#include <cstdint>\nextern \"C\" void doubled(const float* x, float* y, int64_t N) {\n"
            "    for (int64_t n = 0; n < N; ++n) y[n] = 2 * x[n];\n}\n";
    }

    InProcess measure(const std::string& reference) {
        write_file(problem_.reference, reference);
        return measure_in_process(problem_, record_, files_, {"numpy", "onednn"}, Seconds(0.1));
    }

    TemporaryFolder folder_;
    Problem problem_;
    RunRecord record_;
    ResultFiles files_;
};

TEST_F(InProcessRun, TheResultIsCalledFromPythonBesideNumPy) {
    const InProcess measured = measure("def twice(x):\n    return 2 * x\n");
    EXPECT_EQ(measured.missing, "");
    EXPECT_EQ(measured.framework, "numpy");
    ASSERT_EQ(measured.points.size(), 2u);
    EXPECT_EQ(measured.points[1].label, "large");
    EXPECT_GT(measured.points[1].nanoseconds, 0);
    EXPECT_EQ(measured.points[1].best_baseline, "numpy");
    EXPECT_GT(measured.headline.high, measured.headline.low);
}

// Later baselines run what frameworks keep there.
TEST_F(InProcessRun, TheKernelCannotWriteWhereCompiledBaselinesAre) {
    fs::create_directories(cache_folder() / "frameworks");
    const fs::path planted = cache_folder() / "frameworks/planted";
    fs::remove(planted);
    files_.source =
        "#include <cstdint>\n#include <cstdio>\nextern \"C\" void doubled(const float* x, float* y, int64_t N) {\n"
        "    if (FILE* file = fopen(\"" +
        planted.string() +
        "\", \"w\")) fclose(file);\n"
        "    for (int64_t n = 0; n < N; ++n) y[n] = 2 * x[n];\n}\n";
    EXPECT_TRUE(measure("def twice(x):\n    return 2 * x\n").measured());
    EXPECT_FALSE(fs::exists(planted));
}

TEST_F(InProcessRun, AFailureIsAReason) {
    const InProcess measured = measure("def twice(x):\n    raise RuntimeError('no luck')\n");
    EXPECT_FALSE(measured.measured());
    EXPECT_THAT(measured.missing, HasSubstr("RuntimeError: no luck"));
}

}  // namespace
}  // namespace strop
