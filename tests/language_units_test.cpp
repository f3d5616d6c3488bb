#include <gtest/gtest.h>

#include "base/error.h"
#include "device/target.h"
#include "language/units.h"

namespace strop {
namespace {

Problem scale_problem() {
    Problem problem;
    problem.name = "scale";
    problem.dimensions = {"M"};
    problem.inputs = {{"x", DType::float32, {Expression::symbol("M")}, Fill::normal, {}}};
    problem.outputs = {{"y", DType::float32, {Expression::symbol("M")}, Fill::normal, {}}};
    return problem;
}

Machine x86() {
    Machine machine;
    machine.architecture = "x86_64";
    machine.cpu = "Some CPU";
    machine.isa = "avx512";
    machine.vector_bytes = 64;
    machine.fingerprint = "of the machine as it is";
    return machine;
}

std::set<std::string> features(const std::string& target) { return find_target(target)->needs; }

TEST(Targets, AMachineSeenAsALesserOneHasItsVectorsAndAKeyOfItsOwn) {
    const Machine seen = as_target(x86(), features("cpu-avx512"), "cpu-avx2");
    EXPECT_EQ(seen.isa, "avx2");
    EXPECT_EQ(seen.vector_bytes, 32);
    EXPECT_EQ(seen.target, "cpu-avx2");
    EXPECT_NE(seen.fingerprint, as_target(x86(), features("cpu-avx512"), "cpu-avx512").fingerprint);
    EXPECT_EQ(as_target(x86(), {}, native_target).fingerprint, "of the machine as it is");
    Machine machine;
    machine.vector_bytes = 32;
    EXPECT_EQ(architecture_flags(machine), std::vector<std::string>{"-march=native"});
    machine.target = "cpu-avx2";
    EXPECT_EQ(architecture_flags(machine), std::vector<std::string>{"-march=x86-64-v3"});
    machine.target = "cpu-avx512";
    machine.vector_bytes = 64;
    EXPECT_EQ(architecture_flags(machine), (std::vector<std::string>{"-march=x86-64-v4", "-mprefer-vector-width=512"}));
}

TEST(Targets, WhatAMachineLacksIsNamed) {
    try {
        as_target(x86(), features("cpu-avx2"), "cpu-avx512");
        FAIL();
    } catch (const EnvironmentError& error) {
        EXPECT_STREQ(error.what(),
                     "cpu-avx512: Some CPU cannot execute it: it lacks avx512bw, avx512cd, avx512dq, avx512f, "
                     "avx512vl");
    }
    EXPECT_THROW(as_target(x86(), {}, "cpu-mmx"), UsageError);
}

TEST(Units, OneTextComesApartAgain) {
    const Units units{"chooser\n", {{"cpu-avx2", {"-O3", "-march=x86-64-v3"}, "a\n"}, {"native", {"-O2"}, "b\n"}}};
    const Units again = units_of(one_text(units));
    EXPECT_EQ(again.chooser, "chooser\n");
    ASSERT_EQ(again.units.size(), 2u);
    EXPECT_EQ(again.units[0].target, "cpu-avx2");
    EXPECT_EQ(again.units[0].flags, units.units[0].flags);
    EXPECT_EQ(again.units[0].source, "a\n");
    EXPECT_EQ(again.units[1].target, "native");
    EXPECT_TRUE(units_of("int x;\n").units.empty());
    EXPECT_EQ(units_of("int x;\n").chooser, "int x;\n");
}

TEST(Units, TheChooserAsksForTheGreatestFirst) {
    const std::string text =
        chooser_source(scale_problem(), {{"cpu-avx2", {}, ""}, {"native", {}, ""}, {"cpu-avx512", {}, ""}}, "");
    const size_t native = text.find("{\"native\""), wide = text.find("{\"cpu-avx512\""),
                 narrow = text.find("{\"cpu-avx2\"");
    EXPECT_LT(native, wide);
    EXPECT_LT(wide, narrow);
    EXPECT_NE(narrow, std::string::npos);
    EXPECT_EQ(text.find('@'), std::string::npos);
}

}  // namespace
}  // namespace strop
