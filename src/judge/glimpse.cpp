#include "judge/glimpse.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>

#include "base/clock.h"

namespace strop::judge {

namespace {

constexpr int elements = 64, tries = 32;    // of short calls places are written to again before they are read
constexpr Nanoseconds shortest_span{4000};  // a reading of the clock and of the count is some percent of it
constexpr double most_calls_of_a_span = 4;
constexpr double waited_share = 0.1;               // of a span, that threads may take to wake up
constexpr Nanoseconds longest_wait{5'000'000};     // for a call that is not done, by a process that waits for a core
constexpr Nanoseconds longest_watch{200'000'000};  // a process may count as it likes, and never come to an end

// The count of returned calls once it is another than `before`, which it stays where that takes too long.
struct Return {
    int64_t count;
    Clock::time_point not_before, not_after;
};

Return next_return(const RunningBatch& batch, int64_t before) {
    const Nanoseconds limit = longest_wait + Nanoseconds(static_cast<int64_t>(2 * batch.estimate_ns));
    const Clock::time_point start = Clock::now();
    Return next{before, start, start};
    do {
        next.not_before = next.not_after;
        next.count = batch.returned();
        next.not_after = Clock::now();
    } while (next.count == before && next.not_after - start < limit);
    return next;
}

struct Span {
    double ns = 0;
    int64_t calls = 0;   // 0: the batch was over, or nothing returned
    double ran_ns = 0;   // of its threads; no less than all of it where that is not known
    double work_ns = 0;  // of them for a call; 0: not known
};

// Whoever reads may lose the core at any moment; that makes a span shorter.
Span next_span(const RunningBatch& batch) {
    const int64_t at_first = batch.returned();
    const Return first = next_return(batch, at_first);
    if (first.count == at_first || first.count >= batch.calls) return {};
    const double calls = std::clamp(static_cast<double>(batch.calls) / 8, 1.0, most_calls_of_a_span) - 0.5;
    const Nanoseconds some_calls(static_cast<int64_t>(calls * batch.estimate_ns));
    const int64_t ran = batch.ran_ns ? batch.ran_ns() : 0;
    // Nobody reads meanwhile: to take turns at a line of the cache costs a short call as much as its work.
    const Clock::time_point least = first.not_after + std::clamp(some_calls, shortest_span, longest_wait);
    spin(least - Clock::now());
    const int64_t before = batch.returned();
    if (before >= batch.calls) return {};
    const Return last = next_return(batch, before);
    if (last.count == before || last.count <= first.count) return {};
    Span span{static_cast<double>(Nanoseconds(last.not_before - first.not_after).count()), last.count - first.count};
    span.ran_ns = span.ns;
    if (!batch.ran_ns) return span;
    span.ran_ns = static_cast<double>(batch.ran_ns() - ran);
    // Who reads may have lost the core since: with the calls that have returned by now.
    span.work_ns = span.ran_ns / static_cast<double>(batch.returned() - first.count);
    return span;
}

// Of the call that has returned last; `older`: or of one before, but while it runs there is no time to lose: half of
// the places may be written to before the look is over.
void read_outputs(const RunningBatch& batch, const Problem& problem, Buffers& buffers, std::mt19937_64& random,
                  bool older, Glimpse& glimpse) {
    const int64_t returned = std::min(batch.returned(), batch.calls), slots = buffers.slots();
    glimpse.late = returned == batch.calls;
    if (returned < 1) return;
    const int64_t reach = glimpse.late ? slots : older ? slots / 2 : 1;
    const int64_t call =
        returned - 1 - static_cast<int64_t>(random() % static_cast<uint64_t>(std::min(returned, reach)));
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
        std::atomic_thread_fence(std::memory_order_acquire);
        if (batch.returned() >= call + slots) break;  // the call that writes here next has begun
        glimpse.found.push_back(one);
    }
    if (!glimpse.found.empty()) glimpse.call = call;
}

}  // namespace

void spin(Nanoseconds duration) {
    const Clock::time_point end = Clock::now() + duration;
    while (Clock::now() < end) {
    }
}

void spin_to_the_end(const RunningBatch& batch) {
    const Clock::time_point latest = Clock::now() + longest_watch;
    // Seldom: to take turns at a line of the cache costs a short call as much as its work.
    while (batch.returned() < batch.calls && Clock::now() < latest) spin(shortest_span);
}

Glimpse look_at(const RunningBatch& batch, const Problem& problem, Buffers& buffers, std::mt19937_64& random) {
    Glimpse glimpse;
    if (batch.returned() < 1) (void)next_return(batch, 0);
    for (int attempt = 0; attempt < tries && glimpse.call < 0 && !glimpse.late; ++attempt)
        read_outputs(batch, problem, buffers, random, attempt == 0, glimpse);
    if (!glimpse.late) {
        const Pace seen = pace(batch);
        glimpse.pace_ns = seen.ns;
        glimpse.work_ns = seen.work_ns;
    }
    return glimpse;
}

Pace pace(const RunningBatch& batch) {
    const Clock::time_point latest = Clock::now() + longest_watch;
    Pace pace;
    while (Clock::now() < latest) {
        const int64_t waited = batch.waited_ns();
        const Span span = next_span(batch);
        if (span.calls == 0) break;
        if (pace.work_ns == 0) pace.work_ns = span.work_ns;
        if (static_cast<double>(batch.waited_ns() - waited) < waited_share * span.ns &&
            span.ran_ns > (1 - waited_share) * span.ns) {
            pace.ns = span.ns / static_cast<double>(span.calls);
            break;
        }
    }
    return pace;
}

}  // namespace strop::judge
