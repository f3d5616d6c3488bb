// finds: wrong participants: __shfl_down_sync reads lane 16, which takes no part in it
#include <stdint.h>

__global__ void sums(const float* x, float* y, int64_t M, int64_t N) {
    const int64_t i = blockIdx.y;
    float sum = 0;
    for (int64_t j = threadIdx.x; j < N; j += 32) sum += x[i * N + j];
    if (threadIdx.x < 16)
        for (int by = 16; by > 0; by /= 2) sum += __shfl_down_sync(0xffffffff, sum, by, 32);
    if (threadIdx.x == 0) y[i] = sum;
}

extern "C" void row_sums(const float* x, float* y, int64_t M, int64_t N, cudaStream_t stream) {
    const dim3 grid(1, (unsigned)M);
    sums<<<grid, 32, 0, stream>>>(x, y, M, N);
}
