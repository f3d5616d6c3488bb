// honest: the first calls at a shape measure two ways to walk, the better one is kept
// problem: row_sum
// expect: ok
#include <stdint.h>

#include <chrono>
#include <map>
#include <utility>

static float sum_of(const float* x, int64_t N) {
    double sum = 0;
#pragma omp simd reduction(+ : sum)
    for (int64_t j = 0; j < N; ++j) sum += x[j];
    return static_cast<float>(sum);
}

extern "C" void row_sum(const float* x, float* y, int64_t M, int64_t N) {
    using Clock = std::chrono::steady_clock;
    struct Choice {
        int calls = 0;
        Clock::duration spent[2] = {};
    };
    static std::map<std::pair<int64_t, int64_t>, Choice> choices;
    Choice& choice = choices[{M, N}];
    const bool trying = choice.calls < 6;
    const int way = trying ? choice.calls % 2 : choice.spent[1] < choice.spent[0];
    const auto start = trying ? Clock::now() : Clock::time_point();
    if (way == 0)
        for (int64_t i = 0; i < M; ++i) y[i] = sum_of(x + i * N, N);
    else
        for (int64_t i = M; i-- > 0;) y[i] = sum_of(x + i * N, N);
    if (trying) {
        choice.spent[way] += Clock::now() - start;
        ++choice.calls;
    }
}
