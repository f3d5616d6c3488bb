// honest
// The last block of a row adds what all have left: fences and a counter order them.
#include <stdint.h>

constexpr int parts = 4;
__device__ unsigned arrived[1024];

__global__ void sums(const float* x, float* y, float* partial, int64_t M, int64_t N) {
    const int64_t i = blockIdx.x;
    __shared__ float part[2];
    __shared__ bool is_last;
    float sum = 0;
    for (int64_t j = blockIdx.y * 64 + threadIdx.x; j < N; j += 64 * parts) sum += x[i * N + j];
    for (int by = 16; by > 0; by /= 2) sum += __shfl_xor_sync(0xffffffff, sum, by);
    if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = sum;
    __syncthreads();
    if (threadIdx.x == 0) {
        partial[i * parts + blockIdx.y] = part[0] + part[1];
        __threadfence();
        is_last = atomicInc(&arrived[i], parts - 1) == parts - 1;
    }
    __syncthreads();
    if (!is_last) return;
    if (threadIdx.x == 0) {
        float all = 0;
        for (int k = 0; k < parts; ++k) all += partial[i * parts + k];
        y[i] = all;
    }
}

extern "C" void row_sums(const float* x, float* y, int64_t M, int64_t N, cudaStream_t stream) {
    float* partial;
    cudaMallocAsync(&partial, M * parts * sizeof(float), stream);
    sums<<<dim3(M, parts), 64, 0, stream>>>(x, y, partial, M, N);
    cudaFreeAsync(partial, stream);
}
