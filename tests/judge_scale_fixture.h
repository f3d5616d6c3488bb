// A small problem of two outputs that tests of the referee share: y = factor * x, total = sums of x's rows.
#pragma once

#include <string>

namespace strop::judge {

inline constexpr const char* problem_yaml = R"(
name: scale
inputs:
  x: {dtype: float32, shape: [M, N]}
parameters: {factor: {dtype: float32, value: 2.5}}
outputs: {y: {dtype: float32, shape: [M, N]}, total: {dtype: float32, shape: [M]}}
shapes:
  small: {M: 8, N: 33}
  medium: {M: 64, N: 256}
)";

inline constexpr const char* reference_py = R"(
def scale(x, factor):
    return x * factor, x.sum(axis=-1)
)";

inline std::string kernel_source(const std::string& body, const std::string& top = "") {
    return "#include <stdint.h>\n" + top +
           "\nextern \"C\" void scale(const float* x, float* y, float* total, float factor, int64_t M, int64_t N) {\n" +
           body + "\n}\n";
}

inline constexpr const char* right_body = R"(
    for (int64_t i = 0; i < M; ++i) {
        float sum = 0;
        for (int64_t j = 0; j < N; ++j) {
            y[i * N + j] = x[i * N + j] * factor;
            sum += x[i * N + j];
        }
        total[i] = sum;
    })";

}  // namespace strop::judge
