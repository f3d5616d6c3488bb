// What a diagnosis makes of figures that point to one cause each.
#include <gtest/gtest.h>

#include "run/diagnosis.h"

namespace strop {
namespace {

Machine machine() {
    Machine machine;
    machine.cores = 4;
    machine.vector_bytes = 64;
    machine.ceilings = {100e9, 400e9, 40e9, 40e9, 20e9};
    return machine;
}

// A quarter of the ceilings' work in the time of a kernel that uses all cores well, in one vectorised loop.
struct Case {
    PointProfile profile;
    Roofline roofline;

    Case() {
        profile.point.label = "large";
        profile.time = {{1e6}, 1e6, 1e6, 1e6, false, 0};
        profile.one_core = {{4e6}, 4e6, 4e6, 4e6, false, 0};
        profile.threads = 4;
        profile.samples = 1000;
        profile.places = {{"kernel", 1.0}};
        HotLoop loop;
        loop.share = 1;
        loop.line = 12;
        loop.last_line = 15;
        loop.mix.total = 20;
        loop.mix.packed[64] = 8;
        loop.mix.fused = 8;
        loop.mix.loads = 6;
        loop.mix.stores = 2;
        profile.loops = {loop};
        roofline = {2.5e5, "compute", 1e6, 1e8, 2.5e4, 2.5e5, true};
    }
    InstructionMix& mix() { return profile.loops[0].mix; }
    Diagnosis diagnosed() const { return diagnose(profile, roofline, machine()); }
};

bool says(const Diagnosis& diagnosis, const std::string& words) {
    return diagnosis.next.find(words) != std::string::npos;
}

TEST(Diagnosis, has_a_finding_for_each_dimension) {
    const Diagnosis diagnosis = Case().diagnosed();
    ASSERT_EQ(diagnosis.findings.size(), 4u);
    EXPECT_EQ(diagnosis.label, "large");
    EXPECT_NEAR(diagnosis.findings[0].reached, 0.025, 1e-9);
    EXPECT_NEAR(diagnosis.findings[1].reached, 0.25, 1e-9);
    EXPECT_NEAR(diagnosis.findings[2].reached, 1, 1e-9);
    EXPECT_NEAR(diagnosis.findings[3].reached, 1, 1e-9);
    for (const Finding& finding : diagnosis.findings) EXPECT_FALSE(finding.evidence.empty());
    EXPECT_FALSE(diagnosis.next.empty());
}

TEST(Diagnosis, what_is_at_a_ceiling_needs_other_work) {
    Case memory;
    memory.roofline.traffic_ns = 9e5;
    EXPECT_TRUE(memory.diagnosed().at_ceiling);
    EXPECT_EQ(memory.diagnosed().limit, Dimension::memory);
    EXPECT_TRUE(says(memory.diagnosed(), "fewer bytes"));
    Case compute;
    compute.roofline.compute_ns = 8e5;
    EXPECT_TRUE(compute.diagnosed().at_ceiling);
    EXPECT_EQ(compute.diagnosed().limit, Dimension::compute);
    EXPECT_FALSE(Case().diagnosed().at_ceiling);
}

TEST(Diagnosis, cores_that_do_not_help) {
    Case one_thread;
    one_thread.profile.threads = 1;
    one_thread.profile.one_core = one_thread.profile.time;
    EXPECT_EQ(one_thread.diagnosed().limit, Dimension::parallelism);
    EXPECT_TRUE(says(one_thread.diagnosed(), "share the outermost loop"));
    Case too_small;
    too_small.profile.one_core.median_ns = 5e5;
    EXPECT_TRUE(says(too_small.diagnosed(), "one thread at this size"));
    Case uneven;
    uneven.profile.one_core.median_ns = 1.6e6;
    uneven.profile.places = {{"kernel", 0.4}, {"waiting", 0.6}};
    uneven.profile.loops[0].share = 0.4;
    EXPECT_EQ(uneven.diagnosed().limit, Dimension::parallelism);
    EXPECT_TRUE(says(uneven.diagnosed(), "even shares"));
}

// One core that moves half of what memory gives leaves a factor of two to the others.
TEST(Diagnosis, memory_bounds_what_cores_can_gain) {
    Case streaming;
    streaming.roofline = {6e5, "memory", 2.4e7, 1e6, 6e5, 2.5e3, false};
    streaming.profile.one_core.median_ns = 2e6;
    EXPECT_NEAR(streaming.diagnosed().findings[2].reached, 1, 1e-9);
    EXPECT_EQ(streaming.diagnosed().limit, Dimension::memory);
}

TEST(Diagnosis, time_outside_of_the_loops) {
    Case library;
    library.profile.places = {{"kernel", 0.3}, {"libm.so.6", 0.7}};
    library.profile.loops[0].share = 0.3;
    EXPECT_EQ(library.diagnosed().limit, Dimension::algorithm);
    EXPECT_TRUE(says(library.diagnosed(), "polynomials"));
    Case overhead;
    overhead.profile.loops[0].share = 0.2;
    EXPECT_EQ(overhead.diagnosed().limit, Dimension::algorithm);
    EXPECT_TRUE(says(overhead.diagnosed(), "around the innermost loops"));
}

TEST(Diagnosis, flaws_of_a_loop_are_named_with_its_lines) {
    Case scalar;
    scalar.mix().packed.clear();
    scalar.mix().scalar = 8;
    EXPECT_EQ(scalar.diagnosed().limit, Dimension::compute);
    EXPECT_TRUE(says(scalar.diagnosed(), "vectorised")) << scalar.diagnosed().next;
    EXPECT_TRUE(says(scalar.diagnosed(), "lines 12–15")) << scalar.diagnosed().next;
    Case narrow;
    narrow.mix().packed = {{16, 8}};
    EXPECT_TRUE(says(narrow.diagnosed(), "whole vectors")) << narrow.diagnosed().next;
    Case chain;
    chain.profile.loops[0].throughput = Throughput{20, 20, 0.8, 0.1, ""};
    EXPECT_TRUE(says(chain.diagnosed(), "independent accumulators")) << chain.diagnosed().next;
    Case copying;
    copying.mix().packed.clear();
    EXPECT_EQ(copying.diagnosed().limit, Dimension::memory);
    EXPECT_TRUE(says(copying.diagnosed(), "only moves data")) << copying.diagnosed().next;
    Case full_units;
    full_units.profile.loops[0].throughput = Throughput{20, 20, 0.4, 0.9, "FP0"};
    EXPECT_FALSE(says(full_units.diagnosed(), "accumulators")) << full_units.diagnosed().next;
    Case spilled;
    spilled.mix().stack = 6;
    EXPECT_TRUE(says(spilled.diagnosed(), "6 of its 8 memory accesses")) << spilled.diagnosed().next;
    Case gathering;
    gathering.mix().gathers = 4;
    EXPECT_EQ(gathering.diagnosed().limit, Dimension::memory);
    EXPECT_TRUE(says(gathering.diagnosed(), "contiguous")) << gathering.diagnosed().next;
}

// A loop without a flaw, far from both ceilings.
TEST(Diagnosis, what_nothing_explains_goes_to_the_nearer_ceiling) {
    EXPECT_EQ(Case().diagnosed().limit, Dimension::compute);
    EXPECT_TRUE(says(Case().diagnosed(), "larger tiles")) << Case().diagnosed().next;
    Case loading;
    loading.mix().loads = 16;
    EXPECT_TRUE(says(loading.diagnosed(), "16 loads for 8 arithmetic")) << loading.diagnosed().next;
    Case streaming;
    streaming.roofline.traffic_ns = 4e5;
    EXPECT_EQ(streaming.diagnosed().limit, Dimension::memory);
    EXPECT_TRUE(says(streaming.diagnosed(), "fewer passes"));
}

// Sixteen times by vectors come before twice by cores.
TEST(Diagnosis, the_largest_gain_comes_first) {
    Case scalar;
    scalar.mix().packed.clear();
    scalar.mix().scalar = 8;
    scalar.profile.one_core.median_ns = 1.2e6;
    scalar.profile.places = {{"kernel", 1.0}};
    EXPECT_EQ(scalar.diagnosed().limit, Dimension::compute);
}

TEST(Diagnosis, a_beaten_roofline_is_no_ceiling) {
    Case faster;
    faster.roofline.nanoseconds = faster.roofline.compute_ns = 1.4e6;  // the kernel takes 1 ms
    EXPECT_TRUE(faster.diagnosed().at_ceiling);
    faster.roofline = seen_beside(faster.roofline, 1e6);
    faster.mix().stack = 6;
    const Diagnosis diagnosis = faster.diagnosed();
    EXPECT_FALSE(diagnosis.at_ceiling);
    EXPECT_TRUE(says(diagnosis, "registers that were spilled")) << diagnosis.next;
    EXPECT_NE(diagnosis.findings[1].evidence.find("as counted, no ceiling"), std::string::npos);
}

TEST(Diagnosis, of_nothing_measured_claims_nothing) {
    Case unmeasured;
    unmeasured.profile.time = {};
    EXPECT_TRUE(unmeasured.diagnosed().findings.empty());
    Case unseen;
    unseen.profile.samples = 0;
    unseen.profile.places.clear();
    unseen.profile.loops.clear();
    EXPECT_NE(unseen.diagnosed().limit, Dimension::algorithm);
    Case disturbed;
    disturbed.profile.time.disturbed = 1;
    EXPECT_NE(disturbed.diagnosed().findings[2].evidence.find("uncertain"), std::string::npos);
}

}  // namespace
}  // namespace strop
