// The referee's paired comparisons: every contender is a living process, and they are timed in turns.
#include <algorithm>
#include <numeric>

#include "base/interrupt.h"
#include "judge/referee.h"
#include "stats/paired.h"
#include "stats/sample.h"

namespace strop::judge {

namespace {

constexpr double sample_target_ns = 2.5e6;
constexpr double warm_below_ns = 2e6;        // shorter calls find cold caches and sleeping threads after a pause
constexpr double least_estimate_ns = 20;     // what a call is taken to last at least, however short it looked
constexpr double usual_overhead_ns = 5000;
constexpr size_t least_rounds = 5, most_rounds = 60, rounds_in_any_case = 3,
                 rounds_before_a_launch = 2;
const Seconds prepare_limit{60}, call_limit{30};

Ratio as_ratio(const stats::Interval& interval) { return {interval.value, interval.low, interval.high}; }

Decision as_decision(stats::Answer answer) {
    switch (answer) {
        case stats::Answer::faster: return Decision::faster;
        case stats::Answer::slower: return Decision::slower;
        case stats::Answer::undecided: break;
    }
    return Decision::undecided;
}

// Others had a core so often that no answer can be given, whatever the samples say.
bool is_disturbed(const Measurement& time) { return disturbed_share(time) > disturbed_enough_to_tell; }

// Samples of the same rounds, taken next to each other. A process may be lucky or unlucky with its pages and cores for
// as long as it lives, which no number of its samples tells: the interval covers what each of two launches said.
void relate(const ContenderResult& first, ContenderResult& other, size_t second_launch) {
    const std::vector<double>&a = first.time.samples_ns, &b = other.time.samples_ns;
    const size_t pairs = std::min(a.size(), b.size()), split = std::min(second_launch, pairs);
    auto ratio_of = [&](size_t begin, size_t end) {
        auto part = [&](const std::vector<double>& all) {
            return std::vector<double>(all.begin() + static_cast<ptrdiff_t>(begin), all.begin() + static_cast<ptrdiff_t>(end));
        };
        return stats::paired_ratio(part(a), part(b));
    };
    stats::Interval ratio = ratio_of(0, pairs);
    for (auto [begin, end] : {std::pair(size_t{0}, split), std::pair(split, pairs)}) {
        if (begin == end || end - begin == pairs) continue;
        const double launch = ratio_of(begin, end).value;
        ratio.low = std::min(ratio.low, launch);
        ratio.high = std::max(ratio.high, launch);
    }
    other.speedup = as_ratio(ratio);
    if (!is_disturbed(first.time) && !is_disturbed(other.time)) other.decision = as_decision(stats::decide(ratio));
}

// What a call costs was measured next to each sample, so that both saw the same clock and the same neighbours. No
// more is left out than leaves a tenth: the rest is work.
void leave_out_overhead(ContenderResult& result, const std::vector<double>& overheads) {
    std::vector<double>& samples = result.time.samples_ns;
    for (size_t i = 0; i < std::min(samples.size(), overheads.size()); ++i)
        samples[i] -= std::min(overheads[i], 0.9 * samples[i]);
    if (!overheads.empty()) result.overhead_ns = stats::median(overheads);
}

}  // namespace

struct Referee::Timing {
    std::unique_ptr<Runner> own;   // a kernel's; baselines live on in the referee
    const Built* built = nullptr;  // of a kernel
    Runner* runner = nullptr;
    size_t index = 0;              // of the point in the runner
    ContenderResult result;
    double estimate_ns = 0;
    Glances glances;
    std::optional<size_t> smallest;   // of a Python baseline: the point of one element
    Measurement overhead;             // there, one sample a turn

