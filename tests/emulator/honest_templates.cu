// honest
// Kernels whose template parameters are told by arguments, a macro that launches, shared memory of several kinds, more of
// it than 48 KiB, functors, functions that share.
#include <cuda_runtime.h>
#include <stdint.h>
#include <stdio.h>

#define FULL_MASK 0xffffffff
#define LAUNCH(kernel, grid, block, shared, stream, ...) kernel<<<grid, block, shared, stream>>>(__VA_ARGS__)
#define CHECK(call)                                                               \
    do {                                                                          \
        cudaError_t error = (call);                                               \
        if (error != cudaSuccess) printf("%s\n", cudaGetErrorString(error));      \
    } while (0)

template <class T>
struct SharedMemory {
    __device__ operator T*() {
        extern __shared__ int __smem[];
        return (T*)__smem;
    }
};

struct Plus {
    float scale;
    __host__ __device__ float operator()(float a, float b) const { return a + scale * b; }
};

template <typename F>
static __device__ __noinline__ float block_reduce(float v, F f) {
    static __shared__ float shared[32];
    const int lane = threadIdx.x % warpSize, warp = threadIdx.x / warpSize;
    for (int by = 16; by; by >>= 1) v = f(v, __shfl_down_sync(FULL_MASK, v, by));
    __syncthreads();
    if (lane == 0) shared[warp] = v;
    __syncthreads();
    v = threadIdx.x < blockDim.x / warpSize ? shared[lane] : 0.0f;
    if (warp == 0) {
        for (int by = 16; by; by >>= 1) v = f(v, __shfl_down_sync(FULL_MASK, v, by));
        if (lane == 0) shared[0] = v;
    }
    __syncthreads();
    return shared[0];
}

namespace kernels {
template <int threads, typename T, typename F>
__global__ void __launch_bounds__(threads, 2) sums(const T* __restrict__ x, T* __restrict__ y, int N, F f) {
    T* kept = SharedMemory<T>();
    for (int j = threadIdx.x; j < N; j += threads) kept[j] = x[(size_t)blockIdx.x * N + j];
    T sum = 0;
    for (int j = threadIdx.x; j < N; j += threads) sum += kept[j];
    sum = block_reduce(sum, f);
    if (threadIdx.x == 0) y[blockIdx.x] = sum;
}
}  // namespace kernels

// Through a tile whose rows are padded.
template <typename T>
__global__ void transposed_sums(const T* x, T* y, int64_t M, int64_t N) {
    __shared__ T tile[8][8 + 1], total[8];
    const int tx = threadIdx.x, ty = threadIdx.y;
    if (ty == 0) total[tx] = 0;
    for (int64_t first = 0; first < N; first += 8) {
        const int64_t i = blockIdx.x * 8 + ty, j = first + tx;
        __syncthreads();
        tile[tx][ty] = i < M && j < N ? x[i * N + j] : T(0);
        __syncthreads();
        if (ty == 0)
#pragma unroll
            for (int k = 0; k < 8; ++k) total[tx] += tile[k][tx];
    }
    if (ty == 0 && blockIdx.x * 8 + tx < M) y[blockIdx.x * 8 + tx] = total[tx];
}

extern "C" void row_sums(const float* x, float* y, int64_t M, int64_t N, cudaStream_t stream) {
    if (N % 2 == 0) {
        const size_t bytes = (N > 20000 ? N : 20000) * sizeof(float);
        CHECK(cudaFuncSetAttribute(kernels::sums<96, float, Plus>, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes));
        kernels::sums<96><<<dim3(M), dim3(96), bytes, stream>>>(x, y, (int)N, Plus{1});
    } else {
        LAUNCH(transposed_sums, (M + 7) / 8, dim3(8, 8), 0, stream, x, y, M, N);
    }
    CHECK(cudaGetLastError());
}
