// honest
// A lock that blocks and threads take in turns, a flag that a thread waits for, and warps that exchange through memory.
#include <stdint.h>

__device__ int lock;

__global__ void sums(const float* x, float* y, int64_t M, int64_t N) {
    __shared__ volatile int ready;
    __shared__ float room[64];
    const int t = threadIdx.x, lane = t % 32, first = t - lane;
    float sum = 0;
    for (int64_t j = t; j < N; j += 64) sum += x[blockIdx.x * N + j];
    for (int by = 16; by > 0; by /= 2) {
        room[t] = sum;
        __syncwarp();
        const float other = room[first + (lane ^ by)];
        __syncwarp();
        sum += other;
    }
    if (t == 0) ready = 0;
    __syncthreads();
    if (lane == 0) {
        while (atomicCAS(&lock, 0, 1) != 0) __nanosleep(10);
        atomicAdd(&y[blockIdx.x], sum);
        atomicExch(&lock, 0);
    }
}

extern "C" void row_sums(const float* x, float* y, int64_t M, int64_t N, cudaStream_t stream) {
    cudaMemsetAsync(y, 0, M * sizeof(float), stream);
    sums<<<M, 64, 0, stream>>>(x, y, M, N);
}
