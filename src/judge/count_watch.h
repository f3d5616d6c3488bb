// The count of returned calls lies in memory that the kernel's process writes, so it may say anything. What it cannot
// do is to look like calls that take as long as is claimed without such calls.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "base/clock.h"

namespace strop::judge {

// What a count did while a batch ran.
struct CountWatch {
    int64_t steps = 0;         // how often it was seen to change
    int64_t largest_leap = 0;  // calls that returned between two readings,
    double leap_ns = 0;        // which were so far apart
    bool fell = false;
    double late_ns = 0;  // all calls had returned, and there was no reply; while the watcher was awake
};

// Reads it until it reaches `calls` and a reply is there, stays the same for `patience`, or `longest` is over.
CountWatch watch_count(const std::function<int64_t()>& count, const std::function<bool()>& replied, int64_t calls,
                       Nanoseconds patience, Nanoseconds longest);

// Why such a count is not that of calls of `call_ns` each; empty: it may be. `waited_ns`: what the process waited for a
// core meanwhile.
std::string contradiction(const CountWatch& seen, int64_t calls, double call_ns, double waited_ns);

}  // namespace strop::judge
