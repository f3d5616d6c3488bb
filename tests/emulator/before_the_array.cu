// finds: out of bounds: a write of 4 bytes that begins 4 bytes before y
#include <cuda_runtime.h>
#include <stdint.h>

__global__ void sums(const float* __restrict__ x, float* y, int64_t M, int64_t N) {
    __shared__ float part[128];
    const int t = threadIdx.x;
    float sum = 0;
    for (int64_t j = t; j < N; j += 128) sum += x[blockIdx.x * N + j];
    part[t] = sum;
    __syncthreads();
    for (int width = 64; width > 0; width /= 2) {
        if (t < width) part[t] += part[t + width];
        __syncthreads();
    }
    if (t == 0) y[(int64_t)blockIdx.x - 1] = part[0];
}

extern "C" void row_sums(const float* x, float* y, int64_t M, int64_t N, cudaStream_t stream) {
    sums<<<M, 128, 0, stream>>>(x, y, M, N);
}
