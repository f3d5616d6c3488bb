// honest: a helper that looks for work 2000 times before it sleeps
// problem: row_sum
// expect: ok
#include <linux/futex.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

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
    void wait_while(int value) {
        for (int look = 0; look < 2000 && state == value; ++look) std::this_thread::yield();
        while (state == value) syscall(SYS_futex, &state, FUTEX_WAIT_PRIVATE, value, nullptr, nullptr, 0);
    }
    void become(int value) {
        state = value;
        syscall(SYS_futex, &state, FUTEX_WAKE_PRIVATE, 2, nullptr, nullptr, 0);
    }
    void work() {
        for (;;) {
            wait_while(0);
            sum_rows();
            become(0);
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
    helper->become(1);
    for (int64_t i = M / 2; i < M; ++i) y[i] = sum_of(x + i * N, N);
    helper->wait_while(1);
}
