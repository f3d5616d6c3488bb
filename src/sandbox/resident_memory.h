// How much memory a process and all that it started really use, whatever address space they took.
#pragma once

#include <sys/types.h>

#include <cstdint>

namespace strop::sandbox {

// Of the process and its descendants, what is not shared with files; 0 where the system does not say.
int64_t resident_bytes(pid_t process);

}  // namespace strop::sandbox
