// The registers of another process's threads, which a kernel may leave changed in threads that the caller goes on
// using. thread_state_ARCHITECTURE.cpp knows them, the build chooses it.
#pragma once

#include <sys/types.h>

#include <string>

namespace strop::judge {

// What differs in a thread of a child of ours from what a process starts with: "left the treatment of subnormal numbers
// changed in a thread of its own"; empty: nothing, or the system lets nobody look. The child must be idle: its threads
// are stopped for a moment.
std::string changed_thread_state(pid_t child);

}  // namespace strop::judge
