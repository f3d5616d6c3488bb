#include "judge/count_watch.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/strings.h"

namespace strop::judge {

namespace {

constexpr double leap_factor = 4;  // calls of one batch are not all alike
constexpr double least_claim_ns =
    2e4;  // that a leap must amount to; a clock and a line of the cache are no matter then
constexpr double complete_share = 0.5;          // of what the calls take: as long before its end no batch is complete
constexpr Nanoseconds longest_reading{10'000};  // whoever takes longer had no core

}  // namespace

CountWatch watch_count(const std::function<int64_t()>& count, const std::function<bool()>& replied, int64_t calls,
                       Nanoseconds patience, Nanoseconds longest) {
    CountWatch seen;
    const Clock::time_point start = Clock::now();
    int64_t before = count();  // the watch may begin late
    // Whoever reads may lose the core between a reading and the clock: a leap is given all the time that it can have
    // had.
    Clock::time_point earlier = start, last = Clock::now(), changed = start;
    while (before < calls && last - start < longest && last - changed < patience) {
        const int64_t now_returned = count();
        const Clock::time_point now = Clock::now();
        if (now_returned != before) {
            changed = now;
            ++seen.steps;
            seen.fell = seen.fell || now_returned < before;
            if (now_returned - before > seen.largest_leap) {
                seen.largest_leap = now_returned - before;
                seen.leap_ns = static_cast<double>(Nanoseconds(now - earlier).count());
            }
        }
        before = now_returned;
        earlier = last;
        last = now;
    }
    while (before == calls && last - start < longest && !replied()) {
        const Clock::time_point now = Clock::now();
        seen.late_ns += static_cast<double>(std::min(Nanoseconds(now - last), longest_reading).count());
        last = now;
    }
    return seen;
}

std::string contradiction(const CountWatch& seen, int64_t calls, double call_ns, double waited_ns) {
    const double leap_claim_ns = static_cast<double>(seen.largest_leap - 1) * call_ns;
    const double late_ns = seen.late_ns - waited_ns, least_ns = complete_share * static_cast<double>(calls) * call_ns;
    if (seen.fell) return "the count of returned calls went back";
    if (leap_claim_ns > leap_factor * seen.leap_ns + least_claim_ns)
        return fmt::format("{} calls returned within {}, of which each is said to take {}", seen.largest_leap,
                           human_nanoseconds(seen.leap_ns), human_nanoseconds(call_ns));
    if (late_ns > least_ns && least_ns > least_claim_ns)
        return fmt::format("all of {} calls were said to have returned {} before the batch had ended", calls,
                           human_nanoseconds(late_ns));
    return {};
}

}  // namespace strop::judge
