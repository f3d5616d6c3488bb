// finds: race: 
#include <stdint.h>

__global__ void sums(const float* x, volatile float* y, int64_t M, int64_t N) {
    const int64_t i = blockIdx.x, j = blockIdx.y * blockDim.x + threadIdx.x;
    if (j < N) y[i] += x[i * N + j];
}

extern "C" void row_sums(const float* x, float* y, int64_t M, int64_t N, cudaStream_t stream) {
    cudaMemsetAsync(y, 0, M * sizeof(float), stream);
    sums<<<dim3(M, (N + 63) / 64), 64, 0, stream>>>(x, y, M, N);
}
