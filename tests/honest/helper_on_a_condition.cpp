// honest: a helper that sleeps on a condition variable
// problem: row_sum
// expect: ok
#include <stdint.h>

#include <condition_variable>
#include <mutex>
#include <thread>

static float sum_of(const float* x, int64_t N) {
    double sum = 0;
#pragma omp simd reduction(+ : sum)
    for (int64_t j = 0; j < N; ++j) sum += x[j];
    return static_cast<float>(sum);
}

struct Helper {
    std::mutex mutex;
    std::condition_variable changed;
    bool busy = false;
    const float* x = nullptr;
    float* y = nullptr;
    int64_t rows = 0, N = 0;
    void sum_rows() {
        for (int64_t i = 0; i < rows; ++i) y[i] = sum_of(x + i * N, N);
    }
    void work() {
        std::unique_lock lock(mutex);
        for (;;) {
            changed.wait(lock, [this] { return busy; });
            sum_rows();
            busy = false;
            changed.notify_all();
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
    {
        std::lock_guard lock(helper->mutex);
        helper->x = x;
        helper->y = y;
        helper->rows = M / 2;
        helper->N = N;
        helper->busy = true;
    }
    helper->changed.notify_all();
    for (int64_t i = M / 2; i < M; ++i) y[i] = sum_of(x + i * N, N);
    std::unique_lock lock(helper->mutex);
    helper->changed.wait(lock, [&] { return !helper->busy; });
}
