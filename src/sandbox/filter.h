// seccomp: the system calls that a child of each level of trust may make.
#pragma once

#include <vector>

#include "sandbox/process.h"

namespace strop::sandbox {

// A seccomp program, built in the parent so that the child need not allocate between fork and exec.
class Filter {
public:
    // What a candidate may do beside computing: make memory executable; that, and make files; that, and all that
    // drivers of a GPU do (no processes, no network, and of files what Landlock gives).
    enum class Freedom { none, generates_code, writes_files, drives_gpu };
    // `available`: false makes one that allows everything.
    Filter(Trust trust, Freedom freedom, bool available);

    // In the child, last thing before exec, after no_new_privs. Async-signal-safe.
    bool enter() const;

private:
    std::vector<unsigned char> program_;  // struct sock_filter[]; empty: everything is allowed
};

bool seccomp_available();

}  // namespace strop::sandbox
