// Landlock: the files that a child and whatever it starts may reach.
// https://docs.kernel.org/userspace-api/landlock.html
#pragma once

#include <cstdint>
#include <string>

#include "sandbox/process.h"

namespace strop::sandbox {

// The version of the system's interface; 0: it has none.
int landlock_version();

// The rules of one child, made in the parent so that the child need not allocate between fork and exec.
class FileRules {
public:
    // `program`: what is executed. `version`: of the interface; 0 makes rules that allow everything.
    FileRules(const Command& command, const std::string& program, int version);
    ~FileRules();
    FileRules(const FileRules&) = delete;
    FileRules& operator=(const FileRules&) = delete;

    // In the child, after no_new_privs. Async-signal-safe.
    bool enter() const;

private:
    void allow_system() const;
    void allow(const char* path, uint64_t rights) const;
    void allow_reading(const Command& command, const std::string& program);

    int rules_ = -1;
    uint64_t handled_ = 0;
    uint64_t own_process_ = 0;  // rights in its own /proc, which only it can name
};

}  // namespace strop::sandbox
