// finds: misaligned: 
#include <stdint.h>

__global__ void sums(const float* x, float* y, int64_t N) {
    const float first = reinterpret_cast<const float4*>(x + 1)->x;
    y[blockIdx.x] = first;
}

extern "C" void row_sums(const float* x, float* y, int64_t M, int64_t N, cudaStream_t stream) {
    sums<<<M, 1, 0, stream>>>(x, y, N);
}
