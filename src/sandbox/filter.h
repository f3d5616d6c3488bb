// seccomp: the system calls that a child of each level of trust may make.
#pragma once

#include <vector>

#include "sandbox/process.h"

namespace strop::sandbox {

// A seccomp program, built in the parent so that the child need not allocate between fork and exec.
class Filter {
public:
    // `generates_code`: a candidate may make memory executable. `available`: false makes one that allows everything.
    Filter(Trust trust, bool generates_code, bool available);

    // In the child, last thing before exec, after no_new_privs. Async-signal-safe.
    bool enter() const;

private:
    std::vector<unsigned char> program_;   // struct sock_filter[]; empty: everything is allowed
};

bool seccomp_available();

}  // namespace strop::sandbox
