// honest: both operands are packed into memory that grows, and never shrinks
// problem: matmul
// expect: ok
#include <stdint.h>

#include <cstdlib>
#include <cstring>

static float dot(const float* a, const float* b, int64_t N) {
    float sum = 0;
#pragma omp simd reduction(+ : sum)
    for (int64_t k = 0; k < N; ++k) sum += a[k] * b[k];
    return sum;
}

static float* grown(int which, int64_t count) {
    static float* memory[2];
    static int64_t room[2];
    if (room[which] < count) {
        std::free(memory[which]);
        memory[which] = static_cast<float*>(std::aligned_alloc(64, static_cast<size_t>((count * 4 + 63) / 64 * 64)));
        room[which] = count;
    }
    return memory[which];
}

extern "C" void matmul(const float* a, const float* b, float* c, int64_t M, int64_t K, int64_t N) {
    float* rows = grown(0, M * K);
    float* columns = grown(1, K * N);
    std::memcpy(rows, a, static_cast<size_t>(M * K) * 4);
    for (int64_t k = 0; k < K; ++k)
        for (int64_t j = 0; j < N; ++j) columns[j * K + k] = b[k * N + j];
#pragma omp parallel for
    for (int64_t i = 0; i < M; ++i)
        for (int64_t j = 0; j < N; ++j) c[i * N + j] = dot(rows + i * K, columns + j * K, K);
}
