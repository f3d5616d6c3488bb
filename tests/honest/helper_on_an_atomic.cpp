// honest: a helper that waits on an atomic number
// problem: row_sum
// expect: ok
#include <stdint.h>

#include <atomic>
#include <thread>

static float sum_of(const float* x, int64_t N) {
    double sum = 0;
#pragma omp simd reduction(+ : sum)
    for (int64_t j = 0; j < N; ++j) sum += x[j];
    return static_cast<float>(sum);
}

struct Helper {
    std::atomic<int> state{0};
    const float* x = nullptr;
    float* y = nullptr;
    int64_t rows = 0, N = 0;
    void sum_rows() {
        for (int64_t i = 0; i < rows; ++i) y[i] = sum_of(x + i * N, N);
    }
    void work() {
        for (;;) {
            state.wait(0, std::memory_order_acquire);
            sum_rows();
            state.store(0, std::memory_order_release);
            state.notify_all();
        }
    }
};

static Helper* start() {
    Helper* helper = new Helper;
    std::thread([helper] { helper->work(); }).detach();
    return helper;
}

extern "C" void row_sum(const float* x, float* y, int64_t M, int64_t N) {
    static Helper* helper = start();
    helper->x = x;
    helper->y = y;
    helper->rows = M / 2;
    helper->N = N;
    helper->state.store(1, std::memory_order_release);
    helper->state.notify_all();
    for (int64_t i = M / 2; i < M; ++i) y[i] = sum_of(x + i * N, N);
    helper->state.wait(1, std::memory_order_acquire);
}
