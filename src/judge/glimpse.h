// What the referee sees of a kernel while a batch of its calls runs: outputs of calls that have returned, and how
// quickly calls return.
#pragma once

#include <cstdint>
#include <functional>
#include <random>
#include <vector>

#include "judge/buffers.h"

namespace strop::judge {

// A batch of calls that runs, and what can be told of it from outside.
struct RunningBatch {
    int64_t calls;
    double estimate_ns;                  // of a call
    std::function<int64_t()> returned;   // how many calls have, as the kernel's process says
    std::function<int64_t()> waited_ns;  // what its threads have waited for a core so far, all together
    // How long they have had one, those that have ended included; empty: none ends, so that all waiting is counted.
    std::function<int64_t()> ran_ns = {};
};

// An element of an output as it was found.
struct Found {
    size_t output;
    int64_t element;
    alignas(8) char bytes[8];
};

struct Glimpse {
    bool late = false;  // the batch was over
    int64_t call = -1;  // whose outputs they are, numbered in its batch; -1: nothing was seen
    std::vector<Found> found;
    double pace_ns = 0;  // a call took, between two returns; 0: not seen
    double work_ns = 0;  // of all threads, for a call likewise, whoever had to wait; 0: not seen
};

// Reads secret elements of what a call has written, for as long as no later call can have begun to write there, then
// the pace of the next few calls. Waits for the first call to return, a moment at most.
Glimpse look_at(const RunningBatch& batch, const Problem& problem, Buffers& buffers, std::mt19937_64& random);

// What a call takes between the next return and one some calls later, when no thread had to wait for a core and, where
// threads end, some thread always had one; 0 where the batch ended before that was seen, or nothing returned within a
// moment. `work_ns`: likewise how long its threads had a core for it, at the first look; no more than they had.
struct Pace {
    double ns = 0, work_ns = 0;
};
Pace pace(const RunningBatch& batch);

// Keep a core busy: for so long, and until the batch is over, a moment at most.
void spin(Nanoseconds duration);
void spin_to_the_end(const RunningBatch& batch);

}  // namespace strop::judge
