// honest
// Four elements a load where rows begin at multiples of 16 bytes, halves in shared memory, votes.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <stdint.h>

__constant__ float scale[2] = {1.0f, 2.0f};

__device__ __forceinline__ float sum_of(float4 v) { return v.x + v.y + v.z + v.w; }

__global__ void sums(const float* x, float* y, int64_t N) {
    __shared__ __half counts[64], ones[2][32];
    __shared__ float part[2];
    const int t = threadIdx.x;
    const float* row = x + blockIdx.x * N;
    float sum = 0;
    if (N % 4 == 0) {
        for (int64_t j = t; j < N / 4; j += 64) sum += sum_of(reinterpret_cast<const float4*>(row)[j]);
    } else {
        for (int64_t j = t; j < N; j += 64) sum += row[j];
    }
    counts[t] = __float2half(1.0f);
    ones[t / 32][t % 32] = counts[t] * __half(1.0f);
    if (__any_sync(0xffffffff, __half2float(ones[t / 32][t % 32]) != 1.0f)) sum = NAN;
    if (__popc(__ballot_sync(0xffffffff, t % 2 == 0)) != 16) sum = NAN;
    if (__bfloat162float(__float2bfloat16(0.5f)) != 0.5f) sum = NAN;
    if (__reduce_add_sync(0xffffffff, t % 32) != 496) sum = NAN;
    for (int by = 16; by > 0; by >>= 1) sum += __shfl_xor_sync(0xffffffffu, sum, by);
    if (t % 32 == 0) part[t / 32] = sum;
    if (__syncthreads_count(t % 2) != 32) sum = NAN;
    if (t == 0) y[blockIdx.x] = (part[0] + part[1]) * scale[0] + (max(1, 2) - 2) + (sum - sum);
}

extern "C" void row_sums(const float* x, float* y, int64_t M, int64_t N, cudaStream_t stream) {
    sums<<<M, 64, 0, stream>>>(x, y, N);
}
