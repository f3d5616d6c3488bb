// What a kernel makes of its weights and keeps, as long as they stay: that is no kept result.
#include <gtest/gtest.h>

#include "base/file.h"
#include "device/machine.h"
#include "judge/referee.h"
#include "problem/loader.h"

namespace strop::judge {
namespace {

constexpr const char* problem_yaml = R"(
name: twice
inputs:
  x: {dtype: float32, shape: [M, K]}
  v: {dtype: float32, shape: [K, K]}
  w: {dtype: float32, shape: [K, K]}
outputs: {y: {dtype: float32, shape: [M, K]}}
shapes:
  small: {M: 2, K: 96}
  large: {M: 2, K: 300}
)";

constexpr const char* reference_py = R"(
def twice(x, v, w):
    return x @ v @ w
)";

// Packing takes much longer than multiplying: a few rows are multiplied.
constexpr const char* top = R"(#include <stdint.h>
#include <algorithm>
#include <cstring>
#include <vector>
struct Packed {
    std::vector<float> seen, columns;
    const float* of(const float* w, int64_t K) {
        if (seen.size() == K * K && std::memcmp(seen.data(), w, K * K * 4) == 0) return columns.data();
        seen.assign(w, w + K * K);
        columns.resize(K * K);
        for (int again = 0; again < 60; ++again)
            for (int64_t k = 0; k < K; ++k)
                for (int64_t j = 0; j < K; ++j) {
                    columns[j * K + k] = w[k * K + j];
                    asm volatile("" ::: "memory");
                }
        return columns.data();
    }
};
static void multiply(const float* x, const float* columns, float* y, int64_t M, int64_t K) {
    for (int64_t i = 0; i < M; ++i)
        for (int64_t j = 0; j < K; ++j) {
            float sum = 0;
            for (int64_t k = 0; k < K; ++k) sum += x[i * K + k] * columns[j * K + k];
            y[i * K + j] = sum;
        }
}
extern "C" void twice(const float* x, const float* v, const float* w, float* y, int64_t M, int64_t K) {
    static Packed first, second;
    static std::vector<float> middle;
    middle.resize(M * K);
)";

class PackedTest : public testing::Test {
protected:
    static Evaluation judge(const std::string& body, const std::string& label = "small") {
        TemporaryFolder folder("strop-test");
        write_file(folder.path() / "twice/problem.yaml", problem_yaml);
        write_file(folder.path() / "twice/reference.py", reference_py);
        const Problem problem = load_problem((folder.path() / "twice").string());
        RefereeOptions options;
        options.seed = 7;
        Referee referee(problem, detect_machine(), options);
        EvaluationRequest request;
        request.kernel.id = "kernel";
        request.kernel.source = top + body + "\n}\n";
        for (const ShapePoint& point : problem.points)
            if (point.label == label) request.points = {point};
        request.effort = Effort::full;
        return referee.evaluate({request}).front();
    }
};

TEST_F(PackedTest, weights_that_are_packed_where_they_differ_are_no_kept_results) {
    const Evaluation evaluation = judge(R"(
    multiply(x, first.of(v, K), middle.data(), M, K);
    multiply(middle.data(), second.of(w, K), y, M, K);)");
    EXPECT_EQ(evaluation.verdict, Verdict::ok) << evaluation.evidence;
}

// So many weights that those of some batches are known ones.
TEST_F(PackedTest, what_packing_new_weights_takes_is_reported) {
    const std::string multiply_all = R"(
    multiply(x, first.of(v, K), middle.data(), M, K);
    multiply(middle.data(), second.of(w, K), y, M, K);)";
    const Evaluation keeps = judge(multiply_all, "large");
    const Evaluation packs_anew = judge("\n    first.seen.clear();\n    second.seen.clear();" + multiply_all, "large");
    ASSERT_EQ(keeps.verdict, Verdict::ok) << keeps.evidence;
    ASSERT_EQ(packs_anew.verdict, Verdict::ok) << packs_anew.evidence;
    EXPECT_GT(keeps.points.front().time.median_ns, 0.5 * packs_anew.points.front().time.median_ns);
}

// Of x and v together, where w is multiplied by anew: with w new nothing is lost. It is found, or has gained nothing:
// where the claim is that of new inputs, little says that something is kept.
TEST_F(PackedTest, a_product_that_is_kept_is_found) {
    const std::string known = R"(
    static std::vector<float> seen_x, seen_v;
    const bool known = seen_x.size() == M * K && seen_v.size() == K * K &&
                       std::memcmp(seen_x.data(), x, M * K * 4) == 0 && std::memcmp(seen_v.data(), v, K * K * 4) == 0;)";
    const std::string product = R"(
    if (!known) {
        seen_x.assign(x, x + M * K);
        seen_v.assign(v, v + K * K);
        first.seen.clear();
        multiply(x, first.of(v, K), middle.data(), M, K);
    }
    for (int64_t i = 0; i < M; ++i)
        for (int64_t j = 0; j < K; ++j) y[i * K + j] = 0;
    for (int64_t i = 0; i < M; ++i)
        for (int64_t k = 0; k < K; ++k)
            for (int64_t j = 0; j < K; ++j) y[i * K + j] += middle[i * K + k] * w[k * K + j];)";
    const Evaluation keeps = judge(known + product);
    if (keeps.ok()) {
        const Evaluation anew =
            judge("    static std::vector<float> seen_x, seen_v;\n    const bool known = false;" + product);
        EXPECT_GT(keeps.points.front().time.median_ns, 0.5 * anew.points.front().time.median_ns);
        return;
    }
    EXPECT_EQ(keeps.verdict, Verdict::cheated) << keeps.evidence;
    EXPECT_NE(keeps.evidence.find("it keeps results"), std::string::npos) << keeps.evidence;
}

}  // namespace
}  // namespace strop::judge
