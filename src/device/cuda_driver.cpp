#include "device/cuda_driver.h"

#include <dlfcn.h>

namespace strop {

namespace {

constexpr int pinned_memory = 1, file_descriptor = 1, of_a_device = 1, read_and_write = 3;

// CUmemAllocationProp and CUmemAccessDesc.
struct Location {
    int type = of_a_device, id = 0;
};
struct Allocation {
    int type = pinned_memory;
    int handles = file_descriptor;
    Location location;
    void* of_windows = nullptr;
    unsigned char flags[8] = {};
};
struct Access {
    Location location;
    int flags = read_and_write;
};

Allocation exportable(int device) {
    Allocation allocation;
    allocation.location.id = device;
    return allocation;
}

}  // namespace

// PTX that every device understands.
constexpr const char* nothing_text =
    ".version 6.0\n.target sm_50\n.address_size 64\n.visible .entry nothing() { ret; }\n";

struct CudaDriver::Functions {
    CudaResult (*init)(unsigned);
    CudaResult (*version)(int*);
    CudaResult (*error_text)(CudaResult, const char**);
    CudaResult (*device_count)(int*);
    CudaResult (*device_name)(char*, int, int);
    CudaResult (*device_attribute)(int*, int, int);
    CudaResult (*device_memory)(size_t*, int);
    CudaResult (*primary_context)(void**, int);
    CudaResult (*set_context)(void*);
    CudaResult (*memory_info)(size_t*, size_t*);
    CudaResult (*synchronize)();
    CudaResult (*create_stream)(void**, unsigned);
    CudaResult (*synchronize_stream)(void*);
    CudaResult (*granularity)(size_t*, const Allocation*, int);
    CudaResult (*create)(unsigned long long*, size_t, const Allocation*, unsigned long long);
    CudaResult (*export_handle)(int*, unsigned long long, int, unsigned long long);
    CudaResult (*import_handle)(unsigned long long*, void*, int);
    CudaResult (*release_handle)(unsigned long long);
    CudaResult (*reserve)(DevicePointer*, size_t, size_t, DevicePointer, unsigned long long);
    CudaResult (*free_address)(DevicePointer, size_t);
    CudaResult (*map)(DevicePointer, size_t, size_t, unsigned long long, unsigned long long);
    CudaResult (*unmap)(DevicePointer, size_t);
    CudaResult (*set_access)(DevicePointer, size_t, const Access*, size_t);
    CudaResult (*load_module)(void**, const void*);
    CudaResult (*find_kernel)(void**, void*, const char*);
    CudaResult (*launch)(void*, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void*, void**,
                         void**);
    CudaResult (*pin)(void*, size_t, unsigned);
    CudaResult (*unpin)(void*);
    CudaResult (*to_device)(DevicePointer, const void*, size_t);
    CudaResult (*to_host)(void*, DevicePointer, size_t);
    CudaResult (*copy)(DevicePointer, DevicePointer, size_t);
    CudaResult (*fill)(DevicePointer, unsigned char, size_t);
};

const CudaDriver* CudaDriver::open(std::string& why) {
    static CudaDriver driver;
    static const std::string failed = driver.load();
    why = failed;
    return failed.empty() ? &driver : nullptr;
}

std::string CudaDriver::load() {
    void* library = ::dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!library) return "NVIDIA's driver (libcuda.so.1) is not installed";
    static Functions functions;
    std::string missing;
    auto find = [&](auto& function, const char* name) {
        function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(::dlsym(library, name));
        if (!function) missing = name;
    };
    find(functions.init, "cuInit");
    find(functions.version, "cuDriverGetVersion");
    find(functions.error_text, "cuGetErrorString");
    find(functions.device_count, "cuDeviceGetCount");
    find(functions.device_name, "cuDeviceGetName");
    find(functions.device_attribute, "cuDeviceGetAttribute");
    find(functions.device_memory, "cuDeviceTotalMem_v2");
    find(functions.primary_context, "cuDevicePrimaryCtxRetain");
    find(functions.set_context, "cuCtxSetCurrent");
    find(functions.memory_info, "cuMemGetInfo_v2");
    find(functions.synchronize, "cuCtxSynchronize");
    find(functions.create_stream, "cuStreamCreate");
    find(functions.synchronize_stream, "cuStreamSynchronize");
    find(functions.granularity, "cuMemGetAllocationGranularity");
    find(functions.create, "cuMemCreate");
    find(functions.export_handle, "cuMemExportToShareableHandle");
    find(functions.import_handle, "cuMemImportFromShareableHandle");
    find(functions.release_handle, "cuMemRelease");
    find(functions.reserve, "cuMemAddressReserve");
    find(functions.free_address, "cuMemAddressFree");
    find(functions.map, "cuMemMap");
    find(functions.unmap, "cuMemUnmap");
    find(functions.set_access, "cuMemSetAccess");
    find(functions.load_module, "cuModuleLoadData");
    find(functions.find_kernel, "cuModuleGetFunction");
    find(functions.launch, "cuLaunchKernel");
    find(functions.pin, "cuMemHostRegister_v2");
    find(functions.unpin, "cuMemHostUnregister");
    find(functions.to_device, "cuMemcpyHtoD_v2");
    find(functions.to_host, "cuMemcpyDtoH_v2");
    find(functions.copy, "cuMemcpyDtoD_v2");
    find(functions.fill, "cuMemsetD8_v2");
    if (!missing.empty()) return "the driver is older than CUDA 10.2: it has no " + missing;
    functions_ = &functions;
    if (CudaResult result = functions.init(0)) return "the driver does not start: " + describe(result);
    functions.version(&version_);
    functions.device_count(&devices_);
    return devices_ > 0 ? "" : "the driver finds no device";
}

