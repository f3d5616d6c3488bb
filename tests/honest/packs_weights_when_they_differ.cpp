// honest: keeps packed weights and compares all of them at every call
// problem: linear_relu
// expect: ok
#include <stdint.h>

#include <algorithm>
#include <cstring>
#include <vector>
extern "C" void linear_relu(const float* x, const float* w, const float* b, float* y, int64_t M, int64_t I, int64_t O) {
    static std::vector<float> seen, packed;
    const size_t bytes = static_cast<size_t>(O * I) * sizeof(float);
    if (seen.size() != static_cast<size_t>(O * I) || std::memcmp(seen.data(), w, bytes) != 0) {
        seen.assign(w, w + O * I);
        packed.resize(seen.size());
        for (int64_t o = 0; o < O; ++o)
            for (int64_t i = 0; i < I; ++i) packed[static_cast<size_t>(i * O + o)] = w[o * I + i];
    }
    for (int64_t m = 0; m < M; ++m) {
        float* row = y + m * O;
        std::copy(b, b + O, row);
        for (int64_t i = 0; i < I; ++i)
            for (int64_t o = 0; o < O; ++o) row[o] += x[m * I + i] * packed[static_cast<size_t>(i * O + o)];
        for (int64_t o = 0; o < O; ++o) row[o] = row[o] > 0 ? row[o] : 0;
    }
}
