// Where a process runs. The system places processes as it likes, and neither place nor company is the same for all:
// one core's other half may belong to another virtual machine, cores may be of different kinds, and a process is often
// woken on the core of whoever woke it, where the two then take turns.
#pragma once

#include <sched.h>
#include <sys/types.h>

#include <optional>

namespace strop::judge {

class Runner;

// Where the first thread of a process ran last; nothing where the system does not say.
std::optional<int> core_of(pid_t process);
// The only core that the first thread of a process may run on; nothing where it may run on several.
std::optional<int> only_core_of(pid_t process);

// While it lives the first thread of a process has one core, and so has the calling thread, where it `shares`: who asks
// and who answers then never wait for a core that sleeps, and what one has written lies in the other's caches.
// Afterwards the process's threads, those included that it has started meanwhile, may run where the first one might.
// Without effect where the system does not allow it.
class OneCore {
public:
    OneCore(const Runner& runner, int core, bool shares);
    ~OneCore();
    OneCore(const OneCore&) = delete;
    OneCore& operator=(const OneCore&) = delete;

private:
    const Runner& runner_;
    cpu_set_t of_process_, of_caller_;
    bool bound_ = false, shares_ = false;
};

// While it lives the calling thread keeps off the core where the first thread of a process is. Without effect where
// there is no other core, or the system does not say.
class OtherCore {
public:
    explicit OtherCore(pid_t process);
    ~OtherCore();
    OtherCore(const OtherCore&) = delete;
    OtherCore& operator=(const OtherCore&) = delete;

private:
    cpu_set_t before_;
    bool moved_ = false;
};

}  // namespace strop::judge
