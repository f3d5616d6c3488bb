// Cooperative groups: the block, and tiles of a warp.
#pragma once

#include <cuda_runtime.h>

namespace cooperative_groups {

class thread_block {
public:
    void sync(int line = __builtin_LINE()) const { __syncthreads(line); }
    unsigned thread_rank() const { return threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z); }
    unsigned size() const { return blockDim.x * blockDim.y * blockDim.z; }
    unsigned num_threads() const { return size(); }
    dim3 group_index() const { return blockIdx; }
    dim3 thread_index() const { return threadIdx; }
    dim3 group_dim() const { return blockDim; }
    dim3 dim_threads() const { return blockDim; }
};
inline thread_block this_thread_block() { return {}; }

template <unsigned threads, class Parent = void>
class thread_block_tile {
    static_assert(threads <= 32 && (threads & (threads - 1)) == 0, "a tile has 1, 2, 4, 8, 16 or 32 threads");

public:
    static constexpr unsigned size() { return threads; }
    static constexpr unsigned num_threads() { return threads; }
    unsigned thread_rank() const { return emulator::lane() % threads; }
    unsigned meta_group_rank() const { return this_thread_block().thread_rank() / threads; }
    unsigned meta_group_size() const { return (this_thread_block().size() + threads - 1) / threads; }
    void sync() const { __syncwarp(mask()); }
    template <class Value>
    Value shfl(Value value, int from) const {
        return __shfl_sync(mask(), value, from, (int)threads);
    }
    template <class Value>
    Value shfl_down(Value value, unsigned by) const {
        return __shfl_down_sync(mask(), value, by, (int)threads);
    }
    template <class Value>
    Value shfl_up(Value value, unsigned by) const {
        return __shfl_up_sync(mask(), value, by, (int)threads);
    }
    template <class Value>
    Value shfl_xor(Value value, unsigned with) const {
        return __shfl_xor_sync(mask(), value, (int)with, (int)threads);
    }
    int any(int predicate) const { return __any_sync(mask(), predicate); }
    int all(int predicate) const { return __all_sync(mask(), predicate); }
    unsigned ballot(int predicate) const { return __ballot_sync(mask(), predicate) >> first(); }
    unsigned emulated_mask() const { return mask(); }

private:
    unsigned first() const { return emulator::lane() / threads * threads; }
    unsigned mask() const { return (threads == 32 ? 0xffffffffu : (1u << threads % 32) - 1) << first(); }
};

template <unsigned threads, class Parent>
thread_block_tile<threads> tiled_partition(const Parent&) {
    return {};
}

template <class Group>
void sync(const Group& group) {
    group.sync();
}

template <class Value>
struct plus {
    Value operator()(Value a, Value b) const { return a + b; }
};
template <class Value>
struct less {
    Value operator()(Value a, Value b) const { return b < a ? b : a; }
};
template <class Value>
struct greater {
    Value operator()(Value a, Value b) const { return a < b ? b : a; }
};

template <unsigned threads, class Value, class Combine>
EMULATOR_INSTRUCTION Value reduce(const thread_block_tile<threads>& tile, Value value, Combine combine) {
    return emulator::reduce("reduce", tile.emulated_mask(), value, combine, EMULATOR_HERE);
}

}  // namespace cooperative_groups
