// CUDA C++ as C++ for Strop's emulator: included before each source, which strop has rewritten where C++ has no words
// for it (language/cuda_source.h).
#pragma once

#include <assert.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <algorithm>
#include <cmath>

#include <emulator/types.h>

#include <emulator/atomics.h>
#include <emulator/functions.h>
#include <emulator/launch.h>
#include <emulator/threads.h>

namespace emulator {
void shared_variable(const char* name, const void* at, size_t bytes, const void* code);
char* dynamic_shared_memory();
__attribute__((noinline)) inline void declare_shared(const char* name, const void* at, size_t bytes) {
    shared_variable(name, at, bytes, __builtin_return_address(0));
}
}  // namespace emulator

#define __CUDACC__ 1
#define __CUDA_ARCH__ 900
#define __global__
#define __device__
#define __host__
#define __constant__
#define __managed__
#define __grid_constant__
#define __launch_bounds__(...)
#define __forceinline__ inline
#define __align__(bytes) __attribute__((aligned(bytes)))
#define __shared__ static __attribute__((section("strop_shared"), aligned(16)))
