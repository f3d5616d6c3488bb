// The same computations over float64, whose kernels are written for float32 and widened.
#include <gmock/gmock.h>

#include "base/strings.h"
#include "fakes/called_kernels.h"
#include "fakes/computations.h"
#include "fakes/long_tests.h"
#include "fakes/widened.h"
#include "playbook/playbook.h"

namespace strop::playbook {
namespace {

using testing::HasSubstr;
using testing::Not;

Computation in_doubles(Computation one) {
    widen(one.problem, one.graph);
    one.graph_json = replace_all(one.graph_json, "float32", "float64");
    return one;
}

Computation computation_in_doubles(const std::string& name) {
    for (const Computation& one : computations())
        if (one.problem.name == name) return in_doubles(one);
    throw std::out_of_range(name);
}

// The strategy that comes first: the others are made of the same parts.
std::vector<Kernel> planned(const Computation& one) {
    Playbook playbook(one.problem, one.graph_json, small_machine());
    const std::vector<Proposal> proposals = playbook.plan();
    EXPECT_FALSE(proposals.empty()) << one.problem.name << ": " << playbook.why_nothing();
    return proposals.empty() ? std::vector<Kernel>{} : std::vector<Kernel>{proposals.front().kernel};
}

class CalledInDoubles : public CalledKernels {
    void compare(const Computation&, const Point& point, size_t output, const std::vector<double>& actual,
                 const std::string& where) override {
        expect_near(actual, point.expected[output].values, 1e-11, where);
    }
};

TEST(Doubles, EveryComputationIsRightToTheirDigits) {
    if (kernel_compilers().empty()) GTEST_SKIP() << "no compiler for kernels";
    CalledInDoubles kernels;
    const char* only = std::getenv("STROP_TEST_COMPUTATION");
    size_t which = 0;
    for (const auto* all : {&computations(), &recurrences(), &loops()})
        for (const Computation& one : *all) {
            if (only ? one.problem.name != only : !is_in_sample(which++)) continue;
            const Computation wide = in_doubles(one);
            kernels.check(wide, planned(wide));
            if (HasFatalFailure()) return;
        }
}

std::string source_of(const std::string& name) { return planned(computation_in_doubles(name)).at(0).source; }

TEST(Doubles, AllStructuresHaveFastKernels) {
    const std::string mlp = source_of("mlp");
    EXPECT_THAT(mlp, HasSubstr("typedef double vec __attribute__((vector_size(8 * VL)))")) << mlp;
    EXPECT_THAT(mlp, HasSubstr("packed"));
    EXPECT_THAT(mlp, Not(HasSubstr("std::tanh")));
    EXPECT_THAT(source_of("attention"), HasSubstr("vexp("));
    EXPECT_THAT(source_of("conv_bias_relu_pool"), Not(HasSubstr(": plain loops")));
}

TEST(Doubles, NothingNarrowIsLeft) {
    for (const char* name : {"mlp", "attention", "group_norm", "cumulative_share", "depthwise_conv"}) {
        const std::string source = source_of(name);
        EXPECT_THAT(source, Not(HasSubstr("float"))) << source;
        EXPECT_THAT(source, Not(HasSubstr("int32_t"))) << source;
    }
}

}  // namespace
}  // namespace strop::playbook