std::string CudaDriver::describe(CudaResult result) const {
    const char* text = nullptr;
    return functions_->error_text(result, &text) == 0 && text ? text : "error " + std::to_string(result);
}

std::string CudaDriver::name(int device) const {
    char name[256] = {};
    functions_->device_name(name, sizeof name - 1, device);
    return name;
}

int CudaDriver::attribute(CudaAttribute which, int device) const {
    int value = 0;
    return functions_->device_attribute(&value, static_cast<int>(which), device) == 0 ? value : 0;
}

int64_t CudaDriver::memory_bytes(int device) const {
    size_t bytes = 0;
    return functions_->device_memory(&bytes, device) == 0 ? static_cast<int64_t>(bytes) : 0;
}

CudaResult CudaDriver::use(int device) const {
    void* context = nullptr;
    const CudaResult result = functions_->primary_context(&context, device);
    return result ? result : functions_->set_context(context);
}

CudaResult CudaDriver::free_memory(size_t& free, size_t& total) const { return functions_->memory_info(&free, &total); }
CudaResult CudaDriver::synchronize() const { return functions_->synchronize(); }

CudaResult CudaDriver::make_stream(void*& stream) const {
    constexpr unsigned non_blocking = 1;
    return functions_->create_stream(&stream, non_blocking);
}

CudaResult CudaDriver::synchronize(void* stream) const { return functions_->synchronize_stream(stream); }

size_t CudaDriver::granularity(int device) const {
    const Allocation allocation = exportable(device);
    size_t bytes = 0;
    constexpr int recommended = 1;
    return functions_->granularity(&bytes, &allocation, recommended) == 0 && bytes > 0 ? bytes : size_t{2} << 20;
}

CudaResult CudaDriver::allocate(int device, size_t bytes, DevicePointer& at, int& fd) const {
    const Allocation allocation = exportable(device);
    unsigned long long handle = 0;
    CudaResult result = functions_->create(&handle, bytes, &allocation, 0);
    if (result) return result;
    result = functions_->export_handle(&fd, handle, file_descriptor, 0);
    if (!result) result = map(device, handle, bytes, at);
    functions_->release_handle(handle);  // it lives as long as it is mapped
    return result;
}

CudaResult CudaDriver::import(int device, int fd, size_t bytes, DevicePointer& at) const {
    unsigned long long handle = 0;
    CudaResult result =
        functions_->import_handle(&handle, reinterpret_cast<void*>(static_cast<intptr_t>(fd)), file_descriptor);
    if (result) return result;
    result = map(device, handle, bytes, at);
    functions_->release_handle(handle);
    return result;
}

CudaResult CudaDriver::map(int device, unsigned long long handle, size_t bytes, DevicePointer& at) const {
    CudaResult result = functions_->reserve(&at, bytes, 0, 0, 0);
    if (!result) result = functions_->map(at, bytes, 0, handle, 0);
    Access access;
    access.location.id = device;
    return result ? result : functions_->set_access(at, bytes, &access, 1);
}

void CudaDriver::release(DevicePointer at, size_t bytes) const {
    functions_->unmap(at, bytes);
    functions_->free_address(at, bytes);
}

CudaResult CudaDriver::run_nothing() const {
    static void *module = nullptr, *kernel = nullptr;
    CudaResult result = kernel ? 0 : functions_->load_module(&module, nothing_text);
    if (!result && !kernel) result = functions_->find_kernel(&kernel, module, "nothing");
    if (!result) result = functions_->launch(kernel, 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr, nullptr);
    return result ? result : functions_->synchronize();
}

CudaResult CudaDriver::pin(void* at, size_t bytes) const { return functions_->pin(at, bytes, 0); }
void CudaDriver::unpin(void* at) const { functions_->unpin(at); }

CudaResult CudaDriver::to_device(DevicePointer to, const void* from, size_t bytes) const {
    return functions_->to_device(to, from, bytes);
}
CudaResult CudaDriver::to_host(void* to, DevicePointer from, size_t bytes) const {
    return functions_->to_host(to, from, bytes);
}
CudaResult CudaDriver::copy(DevicePointer to, DevicePointer from, size_t bytes) const {
    return functions_->copy(to, from, bytes);
}
CudaResult CudaDriver::fill(DevicePointer at, unsigned char value, size_t bytes) const {
    return functions_->fill(at, value, bytes);
}

}  // namespace strop
