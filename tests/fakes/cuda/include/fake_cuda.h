// CUDA C++ as a program of the host, for tests: blocks run one after another, a block's threads as fibers that change
// at barriers. bin/nvcc writes `fake_launch(kernel, grid, block, ...)(arguments)` for a launch.
#pragma once

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>

#include <functional>
#include <vector>

#define __global__
#define __device__
#define __host__
#define __forceinline__ inline
#define __shared__ static
#define __launch_bounds__(...)

typedef struct fake_stream* cudaStream_t;

extern "C" {
inline int fake_error;  // of the last launch; 9 is an invalid configuration
__attribute__((weak)) int cudaGetLastError() {
    const int error = fake_error;
    fake_error = 0;
    return error;
}
__attribute__((weak)) const char* cudaGetErrorString(int) { return "invalid configuration argument"; }
}

struct dim3 {
    unsigned x, y, z;
    dim3(unsigned x = 1, unsigned y = 1, unsigned z = 1) : x(x), y(y), z(z) {}
};

alignas(16) inline unsigned char fake_dynamic_shared[256 << 10];
enum cudaFuncAttribute { cudaFuncAttributeMaxDynamicSharedMemorySize = 8 };
template <class Kernel>
int cudaFuncSetAttribute(Kernel, cudaFuncAttribute, int) {
    return 0;
}
inline int cudaFreeAsync(void* at, cudaStream_t) {
    free(at);
    return 0;
}

enum cudaMemcpyKind { cudaMemcpyDeviceToDevice = 3 };
inline int cudaMalloc(void** at, size_t bytes) { return (*at = malloc(bytes)) ? 0 : 2; }
inline int cudaMallocAsync(void** at, size_t bytes, cudaStream_t) { return cudaMalloc(at, bytes); }
inline int cudaMemcpyAsync(void* to, const void* from, size_t bytes, cudaMemcpyKind, cudaStream_t) {
    memcpy(to, from, bytes);
    return 0;
}

inline dim3 gridDim, blockDim, blockIdx, threadIdx;

struct FakeBlock {
    struct Fiber {
        ucontext_t context;
        std::vector<char> stack;
        dim3 index;
        bool done = false;
    };
    std::vector<Fiber> fibers;
    ucontext_t scheduler;
    size_t present = 0;
    std::function<void()> body;
};
inline FakeBlock* fake_block;

inline void __syncthreads() {
    FakeBlock& block = *fake_block;
    swapcontext(&block.fibers[block.present].context, &block.scheduler);
}

inline void fake_thread() {
    FakeBlock& block = *fake_block;
    block.body();
    block.fibers[block.present].done = true;
    swapcontext(&block.fibers[block.present].context, &block.scheduler);
}

inline void fake_run_block() {
    FakeBlock& block = *fake_block;
    for (FakeBlock::Fiber& fiber : block.fibers) {
        fiber.done = false;
        getcontext(&fiber.context);
        fiber.context.uc_stack.ss_sp = fiber.stack.data();
        fiber.context.uc_stack.ss_size = fiber.stack.size();
        fiber.context.uc_link = nullptr;
        makecontext(&fiber.context, fake_thread, 0);
    }
    for (bool any = true; any;) {
        any = false;
        for (block.present = 0; block.present < block.fibers.size(); ++block.present) {
            FakeBlock::Fiber& fiber = block.fibers[block.present];
            if (fiber.done) continue;
            any = true;
            threadIdx = fiber.index;
            swapcontext(&block.scheduler, &fiber.context);
        }
    }
}

template <class Kernel>
auto fake_launch(Kernel kernel, dim3 grid, dim3 threads, size_t = 0, cudaStream_t = nullptr) {
    return [=](auto... arguments) {
        if (threads.x * threads.y * threads.z > 1024) {
            fake_error = 9;
            return;
        }
        static FakeBlock block;
        fake_block = &block;
        block.body = [=] { kernel(arguments...); };
        block.fibers.resize(threads.x * threads.y * threads.z);
        for (size_t i = 0; i < block.fibers.size(); ++i) {
            FakeBlock::Fiber& fiber = block.fibers[i];
            fiber.stack.resize(32 << 10);
            fiber.index = dim3(i % threads.x, i / threads.x % threads.y, i / threads.x / threads.y);
        }
        gridDim = grid;
        blockDim = threads;
        for (unsigned z = 0; z < grid.z; ++z)
            for (unsigned y = 0; y < grid.y; ++y)
                for (unsigned x = 0; x < grid.x; ++x) {
                    blockIdx = dim3(x, y, z);
                    fake_run_block();
                }
    };
}
