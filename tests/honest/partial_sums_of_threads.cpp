// honest: each thread adds into its own room, which stays; the last adds those up
// problem: column_sum
// expect: ok
#include <omp.h>
#include <stdint.h>

#include <vector>
extern "C" void column_sum(const float* x, float* y, int64_t M, int64_t N) {
    static std::vector<double> sums;
    const int threads = omp_get_max_threads();
    sums.assign(static_cast<size_t>(threads * N), 0);
#pragma omp parallel for num_threads(threads) schedule(static)
    for (int64_t i = 0; i < M; ++i) {
        double* own = sums.data() + omp_get_thread_num() * N;
        for (int64_t j = 0; j < N; ++j) own[j] += x[i * N + j];
    }
    for (int64_t j = 0; j < N; ++j) {
        double sum = 0;
        for (int thread = 0; thread < threads; ++thread) sum += sums[static_cast<size_t>(thread * N + j)];
        y[j] = static_cast<float>(sum);
    }
}
