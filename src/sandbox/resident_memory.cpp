#include "sandbox/resident_memory.h"

#include <unistd.h>

#include <filesystem>
#include <fstream>

#include <fmt/format.h>

namespace strop::sandbox {

int64_t resident_bytes(pid_t process) {
    namespace fs = std::filesystem;
    int64_t all = 0, resident = 0, shared = 0;
    std::ifstream(fmt::format("/proc/{}/statm", process)) >> all >> resident >> shared;
    int64_t bytes = (resident - shared) * ::sysconf(_SC_PAGESIZE);
    std::error_code failed;
    for (const fs::directory_entry& thread : fs::directory_iterator(fmt::format("/proc/{}/task", process), failed)) {
        std::ifstream children(thread.path() / "children");
        for (pid_t child; children >> child;) bytes += resident_bytes(child);
    }
    return bytes;
}

}  // namespace strop::sandbox
