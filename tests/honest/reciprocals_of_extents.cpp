// honest: keeps 1/N of every N that came, and the parameter
// problem: layernorm
// expect: ok
#include <stdint.h>

#include <cmath>
#include <map>
extern "C" void layernorm(const float* x, const float* gamma, const float* beta, float* y, float eps, int64_t M,
                          int64_t N) {
    static std::map<int64_t, double> reciprocals;
    static const double epsilon = eps;
    double& share = reciprocals[N];
    if (share == 0) share = 1.0 / static_cast<double>(N);
    for (int64_t i = 0; i < M; ++i) {
        const float* row = x + i * N;
        double mean = 0, squares = 0;
        for (int64_t j = 0; j < N; ++j) mean += row[j];
        mean *= share;
        for (int64_t j = 0; j < N; ++j) squares += (row[j] - mean) * (row[j] - mean);
        const double scale = 1 / std::sqrt(squares * share + epsilon);
        for (int64_t j = 0; j < N; ++j) y[i * N + j] = static_cast<float>((row[j] - mean) * scale * gamma[j] + beta[j]);
    }
}
