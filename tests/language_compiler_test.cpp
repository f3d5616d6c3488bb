// Kernels that choose their compiler.
#include <gtest/gtest.h>

#include "base/file.h"
#include "language/cpp.h"

namespace strop {
namespace {

// Does not compile with any other.
std::string only_with(const std::string& compiler) {
    const std::string test = compiler == "clang" ? "#ifndef __clang__" : "#ifdef __clang__";
    return test + "\n#error\n#endif\n#include <stdint.h>\n"
                  "extern \"C\" void row_sum(const float* x, float* y, int64_t M, int64_t N) { y[0] = x[0] + M + N; }\n";
}

Build build(const std::string& source, const std::string& compiler) {
    return {source, {{"CXX", compiler}}, {{{"CXX", {"clang", "g++"}, Tunable::Kind::compiler}}, {}}, {}, false};
}

class CompilerTest : public testing::Test {
protected:
    std::vector<Built> built(CppToolchain& toolchain, const std::vector<Build>& builds) {
        return toolchain.build(problem_, builds, folder_.path(), 1);
    }
    static Problem row_sum() {
        Problem problem;
        problem.name = "row_sum";
        problem.dimensions = {"M", "N"};
        problem.inputs = {{"x", DType::float32, {Expression::parse("M"), Expression::parse("N")}}};
        problem.outputs = {{"y", DType::float32, {Expression::parse("M")}}};
        return problem;
    }
    Problem problem_ = row_sum();
    TemporaryFolder folder_{"strop-test"};
};

TEST_F(CompilerTest, the_one_that_is_asked_for_is_taken) {
    CppToolchain toolchain(detect_machine());
    for (const char* name : {"clang", "g++"}) {
        const Built result = built(toolchain, {build(only_with(name), name)}).front();
        EXPECT_EQ(result.ok, toolchain.find(name) != nullptr) << result.message;
        EXPECT_FALSE(built(toolchain, {build(only_with(name), name == std::string("clang") ? "g++" : "clang")}).front().ok);
    }
}

TEST_F(CompilerTest, one_that_is_missing_is_named) {
    const std::vector<Compiler> all = kernel_compilers();
    ASSERT_FALSE(all.empty());
    const std::string other = all.front().name == "clang" ? "g++" : "clang";
    CppToolchain toolchain({all.front()}, detect_machine());
    const std::vector<Built> results =
        built(toolchain, {build(only_with(other), other), build(only_with(all.front().name), all.front().name)});
    EXPECT_EQ(results[0].message, other + " is not installed");
    EXPECT_TRUE(results[1].ok) << results[1].message;
    EXPECT_EQ(toolchain.descriptions().size(), 1u);
    EXPECT_EQ(toolchain.descriptions().begin()->second, toolchain.description());
}

}  // namespace
}  // namespace strop
