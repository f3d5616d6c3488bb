// How the referee times: batches of calls from outside, every one with inputs that nobody has seen.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "judge/abandonment.h"
#include "judge/cache_lines.h"
#include "judge/check.h"
#include "judge/cores.h"
#include "judge/neighbours.h"
#include "judge/referee.h"
#include "stats/sample.h"

namespace strop::judge {

namespace {

const Seconds cold_limit{30};              // of a call by itself
constexpr double screen_batch_ns = 1.2e6;  // long enough that a wake-up is a few percent
constexpr size_t screen_samples = 3;
constexpr double shares_below_ns = 1e7;  // the referee a kernel's core: to wake another one is nothing in such a call
constexpr int warm_calls = 3;
constexpr double least_calls = 4, most_calls_of_a_batch = 1e7;
constexpr double few_samples_above_ns = 4e6;           // of a screening
constexpr double least_samples = 3, most_samples = 9;  // of a close look
constexpr double slow_samples_ns = 1e9;                // together
constexpr double disturbed_share = 0.04;               // of a part's time, that its threads had to wait for a core
constexpr double disturbed_least_ns = 2e5;             // and more than waking up for two batches takes
constexpr double most_waking = 0.4;                    // of a sample's time
constexpr int attempts_at_a_sample = 3;
constexpr double least_gain_of_a_cache = 1.25;  // over memory
constexpr size_t least_parts = 3;               // before a sample may end for the time that looking at outputs took

// How often calls that take so long are timed by themselves; close ones are timed in turns with others after that.
size_t samples_of(double call_ns, bool closely) {
    if (closely) return static_cast<size_t>(std::clamp(slow_samples_ns / call_ns, least_samples, most_samples));
    return call_ns > slow_call_ns ? 1 : call_ns > few_samples_above_ns ? 2 : screen_samples;
}

}  // namespace

void summarise(Measurement& time) {
    stats::Interval interval = stats::median_interval(time.samples_ns);
    time.median_ns = interval.value;
    time.low_ns = interval.low;
    time.high_ns = interval.high;
}

int64_t Referee::any_window(const Buffers& buffers) {
    return static_cast<int64_t>(random() % static_cast<uint64_t>(buffers.windows()));
}

int64_t Referee::usual_window(const Buffers& buffers) {
    const std::optional<int64_t> usual = buffers.usual_window();
    return usual ? *usual : any_window(buffers);
}

int64_t Referee::any_window_from(int64_t least, const Buffers& buffers) {
    return least + any_window(buffers) % (buffers.windows() - least);
}

// To inputs that the kernel's process has not met: where it can be, to such that other kernels have met, of which the
// expected values are remembered.
void Referee::turn(Runner& runner, size_t index) {
    Buffers& buffers = *runner.points()[index];
    if (const std::optional<size_t> usual = runner.unmet_turn(index)) buffers.turn_to(problem_, *usual);
    else buffers.turn(problem_, random());
}

// Where the last call of a batch looks. Small inputs have been turned, so that all windows are new; one address comes
// again and again, for those who keep results by address. Now and then they stay where they are and a few secret
// elements change instead, for those who keep results by a part of the content: two batches of a part follow each other
// in the same process. Larger ones have two views whose expected values are known,
// of the values as drawn and of renewed ones; a close look goes to others mostly, of which every one is renewed, and
// nobody in the kernel's process can tell which are which.
int64_t Referee::aim(Runner& runner, size_t index, bool at_known) {
    Buffers& buffers = *runner.points()[index];
    if (buffers.small()) {
        const std::optional<uint64_t> usual = buffers.usual_renewal();
        if (random() % 4 == 0 && !(usual && buffers.renewed())) {
            buffers.renew(problem_, usual ? *usual : random());
            return 0;
        }
        turn(runner, index);
        return random() % 2 == 0 ? 0 : usual_window(buffers);
    }
    if (!buffers.can_renew()) return 0;
    const std::optional<int64_t> other = buffers.other_known();
    if (at_known && (other ? random() % 2 == 0 : !proof_credit_.left())) {
        buffers.restore();
        return 0;
    }
    if (at_known && other) {
        buffers.show_other();
        return *other;
    }
    const int64_t window = any_window(buffers);
    buffers.renew(problem_, random());
    return window;
}

// One of every four samples, at a secret place: who keeps results by address never has most of a few samples. All parts
// of a sample, also when it is taken again: the lower quartile and the undisturbed would be those that were kept.
bool Referee::known_window_is_due() {
    if (dealt_ == 0) known_among_four_ = random() % 4;
    const bool due = dealt_ == known_among_four_;
    dealt_ = (dealt_ + 1) % 4;
    return due;
}

// A timed batch of a kernel is checked as well, outside of the clock: outputs are poisoned before it, and the last
// call's are compared where its expected values are known or may be had. (Baselines in Python are trusted: their
// outputs are their own.)
Runner::Outcome Referee::batch(Runner& runner, size_t index, uint32_t calls, Seconds limit, bool at_known, bool watch) {
    Buffers& buffers = *runner.points()[index];
    const uint32_t timed = static_cast<uint32_t>(buffers.timed());
    auto timed_call = [&](uint32_t window) {
        return watch ? runner.watched_call(index, calls, timed, window, limit)
                     : runner.call(index, calls, timed, window, limit);
    };
    if (runner.is_python()) return timed_call(0);
    const int64_t window = aim(runner, index, at_known), first = first_window(buffers, window, calls);
    InputSet last = buffers.seen(window, int64_t{calls} - 1);
    if (long_idle_) {  // cores that have slept are slow to wake, and that would count as waiting
        Runner::Outcome awake = call_unseen(runner, index, 1, limit);
        if (!awake.ok()) return awake;
        long_idle_ = false;
    }
    Sampling sampling{random(), false};
    poison(buffers, last, runner.on_device());
    Runner::Outcome outcome = timed_call(static_cast<uint32_t>(first));
    if (!outcome.ok() || runner.ignores_outputs()) return outcome;
    for (Credit* credit : {&proof_credit_, &glance_credit_}) credit->earn(outcome.outside_ns);
    if (!buffers.known(window) && !proof_credit_.left() && !(buffers.small() && window == 0)) return outcome;
    compare_last(runner, index, last, sampling, outcome);
    if (outcome.verdict == Verdict::nondeterministic)
        outcome.evidence = fmt::format("right at first, then after {} timed calls {}", calls, outcome.evidence);
    return outcome;
}

int64_t Referee::first_window(const Buffers& buffers, int64_t last, uint32_t calls) {
    const int64_t windows = buffers.windows();
    return ((last - (int64_t{calls} - 1)) % windows + windows) % windows;
}

// What the last call of a batch has left, with what the reference says to its inputs.
void Referee::compare_last(Runner& runner, size_t index, const InputSet& last, const Sampling& sampling,
                           Runner::Outcome& outcome) {
    Buffers& buffers = *runner.points()[index];
    outcome.note(runner.fetch(index, last.outputs));
    if (!outcome.ok()) return;
    const uint64_t seen = fingerprint(problem_, buffers, last, sampling.seed);
    InputSet set = expected_through(buffers, last.window);
    set.outputs = last.outputs;
    outcome.evidence = wrong_values(buffers, set, sampling);
    if (outcome.evidence.empty()) note_late_writes(runner, index, set, sampling.seed, seen, outcome);
    else outcome.verdict = Verdict::nondeterministic;
}

// Paid from the credit, unless it is known.
const InputSet& Referee::expected_through(Buffers& buffers, int64_t window) {
    const bool known = buffers.known(window) != nullptr;
    Clock::time_point start = Clock::now();
    const InputSet& set = expectation_.through(buffers, window);
    if (known) return set;
    proof_credit_.spend(Clock::now() - start);
    long_idle_ = true;
    return set;
}

Runner::Outcome Referee::call_unseen(Runner& runner, size_t index, uint32_t calls, Seconds limit) {
    const Buffers& buffers = *runner.points()[index];
    return runner.call(index, calls, static_cast<uint32_t>(buffers.timed()), static_cast<uint32_t>(any_window(buffers)),
                       limit);
}

void Referee::start_closely(Buffers& buffers) {
    if (buffers.can_turn()) buffers.turn(problem_, random());
    if (!buffers.can_renew() || buffers.small() || buffers.other_known()) return;
    const int64_t window = any_window_from(buffers.windows() / 8, buffers);  // for those who carry on (renew_once)
    buffers.renew(problem_, random());
    (void)expectation_.through(buffers, window);
}

// Nobody can foresee in which sample it happens. Where a kernel has a thread for each core a glance may take as long as
// several screenings, because it sees no call return for a long time.
Referee::Inside Referee::look_inside(Look look, Glances& glances) {
    const bool due =
        glances.among > 0 && static_cast<int>(random() % static_cast<uint64_t>(glances.among)) < glances.due;
    const bool credit = proof_credit_.left() && (look == Look::close || glance_credit_.left());
    const bool affordable = credit && random() % (look == Look::close ? 4 : 8) == 0;
    --glances.among;
    glances.due -= due;
    if (due) return Inside::calls;
    return !affordable ? Inside::nothing : random() % 2 == 0 ? Inside::calls : Inside::renewals;
}

double Referee::calls_of_long_batch(double batch_ns, double estimate_ns) {
    const double stretch = 1 + 0.3 * static_cast<double>(random() % 1000) / 1000;
    return std::clamp(stretch * batch_ns / estimate_ns, least_calls, most_calls_of_a_batch);
}

// A part of a sample. Short calls are timed by a long and a short batch, which tell the calls from the hand-shake and
// the wake-up; the lengths are random, so that a kernel cannot know which call is the last.
Runner::Outcome Referee::take_part(Runner& runner, size_t index, double estimate_ns, bool at_known, bool watch,
                                   stats::BatchPair& part) {
    Seconds limit(5 + 1e-9 * (20 * part_ns + 50 * estimate_ns));
    if (estimate_ns >= long_call_ns) {
        Runner::Outcome outcome = batch(runner, index, 1, limit, at_known, watch);
        part = {outcome.outside_ns, runner.handshake_ns()};
        return outcome;
    }
    part.long_calls = static_cast<uint32_t>(calls_of_long_batch(part_ns, std::max(1.0, estimate_ns)));
    part.short_calls = std::max(1u, part.long_calls / 6 + static_cast<uint32_t>(random() & 1));
    bool long_first = random() & 1;
    Runner::Outcome both;
    for (int i = 0; i < 2; ++i) {
        bool is_long = (i == 0) == long_first;
        Runner::Outcome outcome =
            batch(runner, index, is_long ? part.long_calls : part.short_calls, limit, at_known, watch);
        if (!outcome.ok()) return outcome;
        (is_long ? part.long_ns : part.short_ns) = outcome.outside_ns;
        both.outside_ns += outcome.outside_ns;
        both.waited_ns += outcome.waited_ns;
    }
    return both;
}

// Whoever shares the processor without sharing the system (another virtual machine, the host itself) takes its time in
// pieces of some microseconds to milliseconds, and a third of a millisecond may have seen none of it. So a sample is
// made of short parts, and it says what the undisturbed ones took.
Runner::Outcome Referee::sample_once(Runner& runner, size_t index, double estimate_ns, double target_ns, bool at_known,
                                     bool watch, Inside inside, Parts& parts) {
    const size_t expected = static_cast<size_t>(std::max(1.0, target_ns / std::max(part_ns, estimate_ns)));
    const size_t glance_at = random() % expected;  // nobody can foresee where
    const Clock::time_point start = Clock::now();
    double spent_ns = 0;
    auto enough = [&] {
        const bool slow = parts.pairs.size() >= least_parts && 1e9 * seconds_since(start) > 2 * target_ns;
        return spent_ns >= target_ns || slow;
    };
    auto look = [&] {
        return inside == Inside::calls ? glance(runner, index, estimate_ns)
                                       : renew_meanwhile(runner, index, estimate_ns);
    };
    do {
        Runner::Outcome outcome;
        stats::BatchPair part;
        if (inside != Inside::nothing && parts.pairs.size() == glance_at) outcome = look();
        if (outcome.ok()) outcome = take_part(runner, index, estimate_ns, at_known, watch, part);
        if (!outcome.ok()) return outcome;
        parts.pairs.push_back(part);
        parts.disturbed += outcome.waited_ns > disturbed_share * outcome.outside_ns + disturbed_least_ns;
        spent_ns += outcome.outside_ns;
    } while (!enough());
    return inside != Inside::nothing && parts.pairs.size() <= glance_at ? look() : Runner::Outcome{};
}

// Whether neighbours are loud is found out while every contender stands still: none of them has a say in it.
void Referee::await_quiet(Runner& runner) {
    if (neighbours_.patience.count() <= 0) return;
    runner.pause();
    neighbours_.patience -= wait_for_quiet(neighbours_.patience);
    runner.resume();
}

// The system counts a thread's waiting when it ends, which may be long after a part: one that waits behind a neighbour
// through a whole sample shows nothing until it is stopped.
bool Referee::had_no_core(Runner& runner, size_t parts, int64_t waited_ns, Clock::time_point since) {
    const double sample_ns = 1e9 * seconds_since(since);
    const double waking_ns = std::min(static_cast<double>(parts) * disturbed_least_ns, most_waking * sample_ns);
    runner.pause();
    const double waited = static_cast<double>(runner.waited_ns() - waited_ns);
    runner.resume();
    return waited > disturbed_share * sample_ns + std::max(disturbed_least_ns, waking_ns);
}

Runner::Outcome Referee::sample(Runner& runner, size_t index, double estimate_ns, double target_ns, Look look,
                                bool watch, Glances* glances, Measurement& time) {
    Parts parts;
    bool disturbed = true;
    const bool at_known = look == Look::screen || known_window_is_due();
    const bool closely = look == Look::close && watch;
    for (int attempt = 0; disturbed && attempt < attempts_at_a_sample; ++attempt) {
        if (attempt > 0) await_quiet(runner);
        parts = {};
        const Inside inside = attempt == 0 && glances ? look_inside(look, *glances) : Inside::nothing;
        const int64_t waited = closely ? runner.waited_ns() : 0;
        const Clock::time_point start = Clock::now();
        Runner::Outcome outcome = sample_once(runner, index, estimate_ns, target_ns, at_known, watch, inside, parts);
        if (!outcome.ok()) return outcome;
        if (inside != Inside::nothing && look == Look::screen) glance_credit_.spend(Clock::now() - start);
        disturbed = 2 * parts.disturbed > parts.pairs.size() ||
                    (closely && had_no_core(runner, parts.pairs.size(), waited, start));
        if (1e9 * seconds_since(start) > slow_call_ns) break;  // the next sample costs as much and tells more
    }
    time.samples_ns.push_back(stats::call_time_ns(parts.pairs));
    time.disturbed += disturbed;
    return {};
}

// Of a contender that works alone: `core`, or where the system has put it, which is `core` for those that follow. Who
// has threads would have all of them there: it stays where it is, and only the referee comes to the core to which its
// calling thread is bound, so as not to take that of another, which waits for the next call there.
std::unique_ptr<OneCore> Referee::core_of_round(const Runner& runner, bool alone, double call_ns,
                                                std::optional<int>& core) {
    if (alone && !core) core = core_of(runner.pid());
    const std::optional<int> own = alone ? core : only_core_of(runner.pid());
    return own ? std::make_unique<OneCore>(runner, *own, call_ns < shares_below_ns) : nullptr;
}

void Referee::time_screen(Runner& runner, size_t index, const EvaluationRequest& request, double first_ns,
                          PointResult& result) {
    auto known = request.best_ns.find(result.point.label);
    const bool may_leave = known != request.best_ns.end() && request.effort == Effort::screen;
    Abandonment abandonment(may_leave ? known->second : 0, runner.handshake_ns(),
                            runner.points()[index]->tensor_bytes());
    auto leave = [&](double call_ns) {
        result.time.samples_ns = {call_ns};
        result.time.abandoned = true;
        summarise(result.time);
    };
    double estimate = std::max(1.0, first_ns - runner.handshake_ns());
    if (estimate >= long_call_ns && abandonment.after_first_call(first_ns)) return leave(estimate);
    // The first call was cold: find out how long a warm one takes.
    for (bool ask = estimate < long_call_ns * 3; ask; ask = abandonment.doubtful()) {
        Runner::Outcome warm = call_unseen(runner, index, warm_calls, Seconds(60));
        if (!warm.ok()) {
            result.verdict = warm.verdict;
            result.evidence = warm.evidence;
            return;
        }
        // Hand-shake included: too long an estimate costs samples, too short a one a batch without end.
        estimate = std::max(50.0, warm.outside_ns / warm_calls);
        if (abandonment.after_warm_calls(warm.outside_ns, warm_calls)) return leave(estimate);
    }
    std::optional<int> core;
    const std::unique_ptr<OneCore> one_core = core_of_round(runner, runner.works_alone(), estimate, core);
    const bool watch = request.effort == Effort::full;  // it costs a fifth of a screening sample
    const Look look = watch ? Look::close : Look::screen;
    if (watch) start_closely(*runner.points()[index]);
    const size_t samples = samples_of(estimate, watch);
    Glances glances{watch ? 2 : 0, static_cast<int>(samples)};
    for (size_t i = 0; i < samples; ++i) {
        Runner::Outcome outcome = sample(runner, index, estimate, screen_batch_ns, look, watch, &glances, result.time);
        result.verdict = outcome.verdict;
        result.evidence = outcome.evidence;
        if (!outcome.ok()) return;
        double ns = result.time.samples_ns.back();
        estimate = std::clamp(ns, estimate / 8, estimate);
        const bool enough = abandonment.after_sample(ns);
        result.time.abandoned = enough && i + 1 < samples;
        if (enough) break;
    }
    summarise(result.time);
    Runner::Outcome possible = possible_time(runner, index, result.time.median_ns);
    if (possible.ok()) return screen_cold(runner, index, result);
    result.verdict = possible.verdict;
    result.evidence = possible.evidence;
}

// From half of it on something of them is gone when anything else has run; of tensors twice as large little stays from
// call to call, so that cold calls tell nothing new. Neither do they where that cache is as slow as memory (one that a
// virtual machine shares with a whole server).
bool Referee::fill_last_cache(const Buffers& buffers) const {
    const CacheLevel last = machine_.last_cache();
    const double read = last.read_bytes_per_second, memory = machine_.ceilings.memory_read;
    if (read > 0 && memory > 0 && read < least_gain_of_a_cache * memory) return false;
    const int64_t bytes = buffers.tensor_bytes();
    return 2 * bytes > last.bytes && bytes <= 2 * last.bytes;
}

void Referee::screen_cold(Runner& runner, size_t index, PointResult& result) {
    if (result.time.abandoned || runner.copies_inputs() || !fill_last_cache(*runner.points()[index])) return;
    for (size_t i = 0; i < cold_calls_of_a_screening; ++i) {
        const std::optional<Runner::Outcome> outcome = cold_call(runner, index, result.time.median_ns);
        if (!outcome) return;
        result.verdict = outcome->verdict;
        result.evidence = outcome->evidence;
        if (!outcome->ok()) return;
        result.cold.samples_ns.push_back(outcome->outside_ns);
    }
    summarise(result.cold);
}

// False where that cannot be done.
bool Referee::flush_from_caches(Buffers& buffers, const InputSet& set) {
    bool cold = true;
    for (const Place& place : set.inputs)
        cold = cold && judge::flush_from_caches(buffers.inputs().data() + place.data, place.data_bytes);
    for (const Place& place : buffers.slot(0))
        cold = cold && judge::flush_from_caches(buffers.outputs().data() + place.data, place.data_bytes);
    return cold;
}

// One by itself, less the hand-shake, with threads that are awake and code that is known, as in a program that computes
// something else between two calls: only the tensors are cold. Nothing where they cannot be made so.
std::optional<Runner::Outcome> Referee::cold_call(Runner& runner, size_t index, double usual_ns) {
    Buffers& buffers = *runner.points()[index];
    const InputSet& set = buffers.sets().back();
    const uint32_t timed = static_cast<uint32_t>(buffers.timed());
    const double empty_ns = runner.handshake_ns();
    Runner::Outcome outcome;
    if (usual_ns < wakes_by_itself_ns) outcome = runner.call(index, 1, timed, 0, cold_limit);
    if (!outcome.ok()) return outcome;
    if (!(runner.on_device() ? runner.make_cold(index) : flush_from_caches(buffers, set))) return std::nullopt;
    outcome = runner.call(index, 1, timed, 0, cold_limit);
    outcome.outside_ns -= std::min(empty_ns, 0.9 * outcome.outside_ns);
    return outcome;
}

}  // namespace strop::judge
