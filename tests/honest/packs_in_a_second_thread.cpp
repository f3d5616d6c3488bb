// honest: a second thread packs one operand while the first packs the other
// problem: matmul
// expect: ok
#include <stdint.h>

#include <algorithm>
#include <thread>
#include <vector>

static float dot(const float* a, const float* b, int64_t N) {
    float sum = 0;
#pragma omp simd reduction(+ : sum)
    for (int64_t k = 0; k < N; ++k) sum += a[k] * b[k];
    return sum;
}

extern "C" void matmul(const float* a, const float* b, float* c, int64_t M, int64_t K, int64_t N) {
    static std::vector<float> rows, columns;
    rows.resize(static_cast<size_t>(M * K));
    columns.resize(static_cast<size_t>(K * N));
    std::thread helper([&] {
        for (int64_t k = 0; k < K; ++k)
            for (int64_t j = 0; j < N; ++j) columns[static_cast<size_t>(j * K + k)] = b[k * N + j];
    });
    std::copy(a, a + M * K, rows.begin());
    helper.join();
    for (int64_t i = 0; i < M; ++i)
        for (int64_t j = 0; j < N; ++j) c[i * N + j] = dot(rows.data() + i * K, columns.data() + j * K, K);
}
