// honest: a helper that meets the caller at a barrier
// problem: row_sum
// expect: ok
#include <pthread.h>
#include <stdint.h>

#include <thread>

static float sum_of(const float* x, int64_t N) {
    double sum = 0;
#pragma omp simd reduction(+ : sum)
    for (int64_t j = 0; j < N; ++j) sum += x[j];
    return static_cast<float>(sum);
}

struct Helper {
    pthread_barrier_t meet;
    Helper() { pthread_barrier_init(&meet, nullptr, 2); }
    const float* x = nullptr;
    float* y = nullptr;
    int64_t rows = 0, N = 0;
    void sum_rows() {
        for (int64_t i = 0; i < rows; ++i) y[i] = sum_of(x + i * N, N);
    }
    void work() {
        for (;;) {
            pthread_barrier_wait(&meet);
            sum_rows();
            pthread_barrier_wait(&meet);
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
    pthread_barrier_wait(&helper->meet);
    for (int64_t i = M / 2; i < M; ++i) y[i] = sum_of(x + i * N, N);
    pthread_barrier_wait(&helper->meet);
}
