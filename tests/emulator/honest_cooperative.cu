// honest
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <stdint.h>

namespace cg = cooperative_groups;

template <int threads>
__global__ void __launch_bounds__(threads) sums(const float* __restrict__ x, float* __restrict__ y, int64_t N) {
    extern __shared__ __align__(16) unsigned char room[];
    float* const part = reinterpret_cast<float*>(room);
    const cg::thread_block block = cg::this_thread_block();
    const auto warp = cg::tiled_partition<32>(block);
    float sum = 0;
    for (int64_t j = block.thread_rank(); j < N; j += threads) sum += __ldg(&x[blockIdx.x * N + j]);
    sum = cg::reduce(warp, sum, cg::plus<float>());
    if (warp.thread_rank() == 0) part[warp.meta_group_rank()] = sum;
    block.sync();
    if (warp.meta_group_rank() == 0) {
        sum = warp.thread_rank() < threads / 32 ? part[warp.thread_rank()] : 0.0f;
        for (int by = 16; by > 0; by /= 2) sum += warp.shfl_down(sum, by);
        if (warp.thread_rank() == 0) y[blockIdx.x] = sum;
    }
}

extern "C" void row_sums(const float* x, float* y, int64_t M, int64_t N, cudaStream_t stream) {
    sums<96><<<(unsigned)M, 96, 96 / 32 * sizeof(float), stream>>>(x, y, N);
}
