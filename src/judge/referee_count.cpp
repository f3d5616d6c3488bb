// The count of returned calls, by which the referee knows where to look, is looked at itself.
#include <algorithm>

#include <fmt/format.h>

#include "judge/cores.h"
#include "judge/count_watch.h"
#include "judge/referee.h"
#include "stats/sample.h"

namespace strop::judge {

namespace {

constexpr double watched_batch_ns = 1e6;
constexpr int usual_watches = 3, watches_of_a_suspect = 8, telling_of_suspects = 6;
const Nanoseconds patience{20'000'000};  // for a process that waits for a core
const Seconds watch_limit{30};

}  // namespace

// A process that waits for a core, or a referee that does, can make one look strange, not most of them.
Runner::Outcome Referee::check_count(Runner& runner, size_t index, const Measurement& time) {
    const double median_ns = stats::median(time.samples_ns),
                 quickest_ns = *std::min_element(time.samples_ns.begin(), time.samples_ns.end());
    if (runner.is_opaque() || median_ns >= long_call_ns) return {};
    const Buffers& buffers = *runner.points()[index];
    int watches = 0, telling = 0;
    std::string found;
    while (watches < (telling == 0 ? usual_watches : watches_of_a_suspect)) {
        const uint32_t calls = static_cast<uint32_t>(calls_of_long_batch(watched_batch_ns, std::max(1.0, median_ns)));
        CountWatch seen;
        Runner::Glance meanwhile{Nanoseconds(0), [&] {
                                     const OtherCore apart(runner.pid());
                                     const Nanoseconds longest(static_cast<int64_t>(10 * watched_batch_ns));
                                     seen = watch_count([&] { return runner.progress(); },
                                                        [&] { return runner.has_replied(); }, calls, patience, longest);
                                 }};
        const int64_t waited = runner.waited_ns();
        Runner::Outcome outcome = runner.call(index, calls, static_cast<uint32_t>(buffers.timed()),
                                              static_cast<uint32_t>(any_window(buffers)), watch_limit, &meanwhile);
        if (!outcome.ok()) return outcome;
        // Calls that are quicker now than they were when they were timed are no strange ones; and where a kernel's
        // threads wait for cores, some calls of a batch are as quick as the quickest sample and others wait for
        // milliseconds.
        const double call_ns = std::min(quickest_ns, outcome.outside_ns / calls);
        const std::string strange =
            contradiction(seen, calls, call_ns, static_cast<double>(runner.waited_ns() - waited));
        ++watches;
        telling += !strange.empty();
        if (!strange.empty()) found = strange;
    }
    if (telling < telling_of_suspects) return {};
    return {Verdict::cheated,
            fmt::format("{}, at {}: its count of calls is not its own", found, strop::describe(buffers.point().dims)),
            0};
}

}  // namespace strop::judge
