// What the referee looks for that no compared output tells: calls that are skipped, results that are kept or carried
// on, threads.
#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "base/strings.h"
#include "judge/check.h"
#include "judge/cores.h"
#include "judge/referee.h"
#include "stats/sample.h"

namespace strop::judge {

namespace {

constexpr int attempts_at_the_last_glance = 32;
// A batch that waited for a core, and was not seen to, hides one pace that is too slow.
constexpr int paces_of_the_last_glance = 3;
constexpr size_t least_wrong = 2;                      // of them, who keeps something of earlier inputs
constexpr int least_renewals = 3, most_renewals = 24;  // few elements change in some, many in others
constexpr Seconds time_of_renewals{0.012}, longest_trying{0.1};
constexpr int as_short_as_parts = 3;  // then each with a batch twice as long, up to this
constexpr double longest_glance_ns = 5e6;
constexpr Nanoseconds longest_wait_for_a_call{5'000'000};
constexpr Nanoseconds longest_in_a_store_buffer{200};  // some transfers of a line between cores
constexpr double longest_renewal_ns =
    8e7;  // by now it has lost its core to the referee for a while, however many want one
constexpr double shortest_device_renewal_ns = 3e6;
constexpr double last_calls = 3, shortest_rest_ns = 5e4;  // after a change on a device, before the batch is over
constexpr int64_t longest_wait_of_a_reply_ns = 20'000;    // from a device, by a thread that waits for a core
constexpr size_t least_glances = 6;                       // at a suspect
constexpr int most_glances = 24;                          // some come when the batch is over
constexpr double slow_glances_of_skippers = 0.75;
constexpr double shortest_call_ns = 20;        // with all that calling it takes
constexpr double out_of_pace = 1.4;            // of calls while a batch runs over those of all of it
constexpr double most_shares = 3;              // of a call's work, that one thread does for others which have no core
constexpr double stored_a_ns = 640;            // bytes, by one core at 5 GHz
constexpr double longer_than_believed = 1.25;  // of calls of whole batches over the claim: measured anew
constexpr double longer_than_honest = 2;       // over batches beside them: padded
constexpr int looks_at_lengths = 20;
constexpr double telling_pairs = 0.75;  // of those that disagree in one who pads
constexpr double whole_batch_ns = 2e6;  // by now a hand-shake is a percent
constexpr double clock_batch_ns = 5e7;  // no wake-up takes as long
constexpr int disagreements_that_count = 3;
constexpr uint32_t most_calls = 1 << 26;
const Seconds glance_limit{30}, whole_batch_limit{30};

// A thread that the referee or somebody else keeps from its core leaves its share of a call to the others, as long as
// that lasts; nobody has waited for a core then who would have been counted.
double slowest_honest_pace(const Runner& runner) {
    return out_of_pace * std::clamp(static_cast<double>(runner.threads().size()), 1.0, most_shares);
}

// What was written here is seen by all, and what others had written before is seen here: their stores, too, wait a
// while before they leave a core, and loads of the next call do not wait for them.
void wait_for_stores() {
    std::atomic_thread_fence(std::memory_order_seq_cst);
    spin(longest_in_a_store_buffer);
}

bool is_longer(double whole_batch_call_ns, double claimed_ns, double ratio) {
    return whole_batch_call_ns > ratio * claimed_ns + shortest_call_ns;
}

}  // namespace

// A batch like those that are timed, but the referee looks up at a secret moment: what the latest calls should have
// written has to be there, and calls have to return as quickly as all of them did. Who skips calls, and how many,
// cannot be told by the last call alone: a kernel's process can find out which one that is.
Runner::Outcome Referee::glance(Runner& runner, size_t index, double estimate_ns, int attempts, int paces) {
    Seen seen;
    Runner::Outcome outcome = glance_in_time(runner, index, estimate_ns, attempts, paces, seen);
    const bool wrong = outcome.verdict == Verdict::nondeterministic;
    const bool slow = outcome.ok() && seen.pace > out_of_pace && seen.pace > slowest_honest_pace(runner);
    return wrong || slow ? glance_at_suspect(runner, index, estimate_ns, outcome) : outcome;
}

// Who skips calls is found out nearly every time; threads that race are wrong now and then, and a core is lost now and
// then.
Runner::Outcome Referee::glance_at_suspect(Runner& runner, size_t index, double estimate_ns, Runner::Outcome first) {
    size_t looks = 0, telling = 0;
    std::vector<double> paces;
    const double slowest = slowest_honest_pace(runner);
    auto enough = [&] { return first.ok() ? paces.size() >= least_glances : looks >= least_glances; };
    for (int again = 0; again < most_glances && !enough(); ++again) {
        Seen seen;
        Runner::Outcome another = glance_in_time(runner, index, estimate_ns, attempts_at_a_glance, 1, seen);
        const bool is_wrong = another.verdict == Verdict::nondeterministic;
        if (!another.ok() && !is_wrong) return another;
        telling += is_wrong || seen.pace > slowest;
        looks += is_wrong || !seen.late;
        if (seen.pace > 0) paces.push_back(seen.pace);
        if (is_wrong && first.ok()) first = another;
    }
    if (first.ok() && enough() && stats::quantile(paces, 1 - slow_glances_of_skippers) > slowest) {
        first.verdict = Verdict::cheated;
        first.evidence = fmt::format(
            "a call that is seen to return took {:.1f} times what all of its batch took for one, at "
            "{}: it skips calls",
            stats::median(paces), strop::describe(runner.points()[index]->point().dims));
    } else if (!first.ok() && looks > 0 && 2 * telling >= looks) {
        first.verdict = Verdict::cheated;
        first.evidence += ": it skips calls";
    }
    return first;
}

// Some batches are over before the referee looks, or before it has seen calls return; some have to wait for a core.
Runner::Outcome Referee::glance_in_time(Runner& runner, size_t index, double estimate_ns, int attempts, int paces,
                                        Seen& seen) {
    if (runner.is_opaque() || runner.ignores_outputs() || estimate_ns >= long_call_ns ||
        runner.points()[index]->slots() < 2) {
        seen.late = false;
        return {};
    }
    Runner::Outcome outcome;
    double batch_ns = part_ns;
    for (int attempt = 1; outcome.ok() && (seen.late || seen.paces < paces) && attempt <= attempts; ++attempt) {
        outcome = glance_once(runner, index, estimate_ns, batch_ns, seen);
        if (attempt >= as_short_as_parts) batch_ns = std::min(2 * batch_ns, longest_glance_ns);
    }
    return outcome;
}

Runner::Outcome Referee::glance_once(Runner& runner, size_t index, double estimate_ns, double batch_ns, Seen& seen) {
    Buffers& buffers = *runner.points()[index];
    const double calls = calls_of_long_batch(batch_ns, std::max(shortest_call_ns, estimate_ns));
    const uint32_t count = static_cast<uint32_t>(calls);
    const double call_ns =
        std::max(shortest_call_ns, seen.call_ns > 0 ? std::min(seen.call_ns, estimate_ns) : estimate_ns);
    const double moment = (0.1 + 0.8 * static_cast<double>(random() % 1000) / 1000) * calls * call_ns;
    if (buffers.small()) buffers.turn(problem_, random());
    const int64_t first = any_window(buffers);
    Glimpse glimpse;
    const Nanoseconds begin(static_cast<int64_t>(moment));
    // Cores of a virtual machine may be halves of one: who looks takes turns at its units with the kernel, and calls
    // that are seen take longer than others. So the referee is as busy all the while, where that takes no thread's
    // core.
    const size_t at_rest = runner.threads().size();
    const bool busy = static_cast<int>(at_rest) < machine_.cores;
    Runner::Glance meanwhile{busy ? Nanoseconds(0) : begin, [&] {
                                 const OtherCore apart(runner.pid());
                                 RunningBatch running{count, call_ns, [&] { return runner.progress(); },
                                                      [&] { return runner.waited_ns(); }};
                                 if (busy) spin(begin);
                                 runner.meet_threads(at_rest);
                                 if (runner.makes_threads()) running.ran_ns = [&] { return runner.ran_ns(); };
                                 glimpse = look_at(running, problem_, buffers, random_);
                                 if (busy) spin_to_the_end(running);
                             }};
    const int64_t waited = runner.calling_thread_waited_ns(), ran = runner.ran_ns();
    Runner::Outcome outcome = runner.call(index, count, static_cast<uint32_t>(buffers.timed()),
                                          static_cast<uint32_t>(first), glance_limit, &meanwhile);
    const double work_ns = static_cast<double>(runner.ran_ns() - ran) / count;
    seen.call_ns = (outcome.outside_ns - static_cast<double>(runner.calling_thread_waited_ns() - waited)) / count;
    seen.pace = std::max(seen.pace, glimpse.pace_ns / std::max(seen.call_ns, estimate_ns));
    // Beside others hardly a moment passes in which no thread waits; the work of a call is the same.
    if (work_ns > 0 && seen.work == 0) seen.work = glimpse.work_ns / work_ns;
    seen.pace = std::max(seen.pace, seen.work);
    seen.paces += glimpse.pace_ns > 0;
    if (!outcome.ok() || glimpse.call < 0 || !seen.late) return outcome;  // once in time is enough of the reference
    seen.late = glimpse.late;
    return compare_seen(buffers, first, count, glimpse);
}

// With what the reference says to the inputs of that call.
Runner::Outcome Referee::compare_seen(Buffers& buffers, int64_t first, uint32_t calls, const Glimpse& glimpse) {
    InputSet set = buffers.seen((first + glimpse.call) % buffers.windows(), glimpse.call);
    Clock::time_point start = Clock::now();
    std::vector<std::vector<char>> expected = expectation_.values(buffers, set);
    proof_credit_.spend(Clock::now() - start);
    long_idle_ = true;
    for (const Found& one : glimpse.found) {
        const std::string wrong = wrong_element(buffers, set, one, expected);
        if (wrong.empty()) continue;
        return {Verdict::nondeterministic,
                fmt::format("call {} of a batch of {} had returned, and {} at {}", glimpse.call + 1, calls, wrong,
                            strop::describe(buffers.point().dims)),
                0};
    }
    return {};
}

// A batch like those that are timed, but secret elements of its inputs change while it runs, and its last call has to
// have seen them. Who carries something on from call to call, or has computed ahead, is wrong then: between the calls
// of a batch inputs move by a few elements only, and whoever knows that need not look at the others. The time is not
// taken.
Runner::Outcome Referee::renew_meanwhile(Runner& runner, size_t index, double estimate_ns, int attempts) {
    const Buffers& buffers = *runner.points()[index];
    if (runner.is_python() || runner.ignores_outputs() || estimate_ns >= long_call_ns || !buffers.can_renew())
        return {};
    size_t looks = 0, wrong = 0, disturbed = 0, wrong_disturbed = 0;
    Runner::Outcome first;
    double call_ns = std::max(shortest_call_ns, estimate_ns);
    double batch_ns = runner.on_device() ? shortest_device_renewal_ns : part_ns;
    // Threads that race are wrong now and then, whatever becomes of the inputs.
    // A batch of very short calls may be over whenever the change has come, however often it is tried.
    const Clock::time_point start = Clock::now();
    for (int attempt = 1; attempt <= attempts && (looks == 0 || (!first.ok() && looks < least_glances)); ++attempt) {
        if (looks == 0 && attempt > as_short_as_parts && Clock::now() - start > longest_trying) break;
        bool late = false;
        const int64_t waited = runner.calling_thread_waited_ns();
        Runner::Outcome outcome = renew_once(runner, index, call_ns, batch_ns, late);
        const bool is_wrong = outcome.verdict == Verdict::nondeterministic;
        if (!outcome.ok() && !is_wrong) return outcome;
        if (late && attempt >= as_short_as_parts) batch_ns = std::min(2 * batch_ns, longest_renewal_ns);
        // A device's work may be done long before a thread that waits for a core says so.
        const bool apart =
            runner.on_device() && runner.calling_thread_waited_ns() - waited > longest_wait_of_a_reply_ns;
        (apart ? disturbed : looks) += !late;
        (apart ? wrong_disturbed : wrong) += is_wrong;
        if (is_wrong && first.ok()) {
            first = outcome;
            attempts = std::max(attempts, most_glances);
        }
    }
    // Nobody escapes by keeping his own thread from its core; and who is seen that way only is wrong nearly every time.
    if (looks < least_wrong && 2 * wrong_disturbed > disturbed) wrong += wrong_disturbed;
    // Who was kept from the device in its last call looks like that once.
    if (wrong < least_wrong && runner.on_device()) return {};
    if (wrong >= least_wrong && is_right_undisturbed(runner, index, estimate_ns)) {
        first.verdict = Verdict::cheated;
        first.evidence += ": it keeps what depends on earlier inputs";
    }
    return first;
}

// In as many batches of as many calls, during which nothing changes. Who races is wrong here as well.
bool Referee::is_right_undisturbed(Runner& runner, size_t index, double estimate_ns) {
    Buffers& buffers = *runner.points()[index];
    const uint32_t timed = static_cast<uint32_t>(buffers.timed());
    for (size_t look = 0; look < least_glances; ++look) {
        const uint32_t calls =
            static_cast<uint32_t>(calls_of_long_batch(part_ns, std::max(shortest_call_ns, estimate_ns)));
        if (buffers.small()) turn(runner, index);
        buffers.restore();
        const InputSet last = buffers.seen(0, int64_t{calls} - 1);
        const Sampling sampling{random(), false};
        poison(buffers, last, runner.on_device());
        Runner::Outcome outcome =
            runner.call(index, calls, timed, static_cast<uint32_t>(first_window(buffers, 0, calls)), glance_limit);
        if (outcome.ok()) compare_last(runner, index, last, sampling, outcome);
        if (!outcome.ok()) return false;
    }
    return true;
}

// The moment is told by the calls that have returned; the clock says when to begin to look at them.
Runner::Outcome Referee::change_as_calls_return(Runner& runner, size_t index, int64_t first, const Change& change,
                                                bool& early, bool& last_has_begun) {
    const Runner::Glance meanwhile{change.expected / 2, [&] {
                                       const OtherCore apart(runner.pid());
                                       const Clock::time_point latest =
                                           Clock::now() + change.expected + longest_wait_for_a_call;
                                       while (runner.progress() < change.returned && Clock::now() < latest) {
                                       }
                                       early = runner.progress() <= change.anew;
                                       change.make();
                                       wait_for_stores();
                                       last_has_begun = runner.progress() + 2 > change.count;
                                   }};
    return runner.call(index, static_cast<uint32_t>(change.count),
                       static_cast<uint32_t>(runner.points()[index]->timed()), static_cast<uint32_t>(first),
                       glance_limit, &meanwhile);
}

// A device's calls are launched long before they run: the clock alone tells which of them do.
Runner::Outcome Referee::change_on_device(Runner& runner, size_t index, int64_t first, const Change& change,
                                          double call_ns, bool& last_has_begun) {
    const Nanoseconds due = change.expected + Nanoseconds(static_cast<int64_t>(runner.handshake_ns()));
    const Nanoseconds rest(static_cast<int64_t>(last_calls * call_ns + shortest_rest_ns));
    const Runner::Glance meanwhile{due, [&] {
                                       change.make();
                                       runner.send_changes(index);
                                       spin(rest);
                                       last_has_begun = runner.has_replied();
                                   }};
    return runner.call(index, static_cast<uint32_t>(change.count),
                       static_cast<uint32_t>(runner.points()[index]->timed()), static_cast<uint32_t>(first),
                       glance_limit, &meanwhile);
}

// Late: the change may have come when the last call had begun, or when none had returned, and then nobody was
// surprised. Who carries something on begins anew at window 0, so that calls after it are those that count.
Runner::Outcome Referee::renew_once(Runner& runner, size_t index, double& call_ns, double batch_ns, bool& late) {
    Buffers& buffers = *runner.points()[index];
    const int64_t count = static_cast<int64_t>(calls_of_long_batch(batch_ns, call_ns));
    if (buffers.small()) turn(runner, index);
    const std::optional<int64_t> other = buffers.small() ? std::nullopt : buffers.other_known();
    auto far_window = [&] { return any_window_from(std::min(count, buffers.windows() / 2), buffers); };
    const std::optional<int64_t> usual = buffers.usual_window();  // far as well
    const int64_t window = other ? *other : usual ? *usual : buffers.small() ? far_window() : 0;
    if (other) buffers.restore();
    else buffers.renew(problem_, random());
    InputSet last = buffers.seen(window, count - 1);
    const Sampling sampling{random(), false};
    poison(buffers, last, runner.on_device());
    const int64_t anew = window > 0 ? std::max<int64_t>(count - 1 - window, 0) : 0;
    // As often some calls before the end as some thousands: who begins anew every so often has to be met in between.
    const double after = std::pow(0.9 * static_cast<double>(count - anew), static_cast<double>(random() % 1000) / 1000);
    const int64_t returned = std::max(count - 1 - static_cast<int64_t>(after), anew + 1);
    const Nanoseconds expected(static_cast<int64_t>(static_cast<double>(returned) * call_ns));
    const Change change{count, anew, returned, expected, [&] { other ? buffers.show_other() : buffers.restore(); }};
    const int64_t first = first_window(buffers, window, static_cast<uint32_t>(count));
    bool last_has_begun = false;
    Runner::Outcome outcome = runner.on_device()
                                  ? change_on_device(runner, index, first, change, call_ns, last_has_begun)
                                  : change_as_calls_return(runner, index, first, change, late, last_has_begun);
    late |= last_has_begun;
    // It was estimated in another moment, perhaps a slower one.
    if (last_has_begun) call_ns = std::min(call_ns, outcome.outside_ns / static_cast<double>(count));
    if (last_has_begun || !outcome.ok()) return outcome;
    compare_last(runner, index, last, sampling, outcome);
    if (outcome.verdict == Verdict::nondeterministic)
        outcome.evidence =
            fmt::format("inputs changed while {} calls ran, and after the last of them {}", count, outcome.evidence);
    return outcome;
}

Runner::Outcome Referee::look_closely(Runner& runner, size_t index, Measurement& time) {
    const double median_ns = stats::median(time.samples_ns);
    Runner::Outcome outcome = glance(runner, index, median_ns, attempts_at_the_last_glance, paces_of_the_last_glance);
    if (outcome.ok()) outcome = check_count(runner, index, time);
    const Clock::time_point start = Clock::now();
    auto another = [&](int look) {
        return look < least_renewals || (look < most_renewals && Clock::now() - start < time_of_renewals);
    };
    for (int look = 0; outcome.ok() && another(look); ++look)
        outcome = renew_meanwhile(runner, index, median_ns, attempts_at_the_last_glance);
    if (outcome.ok()) outcome = compare_lengths(runner, index, time);
    if (outcome.ok()) outcome = meet_new_inputs(runner, index, time);
    if (outcome.ok()) outcome = count_threads(runner);
    if (outcome.ok()) outcome = compare_clocks(runner, index);
    if (outcome.ok() && !runner.is_opaque()) outcome.evidence = runner.changed_thread_state();
    if (!outcome.evidence.empty() && outcome.ok()) outcome.verdict = Verdict::cheated;
    return outcome.ok() || outcome.verdict == Verdict::cheated ? with_the_device_in_view(runner, index, outcome)
                                                               : outcome;
}

// A process that stands still may have left work on its device, which others wait for. And whoever waits for others
// looks like a cheat.
Runner::Outcome Referee::with_the_device_in_view(Runner& runner, size_t index, Runner::Outcome outcome) {
    const bool accused = !outcome.ok();
    if (!runner.on_device() || (!accused && !runner.device_is_busy(index))) return outcome;
    const bool others = runner.end_and_see_others(index);
    if (!others && accused) return outcome;
    outcome.verdict = others ? Verdict::nondeterministic : Verdict::cheated;
    outcome.evidence = !others ? "works on the device while none of its calls runs"
                               : (accused ? outcome.evidence + "; " : "") + "somebody else uses the device";
    return outcome;
}

// A call's time follows from the difference of a long and a short batch. A process that makes the short one longer (it
// may wait before it answers) makes that smaller. In a batch so long that the hand-shake is no part of it that matters,
// calls have to take what was claimed.
Runner::Outcome Referee::compare_lengths(Runner& runner, size_t index, Measurement& time) {
    const double median_ns = stats::median(time.samples_ns);
    if (runner.is_python() || runner.ignores_outputs() || median_ns >= long_call_ns) return {};
    double call_ns = median_ns;  // as batches are found to be: calls that are claimed to take nothing make them long
    for (int look = 0; look < looks_at_lengths; ++look) {
        Runner::Outcome outcome = whole_batch(runner, index, std::max(call_ns, median_ns), call_ns);
        if (!outcome.ok() || !is_longer(call_ns, median_ns, longer_than_believed)) return outcome;
    }
    return compare_lengths_in_pairs(runner, index, std::max(call_ns, median_ns), time);
}

// What calls take was claimed in another moment, when a neighbour may have been quieter: who is accused disagrees with
// itself, batch next to batch. A kernel that agrees with itself and not with its claim takes what it takes now, and
// nothing is decided by it.
Runner::Outcome Referee::compare_lengths_in_pairs(Runner& runner, size_t index, double estimate_ns, Measurement& time) {
    const double median_ns = stats::median(time.samples_ns);
    std::vector<double> wholes, claims;
    int telling = 0;
    for (int look = 0; look < looks_at_lengths; ++look) {
        double whole_ns = 0;
        Parts parts;
        Runner::Outcome outcome = whole_batch(runner, index, estimate_ns, whole_ns);
        if (outcome.ok())
            outcome = sample_once(runner, index, estimate_ns, whole_batch_ns, known_window_is_due(), true,
                                  Inside::nothing, parts);
        if (!outcome.ok()) return outcome;
        wholes.push_back(whole_ns);
        claims.push_back(stats::call_time_ns(parts.pairs));
        telling += is_longer(whole_ns, claims.back(), longer_than_honest);
    }
    const double whole_ns = stats::median(wholes);
    if (telling >= telling_pairs * looks_at_lengths)
        return {Verdict::cheated,
                fmt::format("calls of long batches take {} each, where shorter batches say {}, at {}: its batches wait",
                            human_nanoseconds(whole_ns), human_nanoseconds(stats::median(claims)),
                            strop::describe(runner.points()[index]->point().dims)),
                0};
    if (whole_ns <= median_ns) return {};
    for (double& ns : time.samples_ns) ns *= whole_ns / median_ns;
    time.disturbed = static_cast<int>(time.samples_ns.size());
    return {};
}

Runner::Outcome Referee::whole_batch(Runner& runner, size_t index, double estimate_ns, double& call_ns) {
    const uint32_t calls =
        static_cast<uint32_t>(calls_of_long_batch(2 * whole_batch_ns, std::max(shortest_call_ns, estimate_ns)));
    Runner::Outcome outcome = batch(runner, index, calls, whole_batch_limit, known_window_is_due(), true);
    call_ns = outcome.awake_ns() / calls;
    return outcome;
}

// Where calls are long some batch has settled it; parts of samples are too short to. Then batches grow until a delayed
// wake-up is no part of them that matters, and what the process waited for a core is taken off.
Runner::Outcome Referee::compare_clocks(Runner& runner, size_t index) {
    if (runner.is_python() || runner.clocks_agreed()) return {};
    int disagreed = 0;
    for (uint32_t calls = 1; calls <= most_calls && disagreed < disagreements_that_count;) {
        const Buffers& buffers = *runner.points()[index];
        Runner::Outcome outcome = runner.watched_call(index, calls, static_cast<uint32_t>(buffers.timed()),
                                                      static_cast<uint32_t>(any_window(buffers)), whole_batch_limit);
        if (!outcome.ok() || runner.clocks_agreed()) return outcome;
        const double batch_ns = outcome.awake_ns();
        if (batch_ns < clock_batch_ns) {
            calls *= 4;
            continue;
        }
        if (clocks_agree(outcome.inside_ns, batch_ns)) return {};
        if (++disagreed == disagreements_that_count)
            return {Verdict::cheated,
                    fmt::format("the clock in its process says {} where the referee's says {}",
                                human_nanoseconds(static_cast<double>(outcome.inside_ns)), human_nanoseconds(batch_ns)),
                    0};
    }
    return {};
}

// OpenMP's threads are known; others work behind the clock's back or live longer than a call should.
Runner::Outcome Referee::count_threads(const Runner& runner) const {
    const int threads = static_cast<int>(runner.threads().size()), most = 2 * machine_.cores + 2;
    if (threads <= most) return {};
    return {Verdict::cheated, fmt::format("keeps {} threads, on {} cores", threads, machine_.cores), 0};
}

// Every call writes its outputs; no core stores more than two vectors of 64 bytes a cycle. A sample is a difference of
// batches, and under load it can be anything: who is accused is seen in whole batches, hand-shake and wake-up included.
Runner::Outcome Referee::possible_time(Runner& runner, size_t index, double median_ns) {
    if (runner.is_opaque() || runner.ignores_outputs()) return {};
    const Buffers& buffers = *runner.points()[index];
    double bytes = 0;
    for (const Place& place : buffers.sets().back().outputs) bytes += static_cast<double>(place.data_bytes);
    const double least_ns = bytes / (machine_.cores * stored_a_ns);
    double most_ns = median_ns;
    for (uint32_t calls = 1; most_ns < least_ns && calls < most_calls; calls *= 8) {
        const uint32_t some = calls + static_cast<uint32_t>(random() % calls);
        Runner::Outcome outcome = batch(runner, index, some, whole_batch_limit, known_window_is_due(), false);
        if (!outcome.ok()) return outcome;
        if (outcome.outside_ns / some < least_ns)
            return {
                Verdict::cheated,
                fmt::format("{} calls take {} at {}, where the outputs of one cannot be written in less than {}: it "
                            "skips calls",
                            some, human_nanoseconds(outcome.outside_ns), strop::describe(buffers.point().dims),
                            human_nanoseconds(least_ns)),
                0};
        if (outcome.outside_ns > whole_batch_ns) most_ns = outcome.outside_ns / some;
    }
    return {};
}

}  // namespace strop::judge
