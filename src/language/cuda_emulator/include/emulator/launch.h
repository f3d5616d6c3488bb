// Launches, and what kernels' hosts use of CUDA's run-time. Everything is done when a call returns.
#pragma once

#include <string.h>

#include <tuple>
#include <type_traits>
#include <utility>

#include <emulator/types.h>

enum cudaError_t { cudaSuccess = 0, cudaErrorInvalidValue = 1, cudaErrorMemoryAllocation = 2 };
enum cudaMemcpyKind {
    cudaMemcpyHostToHost,
    cudaMemcpyHostToDevice,
    cudaMemcpyDeviceToHost,
    cudaMemcpyDeviceToDevice,
    cudaMemcpyDefault
};
using cudaStream_t = struct CUstream_st*;
using cudaEvent_t = struct CUevent_st*;

namespace emulator {

struct Configuration {
    dim3 grid, block;
    size_t shared = 0;
    cudaStream_t stream = nullptr;
    const char* name = nullptr;  // of a kernel whose address a launch does not tell
};

using Body = void (*)(const void* arguments);
// `kernel`: the address of its code, or null. `arguments`: that `body` is called with, once a thread.
void launch(const Configuration& configuration, const void* kernel, Body body, const void* arguments, size_t bytes);

// kernel<<<grid, block>>>(a, b) is written kernel->*configuration(grid, block)(a, b): the call binds more tightly. In
// the place of a template, whose parameters are told by its arguments, stands a lambda that calls it.
template <class... Values>
struct Arguments {
    Configuration configuration;
    std::tuple<Values...> values;
};

struct Configured {
    Configuration configuration;
    template <class... Values>
    Arguments<std::decay_t<Values>...> operator()(Values&&... values) const {
        return {configuration, {std::forward<Values>(values)...}};
    }
};

struct Named {
    const char* name;
    Configured operator()(dim3 grid, dim3 block, size_t shared = 0, cudaStream_t stream = nullptr) const {
        return {{grid, block, shared, stream, name}};
    }
};
inline Named named(const char* name) { return {name}; }

inline Configured configuration(dim3 grid, dim3 block, size_t shared = 0, cudaStream_t stream = nullptr) {
    return {{grid, block, shared, stream}};
}

template <class... Parameters>
struct Call {
    void (*kernel)(Parameters...);
    std::tuple<std::decay_t<Parameters>...> values;

    static void body(const void* self) {
        static_cast<const Call*>(self)->run(std::index_sequence_for<Parameters...>{});
    }
    template <size_t... places>
    void run(std::index_sequence<places...>) const {
        kernel(std::get<places>(values)...);
    }
};

template <class... Parameters, class... Values>
void operator->*(void (*kernel)(Parameters...), Arguments<Values...>&& arguments) {
    static_assert(sizeof...(Parameters) == sizeof...(Values), "a launch has as many arguments as its kernel");
    const Call<Parameters...> call{kernel, std::move(arguments.values)};
    launch(arguments.configuration, reinterpret_cast<const void*>(kernel), Call<Parameters...>::body, &call,
           sizeof call);
}

template <class Lambda, class... Values>
struct LambdaCall {
    Lambda lambda;
    std::tuple<Values...> values;

    static void body(const void* self) {
        static_cast<const LambdaCall*>(self)->run(std::index_sequence_for<Values...>{});
    }
    template <size_t... places>
    void run(std::index_sequence<places...>) const {
        lambda(std::get<places>(values)...);
    }
};

template <class Lambda, class... Values, class = std::enable_if_t<std::is_class<Lambda>::value>>
void operator->*(const Lambda& lambda, Arguments<Values...>&& arguments) {
    const LambdaCall<Lambda, Values...> call{lambda, std::move(arguments.values)};
    launch(arguments.configuration, nullptr, LambdaCall<Lambda, Values...>::body, &call, sizeof call);
}

void* allocate_for_host(size_t bytes);
void free_for_host(void* memory, const void* code);
void fill(void* at, int value, size_t bytes, const void* code);
void copy(void* to, const void* from, size_t bytes, const void* code);
void allow_dynamic_shared(const void* kernel, int bytes);

}  // namespace emulator

#define EMULATOR_HOST __attribute__((noinline)) inline cudaError_t

