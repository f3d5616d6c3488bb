// A memory file: anonymous shared memory that children inherit as a descriptor.
#pragma once

#include <cstdint>

namespace strop::judge {

class SharedMemory {
public:
    SharedMemory() = default;
    // Huge pages are for what kernels touch; they can be slow to get.
    enum class Pages { small, huge };
    // EnvironmentError when there is not enough memory. `bytes` may be 0.
    explicit SharedMemory(int64_t bytes, Pages pages = Pages::small);
    ~SharedMemory();
    SharedMemory(SharedMemory&& other) noexcept { swap(other); }
    SharedMemory& operator=(SharedMemory&& other) noexcept {
        swap(other);
        return *this;
    }

    char* data() const { return data_; }
    int64_t bytes() const { return bytes_; }
    int fd() const { return fd_; }
    // A second descriptor of the same memory that cannot be mapped for writing.
    int read_only_fd() const { return read_only_fd_; }
    // Makes it at least `bytes` long; the address may change.
    void grow(int64_t bytes);

private:
    void swap(SharedMemory& other) noexcept;
    void map();

    char* data_ = nullptr;
    int64_t bytes_ = 0;
    Pages pages_ = Pages::small;
    int fd_ = -1, read_only_fd_ = -1;
};

}  // namespace strop::judge
