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
#include "judge/memory_folder.h"

namespace strop::judge {

namespace {

// Children keep the number of a descriptor; the low ones are their pipes.
int above_standard(int fd) {
    int high = ::fcntl(fd, F_DUPFD_CLOEXEC, 64);
    ::close(fd);
    return high;
}

constexpr int64_t small_page = 4096, huge_page = 1 << 21;

// The system gives no huge page that reaches beyond the end of the file.
int64_t whole_pages(int64_t bytes, SharedMemory::Pages pages) {
    int64_t page = pages == SharedMemory::Pages::huge && bytes >= huge_page ? huge_page : small_page;
    return std::max((bytes + page - 1) / page * page, small_page);
}

int memory_file(SharedMemory::Pages pages) {
    int folder = pages == SharedMemory::Pages::huge ? memory_folder() : -1;
    return folder >= 0 ? ::openat(folder, ".", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600)
                       : ::memfd_create("strop", MFD_CLOEXEC);
}

}  // namespace

SharedMemory::SharedMemory(int64_t bytes, Pages pages) : bytes_(whole_pages(bytes, pages)), pages_(pages) {
    fd_ = memory_file(pages);
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
    if (pages_ == Pages::huge) ::madvise(data_, static_cast<size_t>(bytes_), MADV_HUGEPAGE);
}

void SharedMemory::grow(int64_t bytes) {
    if (bytes <= bytes_) return;
    bytes = whole_pages(bytes, pages_);
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
    std::swap(pages_, other.pages_);
    std::swap(fd_, other.fd_);
    std::swap(read_only_fd_, other.read_only_fd_);
}

}  // namespace strop::judge
