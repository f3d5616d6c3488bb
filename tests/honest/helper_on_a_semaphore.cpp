// honest: a helper that waits for a semaphore
// problem: row_sum
// expect: ok
#include <semaphore.h>
#include <stdint.h>

#include <thread>

static float sum_of(const float* x, int64_t N) {
    double sum = 0;
#pragma omp simd reduction(+ : sum)
    for (int64_t j = 0; j < N; ++j) sum += x[j];
    return static_cast<float>(sum);
}

struct Helper {
    sem_t work_is_there, work_is_done;
    Helper() {
        sem_init(&work_is_there, 0, 0);
        sem_init(&work_is_done, 0, 0);
    }
    const float* x = nullptr;
    float* y = nullptr;
    int64_t rows = 0, N = 0;
    void sum_rows() {
        for (int64_t i = 0; i < rows; ++i) y[i] = sum_of(x + i * N, N);
    }
    void work() {
        for (;;) {
            sem_wait(&work_is_there);
            sum_rows();
            sem_post(&work_is_done);
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
    sem_post(&helper->work_is_there);
    for (int64_t i = M / 2; i < M; ++i) y[i] = sum_of(x + i * N, N);
    sem_wait(&helper->work_is_done);
}
