// Where the threads of a child are while it works: their instruction pointers, by library.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "base/clock.h"

namespace strop::judge {

struct Sighting {
    bool waiting = false;  // asleep, or in a call of the system (which yields, mostly): nothing else is known
    std::string library;   // file name of what is mapped there; empty: nothing known
    uint64_t address = 0;  // in that library, as a disassembler counts
};

// Stops one of the threads for some microseconds, `apart` on average and at irregular times, until `ended` says so or
// there are `most` sightings. Fewer, or none, where the system lets nobody look (ptrace(2)).
std::vector<Sighting> watch_threads(pid_t process, const std::vector<pid_t>& threads, size_t most, Nanoseconds apart,
                                    const std::function<bool()>& ended);

}  // namespace strop::judge
