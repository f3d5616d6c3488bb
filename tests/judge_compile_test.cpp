// What the referee says of kernels that do not compile, or not as the function that is called.
#include <utility>

#include <gtest/gtest.h>

#include "base/strings.h"
#include "judge_referee_fixture.h"

namespace strop::judge {
namespace {

using CompileTest = RefereeTest;

TEST_F(CompileTest, a_compiler_message_is_evidence_without_our_paths) {
    Evaluation evaluation = judge(kernel_source("y[0] = nonsense;"));
    EXPECT_EQ(evaluation.verdict, Verdict::compile_failed);
    EXPECT_NE(evaluation.evidence.find("nonsense"), std::string::npos);
    EXPECT_EQ(evaluation.evidence.find("/strop-judge"), std::string::npos);
}

TEST_F(CompileTest, an_undefined_symbol_is_compile_failed) {
    EXPECT_EQ(judge(kernel_source("missing(x);", "void missing(const float*);")).verdict, Verdict::compile_failed);
}

TEST_F(CompileTest, a_kernel_without_c_linkage_is_told_what_is_missing) {
    Evaluation evaluation = judge(replace_all(kernel_source(right_body), "extern \"C\" ", ""));
    EXPECT_EQ(evaluation.verdict, Verdict::compile_failed);
    EXPECT_NE(evaluation.evidence.find("define extern \"C\" "), std::string::npos) << evaluation.evidence;
}

// Linked by its name alone it would be called all the same, and the function of the result would not compile.
TEST_F(CompileTest, a_kernel_of_another_signature_is_told_the_right_one) {
    const std::string right = kernel_source(right_body);
    const std::pair<const char*, const char*> changes[] = {
        {"const float* x", "float* x"},
        {"float factor, int64_t M", "int64_t M, float factor"},
        {"float factor", "double factor"},
        {"float factor, ", ""},
        {"int64_t M, int64_t N) {", "int M, int N) {"},
        {"extern \"C\" void", "extern \"C\" int"},
        {"void scale(", "void scaled("},
    };
    for (const auto& [was, is] : changes) {
        std::string other = replace_all(right, was, is);
        if (other.find("factor,") == std::string::npos) other = "static const float factor = 2;\n" + other;
        const Evaluation evaluation = judge(other);
        EXPECT_EQ(evaluation.verdict, Verdict::compile_failed) << is;
        EXPECT_NE(evaluation.evidence.find("its function has to be extern \"C\" void scale(const float* x, "),
                  std::string::npos)
            << is << ": " << evaluation.evidence;
    }
    const std::string also_right = replace_all(replace_all(right, "const float* x", "float const *const __restrict x"),
                                               "int64_t M, int64_t N) {", "const long M, long N) noexcept {");
    EXPECT_EQ(judge(also_right).verdict, Verdict::ok);
    EXPECT_EQ(judge(replace_all(also_right, "#include <stdint.h>", "using int64_t = long;")).verdict, Verdict::ok);
}

}  // namespace
}  // namespace strop::judge
