#include "run/promise.h"

#include <gtest/gtest.h>

namespace strop {
namespace {

Kernel kernel_with(const std::string& id, Tunable::Kind kind) {
    Kernel kernel;
    kernel.id = id;
    kernel.space.tunables.push_back(
        {"CHOICE", {Value(std::string("first")), Value(std::string("-O3 -funroll-loops"))}, kind});
    return kernel;
}

TEST(Promise, IsCompiledAsTheWinnersWere) {
    RunRecord report;
    report.kernels = {kernel_with("loops", Tunable::Kind::flags), kernel_with("other", Tunable::Kind::compiler)};
    report.regimes.push_back({"loops", "loops", {{"CHOICE", Value(std::string("-O3 -funroll-loops"))}}, "N <= 4", {}});
    report.regimes.push_back({"other", "other", {{"CHOICE", Value(std::string("g++"))}}, "otherwise", {}});
    const Kernel kernel = promised_kernel(report, "source");
    EXPECT_EQ(kernel.source, "source");
    EXPECT_EQ(kernel.initial.at("FLAGS"), Value(std::string("-O3 -funroll-loops")));
    EXPECT_EQ(compiler_of(kernel.space, kernel.initial), "g++");
}

TEST(Promise, OfWinnersWithoutFlagsHasNone) {
    RunRecord report;
    report.kernels = {kernel_with("loops", Tunable::Kind::constant)};
    report.regimes.push_back({"loops", "loops", {{"CHOICE", Value(std::string("first"))}}, "all shapes", {}});
    EXPECT_TRUE(promised_kernel(report, "source").initial.empty());
}

}  // namespace
}  // namespace strop
