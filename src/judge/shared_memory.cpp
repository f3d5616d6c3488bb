#include "judge/shared_memory.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <fmt/format.h>

#include "base/error.h"
#include "base/strings.h"

namespace strop::judge {

namespace {

// Children keep the number of a descriptor; the low ones are their pipes.
int above_standard(int fd) {
    int high = ::fcntl(fd, F_DUPFD_CLOEXEC, 64);
    ::close(fd);
    return high;
}

}  // namespace

SharedMemory::SharedMemory(int64_t bytes) : bytes_(std::max<int64_t>(bytes, 4096)) {
    fd_ = ::memfd_create("strop", MFD_CLOEXEC);
    if (fd_ < 0 || ::ftruncate(fd_, bytes_) != 0)
        throw EnvironmentError(fmt::format("cannot get {} of shared memory: {}",
                                           human_bytes(static_cast<double>(bytes_)), std::strerror(errno)),
                               "use smaller shapes");
    fd_ = above_standard(fd_);
    read_only_fd_ = above_standard(::open(fmt::format("/proc/self/fd/{}", fd_).c_str(), O_RDONLY | O_CLOEXEC));
    map();
}

SharedMemory::~SharedMemory() {
    if (data_) ::munmap(data_, static_cast<size_t>(bytes_));
    if (fd_ >= 0) ::close(fd_);
    if (read_only_fd_ >= 0) ::close(read_only_fd_);
}

void SharedMemory::map() {
    void* at = ::mmap(nullptr, static_cast<size_t>(bytes_), PROT_READ | PROT_WRITE, MAP_SHARED, fd_, 0);
    if (at == MAP_FAILED)
        throw EnvironmentError(fmt::format("cannot map {} of shared memory: {}",
                                           human_bytes(static_cast<double>(bytes_)), std::strerror(errno)),
                               "use smaller shapes");
    data_ = static_cast<char*>(at);
    // Everybody's buffers come from huge pages where the system gives them.
    ::madvise(data_, static_cast<size_t>(bytes_), MADV_HUGEPAGE);
}

void SharedMemory::grow(int64_t bytes) {
    if (bytes <= bytes_) return;
    ::munmap(data_, static_cast<size_t>(bytes_));
    data_ = nullptr;
    if (::ftruncate(fd_, bytes) != 0)
        throw EnvironmentError(fmt::format("cannot get {} of shared memory", human_bytes(static_cast<double>(bytes))),
                               "use smaller shapes");
    bytes_ = bytes;
    map();
}

void SharedMemory::swap(SharedMemory& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(bytes_, other.bytes_);
    std::swap(fd_, other.fd_);
    std::swap(read_only_fd_, other.read_only_fd_);
}

}  // namespace strop::judge
