// The registers of another process's threads, which a kernel may leave changed in threads that the caller goes on
// using. thread_state_ARCHITECTURE.cpp knows them, the build chooses it.
#pragma once

#include <sys/types.h>

#include <string>

namespace strop::judge {

// What differs in a thread of a child of ours from what a process starts with: "left the treatment of subnormal numbers
// changed in one of its threads"; empty: nothing, or it has ended, or the system lets nobody look. It must be idle: it
// is stopped for a moment.
std::string changed_thread_state(pid_t thread);

}  // namespace strop::judge
