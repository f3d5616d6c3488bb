#include "judge/glimpse.h"

#include <algorithm>
#include <chrono>
#include <cstring>

#include "base/clock.h"

namespace strop::judge {

namespace {

constexpr int elements = 64;
constexpr Nanoseconds shortest_span{4000};   // a reading of the clock and of the progress is some percent of it
constexpr double most_calls_of_a_span = 4;
constexpr Nanoseconds longest_wait{5'000'000};   // for a call that is not done, by a process that waits for a core

// The number of returned calls once it is another than `before`, and when; `before` where that takes too long.
int64_t next_return(const Progress& progress, int64_t before, double estimate_ns, Clock::time_point& when) {
    const Nanoseconds limit = longest_wait + Nanoseconds(static_cast<int64_t>(2 * estimate_ns));
    const Clock::time_point start = Clock::now();
    int64_t now;
    do {
        now = progress();
        when = Clock::now();
    } while (now == before && when - start < limit);
    return now;
}

}  // namespace

Glimpse look_at(const Progress& progress, const Problem& problem, Buffers& buffers, int64_t calls, double estimate_ns,
                std::mt19937_64& random) {
    Glimpse glimpse;
    Clock::time_point when;
    int64_t returned = progress();
    if (returned < 1) returned = next_return(progress, 0, estimate_ns, when);
    returned = std::min(returned, calls);
    glimpse.late = returned == calls;
    if (returned < 1) return glimpse;
    // While it runs there is no time to lose: half of the places may be written to before the look is over.
    const int64_t slots = buffers.slots(), places_back = std::min(returned, glimpse.late ? slots : slots / 2);
    const int64_t call = returned - 1 - static_cast<int64_t>(random() % static_cast<uint64_t>(places_back));
    const std::vector<Place>& places = buffers.slot(call % slots);
    for (int i = 0; i < elements; ++i) {
        Found one;
        one.output = random() % places.size();
        const int64_t size = static_cast<int64_t>(size_of(problem.outputs[one.output].dtype));
        const int64_t count = places[one.output].data_bytes / size;
        if (count == 0) continue;
        one.element = static_cast<int64_t>(random() % static_cast<uint64_t>(count));
        std::memcpy(one.bytes, buffers.outputs().data() + places[one.output].data + one.element * size,
                    static_cast<size_t>(size));
        if (progress() >= call + slots) break;   // the call that writes here next has begun
        glimpse.found.push_back(one);
    }
    if (!glimpse.found.empty()) glimpse.call = call;
    if (!glimpse.late) glimpse.pace_ns = pace_ns(progress, calls, estimate_ns);
    return glimpse;
}

double pace_ns(const Progress& progress, int64_t calls, double estimate_ns) {
    Clock::time_point begin, end;
    const int64_t at_first = progress(), first = next_return(progress, at_first, estimate_ns, begin);
    if (first == at_first || first >= calls) return 0;
    const double span = std::clamp(static_cast<double>(calls) / 8, 1.0, most_calls_of_a_span) - 0.5;
    const Nanoseconds some_calls(static_cast<int64_t>(span * estimate_ns));
    // Nobody reads meanwhile: to take turns at a line of the cache costs a short call as much as its work.
    const Clock::time_point least = begin + std::clamp(some_calls, shortest_span, longest_wait);
    while (Clock::now() < least) {
    }
    const int64_t before = progress();
    if (before >= calls) return 0;
    const int64_t last = next_return(progress, before, estimate_ns, end);
    if (last == before || last <= first) return 0;
    return static_cast<double>(Nanoseconds(end - begin).count()) / static_cast<double>(last - first);
}

}  // namespace strop::judge
