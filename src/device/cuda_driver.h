// NVIDIA's driver (libcuda.so.1), opened at run time: nothing is linked with it. Depends on nothing of Strop, for the
// process that kernels run in uses it, too.
// https://docs.nvidia.com/cuda/cuda-driver-api/
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace strop {

// What the driver's functions answer; 0 is success.
using CudaResult = int;
using DevicePointer = unsigned long long;

// The few attributes of a device that Strop asks for (CUdevice_attribute).
enum class CudaAttribute : int {
    shared_bytes_of_a_block = 8,
    clock_kilohertz = 13,
    multiprocessors = 16,
    l2_bytes = 38,
    major_capability = 75,
    minor_capability = 76,
    exports_memory_as_files = 103,
};

class CudaDriver {
public:
    // Null where there is none, or it does not start; `why` says so then. The same one every time.
    static const CudaDriver* open(std::string& why);

    // "out of memory"; "error 999" for one that the driver has no name for.
    std::string describe(CudaResult result) const;

    int version() const { return version_; }  // 13000: of CUDA 13.0
    int devices() const { return devices_; }
    std::string name(int device) const;
    int attribute(CudaAttribute which, int device) const;  // 0 where it is not known
    int64_t memory_bytes(int device) const;

    // Everything below is of the present context of the calling thread. Of `device`, made present: the one that the
    // CUDA run-time uses, too.
    CudaResult use(int device) const;
    CudaResult free_memory(size_t& free, size_t& total) const;
    CudaResult synchronize() const;
    // One that waits for no other stream. Streams end with their context.
    CudaResult make_stream(void*& stream) const;
    CudaResult synchronize(void* stream) const;

    // Memory that another process can have, as a file descriptor of it; and what such a descriptor stands for. `bytes`:
    // a multiple of granularity().
    size_t granularity(int device) const;
    CudaResult allocate(int device, size_t bytes, DevicePointer& at, int& fd) const;
    CudaResult import(int device, int fd, size_t bytes, DevicePointer& at) const;
    void release(DevicePointer at, size_t bytes) const;

    // Memory of the host that copies go several times faster from and to; a failure does no harm.
    CudaResult pin(void* at, size_t bytes) const;
    void unpin(void* at) const;
    CudaResult to_device(DevicePointer to, const void* from, size_t bytes) const;
    CudaResult to_host(void* to, DevicePointer from, size_t bytes) const;
    // A kernel of one thread that does nothing, to its end.
    CudaResult run_nothing() const;
    CudaResult copy(DevicePointer to, DevicePointer from, size_t bytes) const;
    CudaResult fill(DevicePointer at, unsigned char value, size_t bytes) const;

private:
    CudaDriver() = default;
    std::string load();
    CudaResult map(int device, unsigned long long handle, size_t bytes, DevicePointer& at) const;

    struct Functions;
    const Functions* functions_ = nullptr;
    int version_ = 0, devices_ = 0;
};

}  // namespace strop
