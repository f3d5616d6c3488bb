// What a child of each level of trust may ask of the kernel: Landlock for files, seccomp for system calls.
#pragma once

#include <string>
#include <vector>

#include "sandbox/process.h"

namespace strop::sandbox {

// A seccomp program, built in the parent so that the child need not allocate between fork and exec.
class Filter {
public:
    explicit Filter(Trust trust);
    ~Filter();
    Filter(const Filter&) = delete;
    Filter& operator=(const Filter&) = delete;

    // In the child, last thing before exec: no new privileges, files, system calls. Async-signal-safe.
    // `scratch_fd`: an open descriptor (O_PATH) of the writable folder, or -1.
    bool enter(int scratch_fd) const;

private:
    bool restrict_files(int scratch_fd) const;

    Trust trust_;
    std::vector<unsigned char> program_;   // struct sock_filter[]
};

bool landlock_available();
bool seccomp_available();

}  // namespace strop::sandbox
