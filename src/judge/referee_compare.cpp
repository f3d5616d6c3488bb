// The referee's paired comparisons: every contender is a living process, and they are timed in turns.
#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "base/interrupt.h"
#include "judge/cores.h"
#include "judge/neighbours.h"
#include "judge/referee.h"
#include "stats/paired.h"
#include "stats/sample.h"

namespace strop::judge {

namespace {

// A slow neighbour stays for milliseconds or for seconds: those who are compared have to take turns faster than that.
constexpr double sample_ns = 2.5e6;
constexpr double warm_below_ns = 2e6;     // shorter calls find cold caches and sleeping threads after a pause
constexpr double least_estimate_ns = 20;  // what a call is taken to last at least, however short it looked
constexpr double usual_overhead_ns = 5000;
// A launch is a round at least, and ends after so many or after this share of the time.
constexpr size_t most_rounds_of_a_launch = 8;
constexpr double most_of_a_launch = 0.125;
constexpr size_t most_rounds_of_a_screening = 12;
// After so many launches the ratios are looked at. A claim is wrong once in a hundred comparisons at most, however
// often it is looked at: the nominal level of Pocock's boundary (1977) for ten looks.
constexpr std::array<size_t, 10> looks = {3, 4, 6, 8, 12, 18, 28, 42, 64, 96};
constexpr double decision_confidence = 1 - 0.0018;
// Precise enough to stop early: half an interval, of the ratio or of the difference that was found.
constexpr double precise_ratio = 0.01, precise_difference = 0.05, practically_equal = 0.01;
constexpr double far_behind_another = 1.5;  // of one that is not the best: nobody wants to know more of it
constexpr double extension = 3;             // so many times a point's time, while one launch may have been disturbed
const Seconds look_at_neighbours_every{0.05};
constexpr double most_of_the_share = 3;  // what others left over goes to those who need it
constexpr size_t least_cold_calls = 5, most_cold_calls = 25;
constexpr size_t least_slow_cold_calls = 2;  // where they take more than twice their share
constexpr double cold_tells_below_ns = 5e7;  // where nobody asked for cold times, and they decide
constexpr double never_cold_above_ns = 5e8;  // fetching its tensors anew is nothing in such a call
constexpr double cold_share = 0.25;          // of the time of a point
const Seconds call_limit{30};
constexpr size_t least_quiet_samples = 3;

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

struct Relation {
    Ratio speedup;
    Decision decision = Decision::undecided;
    size_t launches = 0;  // that told it
};

// What is known of the moment a sample was taken in.
struct Moment {
    bool loud = false, disturbed = false;
};

// Without the samples of loud moments: 0 stands in their places, which is no time.
Measurement of_quiet_moments(Measurement time, const std::vector<Moment>& moments) {
    for (size_t i = 0; i < std::min(time.samples_ns.size(), moments.size()); ++i)
        if (moments[i].loud) {
            time.samples_ns[i] = 0;
            time.disturbed -= moments[i].disturbed;
        }
    return time;
}

void leave_out_loud_moments(Measurement& time, const std::vector<Moment>& moments) {
    const Measurement quiet = of_quiet_moments(time, moments);
    std::vector<double> samples;
    std::copy_if(quiet.samples_ns.begin(), quiet.samples_ns.end(), std::back_inserter(samples),
                 [](double ns) { return ns > 0; });
    if (samples.size() < least_quiet_samples) return;
    time.samples_ns = samples;
    time.disturbed = quiet.disturbed;
}

// So many launches have a round in which both were timed.
size_t paired_launches(const Measurement& first, const Measurement& other, const std::vector<size_t>& launches) {
    const size_t rounds = std::min(first.samples_ns.size(), other.samples_ns.size());
    size_t count = 0;
    for (size_t i = 0; i < launches.size(); ++i) {
        const size_t end = i + 1 < launches.size() ? launches[i + 1] : rounds;
        bool paired = false;
        for (size_t k = launches[i]; k < std::min(end, rounds); ++k)
            paired = paired || (first.samples_ns[k] > 0 && other.samples_ns[k] > 0);
        count += paired;
    }
    return count;
}

// Samples of the same rounds, taken next to each other.
Relation relate(const Measurement& first, const Measurement& other, const std::vector<size_t>& launches) {
    const std::vector<double>&a = first.samples_ns, &b = other.samples_ns;
    Relation relation{as_ratio(stats::paired_ratio(a, b, launches))};
    relation.launches = paired_launches(first, other, launches);
    if (!is_disturbed(first) && !is_disturbed(other))
        relation.decision = as_decision(stats::decide(stats::paired_ratio(a, b, launches, decision_confidence)));
    return relation;
}

// More samples would change nothing: both are as fast, or one is faster and it is known by how much, or it is far
// behind `best`, the fastest of the others, however loud it was.
bool is_settled(const Relation& relation, const Relation& best) {
    if (relation.speedup.low > std::max(best.speedup.high, far_behind_another * best.speedup.ratio)) return true;
    const double low = std::log(relation.speedup.low), high = std::log(relation.speedup.high);
    if (std::max(-low, high) < practically_equal) return true;
    return relation.decision != Decision::undecided &&
           0.5 * (high - low) <
               std::max(precise_ratio, precise_difference * std::abs(std::log(relation.speedup.ratio)));
}

// What a call costs was measured next to each sample, so that both saw the same clock and the same neighbours. No
// more is left out than leaves a tenth: the rest is work.
void leave_out_overhead(ContenderResult& result, std::vector<double> overheads, double most_ns) {
    for (double& overhead : overheads) overhead = std::min(overhead, most_ns);
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
    size_t index = 0;  // of the point in the runner
    ContenderResult result;
    double estimate_ns = 0;
    Glances glances;
    std::optional<size_t> smallest;  // of a Python baseline: the point of one element
    double most_overhead_ns = 0;     // what of it counts at most
    Measurement overhead;            // there, one sample a turn
    std::vector<Moment> moments;     // one per sample
    size_t looked = 0;               // at so many of them, when neighbours were looked at after them
    bool alone = false;              // one thread does all its work
    bool settled = false;            // how it stands to the first one: the time left is for the others

    // By quiet rounds where enough launches have one, else by all.
    Relation relate_to(const Timing& other, const std::vector<size_t>& launches) const {
        const Measurement ours = of_quiet_moments(result.time, moments),
                          theirs = of_quiet_moments(other.result.time, other.moments);
        const Relation quiet = relate(ours, theirs, launches);
        return quiet.launches >= looks.front() ? quiet : relate(result.time, other.result.time, launches);
    }
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
    // What a point leaves over of its time and patience is for those that follow.
    const double all_points = static_cast<double>(request.points.size());
    double left = request.seconds_per_point * all_points;
    Seconds patience(request.patience_seconds > 0 ? request.patience_seconds : left);
    if (request.effort == Effort::screen || !has_patience()) patience = Seconds(0);
    for (const ShapePoint& point : request.points) {
        check_interrupt();
        const double points = all_points - static_cast<double>(comparison.points.size());
        const Seconds limit(
            std::clamp(left / points, request.seconds_per_point, most_of_the_share * request.seconds_per_point));
        const double timed_before = comparison.time_seconds;
        neighbours_ = {};
        neighbours_.patience = patience / points;
        comparison.points.push_back(compare_point(request, built, point, limit, comparison));
        const Seconds waited = patience / points - neighbours_.patience;
        neighbours_ = {};
        patience -= waited;
        left -= comparison.time_seconds - timed_before - waited.count();
        bool of_baselines = point.dims == tiny_.dims;
        if (!in_sweep(problem_, point.dims) && !of_baselines) expectation_.forget(point);
    }
    return comparison;
}

std::vector<Built> Referee::build_contenders(const ComparisonRequest& request, Comparison& comparison) {
    std::vector<EvaluationRequest> kernels;
    for (const Contender& contender : request.contenders)
        if (contender.baseline.empty()) kernels.push_back({contender.kernel, contender.configuration, request.points});
    std::vector<Built> compiled = build(kernels), built;
    size_t next = 0;
    for (const Contender& contender : request.contenders) {
        built.push_back(contender.baseline.empty() ? std::move(compiled[next++]) : Built{});
        comparison.compile_seconds += built.back().seconds;
    }
    return built;
}

PointComparison Referee::compare_point(const ComparisonRequest& request, const std::vector<Built>& built,
                                       const ShapePoint& point, Seconds limit, Comparison& comparison) {
    Buffers& buffers = expectation_.at(point);
    std::vector<Timing> timings(request.contenders.size());
    {
        PhaseTimer timer(comparison.check_seconds);
        if (request.prove) start_closely(buffers);
        for (size_t c = 0; c < timings.size(); ++c)
            enter(request.contenders[c], built[c], buffers, request.effort, timings[c]);
    }
    PhaseTimer timer(comparison.time_seconds);
    const std::vector<size_t> launches = take_turns(timings, buffers, request, limit);
    time_cold(timings, buffers, request, cold_share * limit);
    PointComparison result{point, {}};
    for (size_t c = 0; c < timings.size(); ++c) {
        Timing& timing = timings[c];
        if (timing.running() && timing.own) check_again(timing, buffers, request);
        leave_out_overhead(timing.result, timing.overhead.samples_ns, timing.most_overhead_ns);
        if (timing.running() && timing.own)
            timing.note(possible_time(*timing.own, timing.index, stats::median(timing.result.time.samples_ns)));
        if (c > 0 && timings[0].running() && timing.running()) {
            const Relation relation = timings[0].relate_to(timing, launches);
            timing.result.speedup = relation.speedup;
            timing.result.decision = relation.decision;
        }
    }
    for (Timing& timing : timings) {
        leave_out_loud_moments(timing.result.time, timing.moments);
        summarise(timing.result.time);
        result.results.push_back(timing.result);
    }
    return result;
}

// Starts a contender, or wakes a baseline, and checks it before anything is timed.
void Referee::enter(const Contender& contender, const Built& built, Buffers& buffers, Effort effort, Timing& timing) {
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
    for (uint32_t set = every_set ? 0 : timed; set <= timed && outcome.ok(); ++set) {
        outcome = check(*timing.runner, timing.index, set, full, call_limit);
        if (every_set && outcome.ok())
            timing.result.error_share =
                std::max(timing.result.error_share, error_share(*timing.runner, timing.index, set));
    }
    timing.note(outcome);
    timing.alone = outcome.ok() && timing.runner->works_alone();
    timing.estimate_ns = std::max(least_estimate_ns, outcome.outside_ns);
    timing.runner->pause();
}

bool Referee::enter_baseline(const std::string& name, const Buffers& buffers, Timing& timing) {
    Baseline* baseline = find_baseline(name);
    if (!baseline) return timing.note(why_missing(name));
    if (baseline->runner->cores() != baseline->cores)
        return timing.note({Verdict::crashed, "somebody has bound its thread to other cores", 0});
    const std::vector<Buffers*>& known = baseline->runner->points();
    timing.index = static_cast<size_t>(std::find(known.begin(), known.end(), &buffers) - known.begin());
    if (timing.index == known.size())
        return timing.note({Verdict::unsupported, "baselines run at the problem's own shapes only", 0});
    timing.runner = baseline->runner.get();
    timing.runner->resume();
    timing.smallest = smallest_call(*baseline->runner);
    if (timing.smallest) timing.most_overhead_ns = most_overhead_ns();
    return true;
}

void Referee::launch(Timing& timing, Buffers& buffers) {
    timing.own = start(*timing.built, {&buffers});
    timing.runner = timing.own.get();
}

// Launch after launch, until the time is over or everything is settled: where each began, counted in rounds. A
// screening wants times of many shapes and no claims: one launch.
std::vector<size_t> Referee::take_turns(std::vector<Timing>& timings, Buffers& buffers,
                                        const ComparisonRequest& request, Seconds limit) {
    for (Timing& timing : timings) timing.glances = {request.prove ? 2 : 0, static_cast<int>(looks.front())};
    std::vector<size_t> launches;
    size_t rounds = 0;
    if (request.effort == Effort::screen) {
        take_rounds(timings, limit, most_rounds_of_a_screening);
        return {0};
    }
    neighbours_.matter = has_patience();
    const double most = neighbours_.matter ? extension : 1;
    const Seconds patience = neighbours_.patience;
    const Clock::time_point start = Clock::now();
    while (launches.size() < looks.back()) {
        const bool look = std::count(looks.begin(), looks.end(), launches.size()) > 0;
        const Seconds quiet = Clock::now() - start - (patience - neighbours_.patience);
        const bool over = launches.size() >= looks.front() && quiet > limit &&
                          (quiet > most * limit || !any_wants_launches(timings, launches));
        if (look) settle(timings, launches);
        if (over || (look && std::none_of(timings.begin() + 1, timings.end(), wants_turns))) break;
        for (Timing& timing : timings)
            if (!launches.empty() && !timing.settled) launch_again(timing, buffers);
        launches.push_back(rounds);
        rounds += take_rounds(timings, most_of_a_launch * limit, most_rounds_of_a_launch);
        look_at_neighbours(timings);
    }
    neighbours_.matter = false;
    return launches;
}

// Rounds in random order; whoever is not being measured is stopped. Their number.
size_t Referee::take_rounds(std::vector<Timing>& timings, Seconds limit, size_t most) {
    std::vector<size_t> order(timings.size());
    std::iota(order.begin(), order.end(), size_t{0});
    const Clock::time_point start = Clock::now();
    const Seconds patience_before = neighbours_.patience;
    size_t rounds = 0;
    while (rounds == 0 || (rounds < most && Clock::now() - start - (patience_before - neighbours_.patience) < limit)) {
        std::shuffle(order.begin(), order.end(), random_);
        std::optional<int> core = bound_core(timings);
        for (size_t c : order) {
            if (neighbours_.heard || seconds_since(neighbours_.looked_at) > look_at_neighbours_every.count())
                look_at_neighbours(timings);
            if (wants_turns(timings[c])) take_turn(timings[c], rounds == 0, core);
        }
        ++rounds;
    }
    return rounds;
}

void Referee::look_at_neighbours(std::vector<Timing>& timings) {
    if (!neighbours_.matter) return;
    const bool was_loud = neighbours_.loud;
    neighbours_.loud = neighbours_are_loud();
    for (Timing& timing : timings) {
        for (; timing.looked < timing.moments.size(); ++timing.looked)
            timing.moments[timing.looked].loud = timing.moments[timing.looked].loud || neighbours_.loud;
    }
    if (neighbours_.loud && neighbours_.patience.count() > 0) {
        if (!was_loud && neighbours_.looked_at != Clock::time_point{})
            neighbours_.patience -= Clock::now() - neighbours_.looked_at;
        neighbours_.patience -= wait_for_quiet(neighbours_.patience);
        neighbours_.loud = neighbours_.patience.count() <= 0;
    }
    neighbours_.looked_at = Clock::now();
    neighbours_.heard = false;
}

// OpenMP has bound the calling thread of somebody, in most cases to the first core.
std::optional<int> Referee::bound_core(const std::vector<Timing>& timings) {
    for (const Timing& timing : timings) {
        if (!wants_turns(timing)) continue;
        if (const std::optional<int> core = only_core_of(timing.runner->pid())) return core;
    }
    return std::nullopt;
}

bool Referee::wants_turns(const Timing& timing) { return timing.running() && !timing.settled; }

void Referee::settle(std::vector<Timing>& timings, const std::vector<size_t>& launches) {
    std::vector<Relation> relations(timings.size());
    Relation best;
    for (size_t c = 1; c < timings.size(); ++c) {
        if (!timings[c].running()) continue;
        relations[c] = timings.front().relate_to(timings[c], launches);
        if (best.launches == 0 || relations[c].speedup.ratio < best.speedup.ratio) best = relations[c];
    }
    for (size_t c = 1; c < timings.size(); ++c)
        timings[c].settled = timings[c].settled || (timings[c].running() && is_settled(relations[c], best));
}

bool Referee::any_wants_launches(const std::vector<Timing>& timings, const std::vector<size_t>& launches) const {
    return std::any_of(timings.begin() + 1, timings.end(), [&](const Timing& timing) {
        if (!wants_turns(timing)) return false;
        const Relation relation = timings.front().relate_to(timing, launches);
        return stats::wants_launches({relation.speedup.ratio, relation.speedup.low, relation.speedup.high},
                                     relation.launches);
    });
}

void Referee::launch_again(Timing& timing, Buffers& buffers) {
    if (!timing.running() || !timing.own) return;
    launch(timing, buffers);
    timing.note(timing.runner->prepare(timing.index, prepare_limit));
    timing.runner->pause();
}

void Referee::take_turn(Timing& timing, bool first_of_launch, std::optional<int>& core) {
    timing.runner->resume();
    std::unique_ptr<OneCore> one_core = core_of_round(*timing.runner, timing.alone, timing.estimate_ns, core);
    warm_up(timing, first_of_launch);
    Measurement& time = timing.result.time;
    const int disturbed = time.disturbed;
    if (timing.note(sample(*timing.runner, timing.index, timing.estimate_ns, sample_ns, Look::close, true,
                           &timing.glances, time))) {
        double ns = time.samples_ns.back();
        timing.estimate_ns =
            std::max(least_estimate_ns, std::clamp(ns, timing.estimate_ns / 8, 2 * timing.estimate_ns));
    }
    if (timing.smallest && timing.running()) take_overhead(timing);
    one_core.reset();
    timing.alone = timing.alone && timing.runner->threads().size() <= 1;
    timing.runner->pause();
    timing.moments.push_back({neighbours_.loud, time.disturbed > disturbed});
    neighbours_.heard = neighbours_.heard || timing.moments.back().disturbed;
}

void Referee::warm_up(Timing& timing, bool first_of_launch) {
    // A baseline's process goes on from launch to launch.
    const bool first = first_of_launch && (timing.own || timing.result.time.samples_ns.empty());
    if (!(first && timing.estimate_ns < wakes_by_itself_ns) && timing.estimate_ns >= warm_below_ns) return;
    uint32_t calls = timing.estimate_ns < 5e4 ? 10 : 1;
    Runner::Outcome warm = call_unseen(*timing.runner, timing.index, calls, call_limit);
    // The hand-shake included: too long an estimate costs samples, too short a one a batch without end.
    if (first && warm.ok()) timing.estimate_ns = std::min(timing.estimate_ns, warm.outside_ns / calls);
}

// What one call costs from Python: the same call on one element.
void Referee::take_overhead(Timing& timing) {
    std::vector<double>& samples = timing.overhead.samples_ns;
    double estimate = samples.empty() ? usual_overhead_ns : std::max(least_estimate_ns, samples.back());
    if (!sample(*timing.runner, *timing.smallest, estimate, sample_ns, Look::close, true, nullptr, timing.overhead)
             .ok())
        timing.smallest.reset();
}

// Single calls in turns. A framework that has copied its tensors has none of them cold: it gets no such time.
void Referee::time_cold(std::vector<Timing>& timings, Buffers& buffers, const ComparisonRequest& request,
                        Seconds limit) {
    if (!request.cold && !fill_last_cache(buffers)) return;
    std::vector<Timing*> order;
    for (Timing& timing : timings) {
        const bool tells = timing.estimate_ns < (request.cold ? never_cold_above_ns : cold_tells_below_ns);
        if (timing.running() && !timing.runner->copies_inputs() && tells) order.push_back(&timing);
    }
    const size_t least = request.effort == Effort::screen ? cold_calls_of_a_screening : least_cold_calls;
    const Clock::time_point start = Clock::now();
    for (size_t round = 0; round < most_cold_calls; ++round) {
        const Seconds spent = Clock::now() - start;
        if (spent > limit && round >= (spent > 2 * limit ? least_slow_cold_calls : least)) break;
        std::shuffle(order.begin(), order.end(), random_);
        std::optional<int> core = bound_core(timings);
        for (Timing* timing : order)
            if (timing->running() && !take_cold_call(*timing, core)) return;
    }
    for (Timing* timing : order) summarise(timing->result.cold);
}

// False where tensors cannot be made cold.
bool Referee::take_cold_call(Timing& timing, std::optional<int>& core) {
    timing.runner->resume();
    std::unique_ptr<OneCore> one_core = core_of_round(*timing.runner, timing.alone, timing.estimate_ns, core);
    const std::optional<Runner::Outcome> outcome = cold_call(*timing.runner, timing.index, timing.estimate_ns);
    one_core.reset();
    timing.runner->pause();
    if (!outcome) return false;
    if (!timing.note(*outcome)) return true;
    const std::vector<double>& overheads = timing.overhead.samples_ns;
    const double overhead_ns = overheads.empty() ? 0 : std::min(stats::median(overheads), timing.most_overhead_ns);
    timing.result.cold.samples_ns.push_back(outcome->outside_ns - std::min(overhead_ns, 0.9 * outcome->outside_ns));
    return true;
}

// The process that was timed is still right.
void Referee::check_again(Timing& timing, Buffers& buffers, const ComparisonRequest& request) {
    timing.runner->resume();
    if (!timing.note(request.prove ? look_closely(*timing.runner, timing.index, timing.result.time)
                                   : count_threads(*timing.runner)))
        return;
    const uint32_t timed = static_cast<uint32_t>(buffers.timed());
    Runner::Outcome outcome = check(*timing.runner, timing.index, timed, request.effort == Effort::full, call_limit);
    if (outcome.verdict == Verdict::wrong_output) outcome.verdict = Verdict::nondeterministic;
    timing.note(outcome);
}

}  // namespace strop::judge
