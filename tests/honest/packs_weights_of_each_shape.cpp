// honest: packed weights have room of their own for each shape, and are packed at every call
// problem: linear_relu
// expect: ok
#include <stdint.h>

#include <map>
#include <utility>
#include <vector>

static float dot(const float* a, const float* b, int64_t N) {
    float sum = 0;
#pragma omp simd reduction(+ : sum)
    for (int64_t k = 0; k < N; ++k) sum += a[k] * b[k];
    return sum;
}

extern "C" void linear_relu(const float* x, const float* w, const float* b, float* y, int64_t M, int64_t I, int64_t O) {
    static std::map<std::pair<int64_t, int64_t>, std::vector<float>> rooms;
    std::vector<float>& packed = rooms[{I, O}];
    packed.assign(w, w + I * O);
    for (int64_t m = 0; m < M; ++m)
        for (int64_t o = 0; o < O; ++o) {
            const float value = dot(x + m * I, packed.data() + o * I, I) + b[o];
            y[m * O + o] = value > 0 ? value : 0;
        }
}