template <class Value>
cudaError_t cudaMalloc(Value** at, size_t bytes) {
    *at = static_cast<Value*>(emulator::allocate_for_host(bytes));
    return cudaSuccess;
}
template <class Value>
cudaError_t cudaMallocAsync(Value** at, size_t bytes, cudaStream_t) {
    return cudaMalloc(at, bytes);
}
EMULATOR_HOST cudaFree(void* memory) {
    emulator::free_for_host(memory, __builtin_return_address(0));
    return cudaSuccess;
}
EMULATOR_HOST cudaFreeAsync(void* memory, cudaStream_t) {
    emulator::free_for_host(memory, __builtin_return_address(0));
    return cudaSuccess;
}
EMULATOR_HOST cudaMemset(void* at, int value, size_t bytes) {
    emulator::fill(at, value, bytes, __builtin_return_address(0));
    return cudaSuccess;
}
EMULATOR_HOST cudaMemsetAsync(void* at, int value, size_t bytes, cudaStream_t = nullptr) {
    emulator::fill(at, value, bytes, __builtin_return_address(0));
    return cudaSuccess;
}
EMULATOR_HOST cudaMemcpy(void* to, const void* from, size_t bytes, cudaMemcpyKind) {
    emulator::copy(to, from, bytes, __builtin_return_address(0));
    return cudaSuccess;
}
EMULATOR_HOST cudaMemcpyAsync(void* to, const void* from, size_t bytes, cudaMemcpyKind, cudaStream_t = nullptr) {
    emulator::copy(to, from, bytes, __builtin_return_address(0));
    return cudaSuccess;
}
template <class Symbol>
cudaError_t cudaMemcpyToSymbol(Symbol& symbol, const void* from, size_t bytes, size_t offset = 0,
                               cudaMemcpyKind = cudaMemcpyHostToDevice) {
    emulator::copy(reinterpret_cast<char*>(&symbol) + offset, from, bytes, __builtin_return_address(0));
    return cudaSuccess;
}
template <class Symbol>
cudaError_t cudaMemcpyToSymbolAsync(Symbol& symbol, const void* from, size_t bytes, size_t offset = 0,
                                    cudaMemcpyKind = cudaMemcpyHostToDevice, cudaStream_t = nullptr) {
    return cudaMemcpyToSymbol(symbol, from, bytes, offset);
}
template <class Symbol, class Pointer>
cudaError_t cudaGetSymbolAddress(Pointer** at, Symbol& symbol) {
    *at = reinterpret_cast<Pointer*>(&symbol);
    return cudaSuccess;
}

inline cudaError_t cudaGetLastError() { return cudaSuccess; }
inline cudaError_t cudaPeekAtLastError() { return cudaSuccess; }
inline const char* cudaGetErrorString(cudaError_t error) { return error == cudaSuccess ? "no error" : "an error"; }
inline cudaError_t cudaDeviceSynchronize() { return cudaSuccess; }
inline cudaError_t cudaStreamSynchronize(cudaStream_t) { return cudaSuccess; }
inline cudaError_t cudaStreamCreate(cudaStream_t* stream) { return *stream = nullptr, cudaSuccess; }
inline cudaError_t cudaStreamDestroy(cudaStream_t) { return cudaSuccess; }
inline cudaError_t cudaGetDevice(int* device) { return *device = 0, cudaSuccess; }
inline cudaError_t cudaSetDevice(int) { return cudaSuccess; }

enum cudaFuncAttribute {
    cudaFuncAttributeMaxDynamicSharedMemorySize = 8,
    cudaFuncAttributePreferredSharedMemoryCarveout = 9
};
template <class Kernel>
cudaError_t cudaFuncSetAttribute(Kernel kernel, cudaFuncAttribute which, int value) {
    if (which == cudaFuncAttributeMaxDynamicSharedMemorySize)
        emulator::allow_dynamic_shared(reinterpret_cast<const void*>(kernel), value);
    return cudaSuccess;
}

enum cudaDeviceAttr {
    cudaDevAttrMaxThreadsPerBlock = 1,
    cudaDevAttrMaxSharedMemoryPerBlock = 8,
    cudaDevAttrWarpSize = 10,
    cudaDevAttrMultiProcessorCount = 16,
    cudaDevAttrMaxThreadsPerMultiProcessor = 39,
    cudaDevAttrComputeCapabilityMajor = 75,
    cudaDevAttrComputeCapabilityMinor = 76,
    cudaDevAttrMaxSharedMemoryPerMultiprocessor = 81,
    cudaDevAttrMaxSharedMemoryPerBlockOptin = 97
};
inline cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr which, int) {
    switch (which) {
        case cudaDevAttrMaxThreadsPerBlock: *value = 1024; break;
        case cudaDevAttrMaxSharedMemoryPerBlock: *value = 49152; break;
        case cudaDevAttrWarpSize: *value = 32; break;
        case cudaDevAttrMultiProcessorCount: *value = 4; break;
        case cudaDevAttrMaxThreadsPerMultiProcessor: *value = 2048; break;
        case cudaDevAttrComputeCapabilityMajor: *value = 9; break;
        case cudaDevAttrComputeCapabilityMinor: *value = 0; break;
        case cudaDevAttrMaxSharedMemoryPerMultiprocessor: *value = 233472; break;
        case cudaDevAttrMaxSharedMemoryPerBlockOptin: *value = 232448; break;
    }
    return cudaSuccess;
}
template <class Kernel>
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, Kernel, int, size_t) {
    return *blocks = 1, cudaSuccess;
}