    bool running() const { return runner && result.verdict == Verdict::ok; }
    bool note(const Runner::Outcome& outcome) {
        result.verdict = outcome.verdict;
        result.evidence = outcome.evidence;
        return outcome.ok();
    }
};

Comparison Referee::compare(const ComparisonRequest& request) {
    Comparison comparison;
    double reference_before = reference_seconds();
    baselines();
    buffers_for(request.points);
    comparison.reference_seconds = reference_seconds() - reference_before;
    std::vector<Built> built = build_contenders(request, comparison);
    for (const ShapePoint& point : request.points) {
        check_interrupt();
        comparison.points.push_back(compare_point(request, built, point, comparison));
        bool of_baselines = point.dims == tiny_.dims;
        if (!in_sweep(problem_, point.dims) && !of_baselines) expectation_.forget(point);
    }
    return comparison;
}

std::vector<Built> Referee::build_contenders(const ComparisonRequest& request, Comparison& comparison) {
    std::vector<Build> builds;
    for (const Contender& contender : request.contenders)
        if (contender.baseline.empty())
            builds.push_back({contender.kernel.source, contender.configuration, contender.kernel.space, options_.flags,
                              false});
    std::vector<Built> compiled = toolchain_.build(problem_, builds, folder_.path(), machine_.cores);
    std::vector<Built> built;
    size_t next = 0;
    for (const Contender& contender : request.contenders) {
        built.push_back(contender.baseline.empty() ? compiled[next++] : Built{});
        comparison.compile_seconds += built.back().seconds;
    }
    return built;
}

PointComparison Referee::compare_point(const ComparisonRequest& request, const std::vector<Built>& built,
                                       const ShapePoint& point, Comparison& comparison) {
    Buffers& buffers = expectation_.at(point);
    std::vector<Timing> timings(request.contenders.size());
    {
        PhaseTimer timer(comparison.check_seconds);
        if (request.prove) start_closely(buffers);
        for (size_t c = 0; c < timings.size(); ++c)
            enter(request.contenders[c], built[c], buffers, request.effort, timings[c]);
    }
    PhaseTimer timer(comparison.time_seconds);
    const size_t second_launch = take_turns(timings, buffers, request);
    PointComparison result{point, {}};
    for (size_t c = 0; c < timings.size(); ++c) {
        Timing& timing = timings[c];
        if (timing.running() && timing.own) check_again(timing, buffers, request);
        leave_out_overhead(timing.result, timing.overhead.samples_ns);
        summarise(timing.result.time);
        if (timing.running() && timing.own)
            timing.note(possible_time(*timing.own, timing.index, timing.result.time.median_ns));
        if (c > 0 && timings[0].running() && timing.running()) relate(result.results[0], timing.result, second_launch);
        result.results.push_back(timing.result);
    }
    return result;
}

// Starts a contender, or wakes a baseline, and checks it before anything is timed.
void Referee::enter(const Contender& contender, const Built& built, Buffers& buffers, Effort effort,
                    Timing& timing) {
    timing.result.name = contender.name;
    bool full = effort == Effort::full;
    const Dimensions& dims = buffers.point().dims;
    if (!contender.baseline.empty()) {
        if (!enter_baseline(contender.baseline, buffers, timing)) return;
    } else if (!may_be_called(contender.kernel, bindings_of(problem_, dims))) {
        timing.note({Verdict::unsupported, "its condition does not hold here", 0});
        return;
    } else if (!built.ok) {
        timing.note({Verdict::compile_failed, built.message, 0});
        return;
    } else {
        timing.built = &built;
        launch(timing, buffers);
    }
    Runner::Outcome outcome = timing.runner->prepare(timing.index, prepare_limit);
    bool every_set = full && timing.own;
    const uint32_t timed = static_cast<uint32_t>(buffers.timed());
    for (uint32_t set = every_set ? 0 : timed; set <= timed && outcome.ok(); ++set)
        outcome = check(*timing.runner, timing.index, set, full, call_limit);
    timing.note(outcome);
    timing.estimate_ns = std::max(least_estimate_ns, outcome.outside_ns);
    timing.runner->pause();
}

bool Referee::enter_baseline(const std::string& name, const Buffers& buffers, Timing& timing) {
    Baseline* baseline = find_baseline(name);
    if (!baseline) return timing.note({Verdict::unsupported, "not installed", 0});
    const std::vector<Buffers*>& known = baseline->runner->points();
    timing.index = static_cast<size_t>(std::find(known.begin(), known.end(), &buffers) - known.begin());
    if (timing.index == known.size())
        return timing.note({Verdict::unsupported, "baselines run at the problem's own shapes only", 0});
    timing.runner = baseline->runner.get();
    timing.runner->resume();
    timing.smallest = smallest_call(*baseline->runner);
    return true;
}

void Referee::launch(Timing& timing, Buffers& buffers) {
    timing.own = Runner::kernel(*timing.built, problem_, {&buffers}, machine_.cores);
    timing.runner = timing.own.get();
}

// Rounds in random order; whoever is not being measured is stopped. Half-way kernels get another process. The number
// of rounds before that.
size_t Referee::take_turns(std::vector<Timing>& timings, Buffers& buffers, const ComparisonRequest& request) {
    const double seconds = request.seconds_per_point;
    for (Timing& timing : timings) timing.glances = {request.prove ? 2 : 0, static_cast<int>(least_rounds)};
    std::vector<size_t> order(timings.size());
    std::iota(order.begin(), order.end(), size_t{0});
    Clock::time_point start = Clock::now();
    size_t second_launch = 0;
    for (size_t round = 0; round < most_rounds; ++round) {
        double spent = seconds_since(start);
        if (round >= least_rounds && spent > seconds) break;
        if (round >= rounds_in_any_case && spent > 4 * seconds) break;
        const bool half_way = round >= rounds_before_a_launch && (spent > seconds / 2 || round == most_rounds / 2);
        if (second_launch == 0 && half_way) {
            second_launch = round;
            for (Timing& timing : timings) launch_again(timing, buffers);
        }
        std::shuffle(order.begin(), order.end(), random_);
        for (size_t c : order)
            if (timings[c].running()) take_turn(timings[c], round == 0 || round == second_launch);
    }
    return second_launch;
}

void Referee::launch_again(Timing& timing, Buffers& buffers) {
    if (!timing.running() || !timing.own) return;
    launch(timing, buffers);
    timing.note(timing.runner->prepare(timing.index, prepare_limit));
    timing.runner->pause();
}

void Referee::take_turn(Timing& timing, bool first) {
    timing.runner->resume();
    if (first || timing.estimate_ns < warm_below_ns) {
        uint32_t calls = timing.estimate_ns < 5e4 ? 10 : 1;
        Runner::Outcome warm = call_unseen(*timing.runner, timing.index, calls, call_limit);
        // The hand-shake included: too long an estimate costs samples, too short a one a batch without end.
        if (first && warm.ok()) timing.estimate_ns = std::min(timing.estimate_ns, warm.outside_ns / calls);
    }
    Measurement& time = timing.result.time;
    if (timing.note(glance_perhaps(*timing.runner, timing.index, timing.estimate_ns, Look::close, timing.glances)) &&
        timing.note(sample(*timing.runner, timing.index, timing.estimate_ns, sample_target_ns, Look::close, true, time))) {
        double ns = time.samples_ns.back();
        timing.estimate_ns = std::max(least_estimate_ns, std::clamp(ns, timing.estimate_ns / 8, 2 * timing.estimate_ns));
    }
    if (timing.smallest && timing.running()) take_overhead(timing);
    timing.runner->pause();
}

// What one call costs from Python: the same call on one element.
void Referee::take_overhead(Timing& timing) {
    std::vector<double>& samples = timing.overhead.samples_ns;
    double estimate = samples.empty() ? usual_overhead_ns : std::max(least_estimate_ns, samples.back());
    if (!sample(*timing.runner, *timing.smallest, estimate, sample_target_ns, Look::close, true, timing.overhead).ok())
        timing.smallest.reset();
}

// The process that was timed is still right.
void Referee::check_again(Timing& timing, Buffers& buffers, const ComparisonRequest& request) {
    timing.runner->resume();
    double median_ns = stats::median(timing.result.time.samples_ns);
    if (!timing.note(request.prove ? look_closely(*timing.runner, timing.index, median_ns)
                                   : count_threads(*timing.runner)))
        return;
    const uint32_t timed = static_cast<uint32_t>(buffers.timed());
    Runner::Outcome outcome = check(*timing.runner, timing.index, timed, request.effort == Effort::full, call_limit);
    if (outcome.verdict == Verdict::wrong_output) outcome.verdict = Verdict::nondeterministic;
    timing.note(outcome);
}

}  // namespace strop::judge
