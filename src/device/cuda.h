// CUDA devices of this system.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/machine.h"
#include "device/machine.h"

namespace strop {

struct CudaDevice {
    int number = 0;
    std::string name;          // "NVIDIA H200"
    std::string architecture;  // "sm_90"
    std::string driver;        // the CUDA that the driver has, "13.0"
    int multiprocessors = 0;
    int64_t l2_bytes = 0, memory_bytes = 0;
    double clock_hertz = 0;  // the highest
};

// Empty: `why` says what is missing.
std::vector<CudaDevice> cuda_devices(std::string& why);

// The first device. EnvironmentError with a hint when there is none.
CudaDevice cuda_device();

// "NVIDIA H200 (sm_90), CUDA 13.0"
std::string description_of(const CudaDevice& device);

// nvcc: $CUDA_HOME/bin, then PATH, then /usr/local/cuda. Null where there is none.
const Compiler* cuda_compiler();

// The machine as kernels on the device see it: its L2 as the only cache, its memory's copy bandwidth, measured, and the
// float32 arithmetic of its multiprocessors at their highest clock. What belongs to the host stays.
Machine as_cuda_machine(Machine host, const CudaDevice& device);

}  // namespace strop
