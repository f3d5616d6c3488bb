// Who watches a process has to run while it runs: the system likes to wake a process on the core of whoever woke it,
// and where there are more processes than cores the two then take turns.
#pragma once

#include <sched.h>
#include <sys/types.h>

namespace strop::judge {

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
