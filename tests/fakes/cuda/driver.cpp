// A stand-in for NVIDIA's driver (libcuda.so.1), as far as src/device/cuda_driver.h uses it: one device whose memory is
// the host's, in memory files, and whose streams are always idle. What a real driver answers was compared with this on
// an H200 (scripts/gpu runs the same commands there).
#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string>

namespace {

constexpr int invalid = 1, out_of_memory = 2;
constexpr size_t step = 2 << 20;
size_t used = 0;

// Among this process's children; quick, for the time that it takes is looked at.
bool a_candidate_runs() {
    std::ifstream children("/proc/self/task/" + std::to_string(::getpid()) + "/children");
    for (std::string pid, name; children >> pid;) {
        std::getline(std::ifstream("/proc/" + pid + "/comm"), name);
        if (name == "strop-candidate") return true;
    }
    return false;
}

size_t device_bytes() {
    const char* given = std::getenv("FAKE_CUDA_BYTES");
    return given ? std::strtoull(given, nullptr, 10) : size_t{4} << 30;
}

void* address(unsigned long long at) { return reinterpret_cast<void*>(at); }
// Handles are descriptors, one more, so that none is 0.
int descriptor(unsigned long long handle) { return static_cast<int>(handle) - 1; }

}  // namespace

extern "C" {

int cuInit(unsigned) { return std::getenv("FAKE_CUDA_BROKEN") ? 999 : 0; }
int cuDriverGetVersion(int* version) {
    *version = 13000;
    return 0;
}
int cuGetErrorString(int error, const char** text) {
    *text = error == out_of_memory ? "out of memory" : error == 999 ? "unknown error" : "invalid argument";
    return 0;
}
int cuDeviceGetCount(int* count) {
    *count = 1;
    return 0;
}
int cuDeviceGetName(char* name, int bytes, int) {
    std::strncpy(name, "Fake GPU", static_cast<size_t>(bytes));
    return 0;
}
int cuDeviceGetAttribute(int* value, int attribute, int) {
    switch (attribute) {
        case 13: *value = 1000000; break;  // kHz
        case 16: *value = 4; break;        // multiprocessors
        case 38: *value = 8 << 20; break;  // L2
        case 75: *value = 9; break;
        case 76: *value = 0; break;
        default: *value = 1;
    }
    return 0;
}
int cuDeviceTotalMem_v2(size_t* bytes, int) {
    *bytes = device_bytes();
    return 0;
}
int cuDevicePrimaryCtxRetain(void** context, int) {
    static int only;
    *context = &only;
    return 0;
}
int cuCtxSetCurrent(void*) { return 0; }
int cuMemGetInfo_v2(size_t* free, size_t* total) {
    *total = device_bytes();
    *free = device_bytes() - used;
    return 0;
}
int cuCtxSynchronize() { return 0; }
int cuStreamCreate(void** stream, unsigned) {
    static int only;
    *stream = &only;
    return 0;
}
int cuStreamSynchronize(void*) { return 0; }
int cuMemGetAllocationGranularity(size_t* bytes, const void*, int) {
    *bytes = step;
    return 0;
}
int cuMemCreate(unsigned long long* handle, size_t bytes, const void*, unsigned long long) {
    if (bytes % step != 0) return invalid;
    if (bytes > device_bytes() - used) return out_of_memory;
    const int fd = ::memfd_create("device", 0);
    if (fd < 0 || ::ftruncate(fd, static_cast<off_t>(bytes)) != 0) return out_of_memory;
    *handle = static_cast<unsigned long long>(fd) + 1;
    return 0;
}
int cuMemExportToShareableHandle(int* fd, unsigned long long handle, int, unsigned long long) {
    *fd = ::dup(descriptor(handle));
    return 0;
}
int cuMemImportFromShareableHandle(unsigned long long* handle, void* fd, int) {
    const int own = ::dup(static_cast<int>(reinterpret_cast<intptr_t>(fd)));
    if (own < 0) return invalid;
    *handle = static_cast<unsigned long long>(own) + 1;
    return 0;
}
int cuMemRelease(unsigned long long handle) { return ::close(descriptor(handle)); }
int cuMemAddressReserve(unsigned long long* at, size_t bytes, size_t, unsigned long long, unsigned long long) {
    void* reserved = ::mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (reserved == MAP_FAILED) return out_of_memory;
    *at = reinterpret_cast<unsigned long long>(reserved);
    return 0;
}
int cuMemAddressFree(unsigned long long at, size_t bytes) { return ::munmap(address(at), bytes); }
int cuMemMap(unsigned long long at, size_t bytes, size_t, unsigned long long handle, unsigned long long) {
    used += bytes;
    return ::mmap(address(at), bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, descriptor(handle), 0) ==
                   MAP_FAILED
               ? out_of_memory
               : 0;
}
int cuMemUnmap(unsigned long long, size_t bytes) {
    used -= bytes;
    return 0;
}
int cuMemSetAccess(unsigned long long, size_t, const void*, size_t) { return 0; }
int cuModuleLoadData(void** module, const void*) {
    static int only;
    *module = &only;
    return 0;
}
int cuModuleGetFunction(void** function, void* module, const char*) {
    *function = module;
    return 0;
}
int cuLaunchKernel(void*, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void*, void**, void**) {
    const char* busy = std::getenv("FAKE_CUDA_BUSY");  // "always", or "candidate": while a kernel's process is there
    if (busy && (std::strcmp(busy, "always") == 0 || a_candidate_runs())) ::usleep(1000);
    return 0;
}
int cuMemHostRegister_v2(void*, size_t, unsigned) { return 0; }
int cuMemHostUnregister(void*) { return 0; }
int cuMemcpyHtoD_v2(unsigned long long to, const void* from, size_t bytes) {
    std::memcpy(address(to), from, bytes);
    return 0;
}
int cuMemcpyDtoH_v2(void* to, unsigned long long from, size_t bytes) {
    std::memcpy(to, address(from), bytes);
    return 0;
}
int cuMemcpyDtoD_v2(unsigned long long to, unsigned long long from, size_t bytes) {
    std::memcpy(address(to), address(from), bytes);
    return 0;
}
int cuMemsetD8_v2(unsigned long long at, unsigned char value, size_t bytes) {
    std::memset(address(at), value, bytes);
    return 0;
}

}  // extern "C"
