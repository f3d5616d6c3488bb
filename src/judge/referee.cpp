#include "judge/referee.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include <fmt/format.h>

#include "base/error.h"
#include "base/hash.h"
#include "base/strings.h"
#include "judge/check.h"
#include "stats/sample.h"

namespace strop::judge {

namespace {

constexpr double abandon_ratio = 1.6;        // slower than the best by this after one batch: enough is known
constexpr double screen_batch_ns = 1.2e6;    // long enough that a wake-up is a few percent
constexpr size_t screen_samples = 3;
constexpr double long_call_ns = 1e6;         // a call this long is a batch by itself
constexpr double few_samples_above_ns = 4e6;
constexpr int64_t cheap_bytes = 1 << 18;     // inputs this small change before every batch, larger ones now and then
constexpr double disturbed_share = 0.04;     // of a sample's time, that its threads had to wait for a core
constexpr double disturbed_least_ns = 2e5;   // and more than waking up for two batches takes
constexpr int attempts_at_a_sample = 3;
constexpr double stored_a_ns = 640;          // bytes, by one core at 5 GHz
constexpr double remembers_ratio = 1.5, remembers_least_ns = 2e3;   // of calls with new inputs over known ones
const Seconds prepare_limit{60}, first_call_limit{10}, new_inputs_limit{30};

}  // namespace

Referee::Referee(const Problem& problem, const Machine& machine, const RefereeOptions& options)
    : problem_(problem), machine_(machine), options_(options), toolchain_(machine), folder_("strop-judge"),
      expectation_(problem_, options.seed, options.reference_limit), random_(mix64(options.seed)) {}

Referee::~Referee() = default;

std::string Referee::key(const EvaluationRequest& request) const {
    return evaluation_key(request, toolchain_.description() + join(options_.flags, " "), machine_.fingerprint,
                          problem_.hash);
}

void Referee::reseed(uint64_t seed) {
    random_.seed(mix64(seed));
    expectation_.reseed(seed);
    PhaseTimer timer(baseline_seconds_);
    for (Baseline& baseline : baselines_) {
        baseline.runner->resume();
        for (size_t i = 0; i < baseline.runner->points().size() && baseline.runner->alive(); ++i)
            baseline.runner->prepare(i, prepare_limit);
        baseline.runner->pause();
    }
}

std::vector<Buffers*> Referee::buffers_for(const std::vector<ShapePoint>& points) {
    std::vector<Buffers*> buffers;
    for (const ShapePoint& point : points) buffers.push_back(&expectation_.at(point));
    return buffers;
}

namespace {

template <typename T>
std::vector<double> as_doubles(const void* data, int64_t count) {
    const T* values = static_cast<const T*>(data);
    return std::vector<double>(values, values + count);
}

std::vector<double> as_doubles(const void* data, DType dtype, int64_t count) {
    switch (dtype) {
        case DType::float32: return as_doubles<float>(data, count);
        case DType::float64: return as_doubles<double>(data, count);
        case DType::int32: return as_doubles<int32_t>(data, count);
        case DType::int64: return as_doubles<int64_t>(data, count);
        case DType::uint8:
        case DType::boolean: return as_doubles<uint8_t>(data, count);
    }
    return {};
}

}  // namespace

TestVector Referee::test_vector(const ShapePoint& point) {
    Buffers& buffers = expectation_.at(point);
    const InputSet& set = buffers.sets()[static_cast<size_t>(buffers.flush_sets())];
    TestVector vector{point, {}, {}, {}, {}};
    for (size_t t = 0; t < problem_.inputs.size(); ++t)
        vector.inputs.push_back(as_doubles(buffers.input(set, t), problem_.inputs[t].dtype,
                                           element_count(problem_, problem_.inputs[t], point.dims)));
    for (size_t t = 0; t < problem_.outputs.size(); ++t) {
        DType dtype = problem_.outputs[t].dtype;
        vector.expected.push_back(as_doubles(buffers.expected(set, t), is_floating(dtype) ? DType::float64 : dtype,
                                             element_count(problem_, problem_.outputs[t], point.dims)));
        double relative = is_floating(dtype) ? set.tolerance[t] : 0;
        vector.absolute.push_back(problem_.tolerance ? problem_.tolerance->absolute : relative * set.scale[t]);
        vector.relative.push_back(problem_.tolerance ? problem_.tolerance->relative : relative);
    }
    return vector;
}

// ---- one kernel ------------------------------------------------------------------------------------

std::vector<Evaluation> Referee::evaluate(const std::vector<EvaluationRequest>& requests) {
    std::vector<Build> builds;
    for (const EvaluationRequest& request : requests)
        builds.push_back({request.kernel.source, request.configuration, request.kernel.space, options_.flags, false});
    std::vector<Built> built = toolchain_.build(problem_, builds, folder_.path(), machine_.cores);
    std::vector<Evaluation> evaluations;
    for (size_t i = 0; i < requests.size(); ++i) {
        Evaluation evaluation;
        evaluation.key = key(requests[i]);
        evaluation.kernel = requests[i].kernel.id;
        evaluation.configuration = requests[i].configuration;
        evaluation.compile_seconds = built[i].seconds;
        judge(requests[i], built[i], evaluation);
        evaluations.push_back(std::move(evaluation));
    }
    return evaluations;
}

void Referee::judge(const EvaluationRequest& request, const Built& built, Evaluation& evaluation) {
    if (!built.ok) {
        evaluation.verdict = Verdict::compile_failed;
        evaluation.evidence = built.message;
        return;
    }
    std::vector<ShapePoint> points;
    for (const ShapePoint& point : request.points)
        if (may_be_called(request.kernel, bindings_of(problem_, point.dims))) points.push_back(point);
    if (points.empty()) {
        evaluation.verdict = Verdict::unsupported;
        evaluation.evidence = "its condition holds at none of the shapes";
        return;
    }
    // Small ones first: a hopeless kernel is dropped before it costs anything.
    std::vector<Buffers*> buffers = buffers_for(points);
    std::stable_sort(buffers.begin(), buffers.end(),
                     [](Buffers* a, Buffers* b) { return a->tensor_bytes() < b->tensor_bytes(); });
    std::unique_ptr<Runner> runner;
    {
        PhaseTimer timer(evaluation.time_seconds);
        runner = Runner::kernel(built, problem_, buffers, machine_.cores);
    }
    for (size_t i = 0; i < buffers.size(); ++i) {
        PointResult result;
        result.point = buffers[i]->point();
        bool go_on = judge_point(*runner, i, request, evaluation, result);
        if (result.verdict != Verdict::ok) {
            evaluation.verdict = result.verdict;
            evaluation.evidence = result.evidence;
        }
        evaluation.points.push_back(std::move(result));
        if (!go_on) break;
    }
    PhaseTimer timer(evaluation.time_seconds);
    runner.reset();
}

bool Referee::judge_point(Runner& runner, size_t index, const EvaluationRequest& request, Evaluation& evaluation,
                          PointResult& result) {
    Buffers& buffers = *runner.points()[index];
    bool full = request.effort == Effort::full;
    auto failed = [&](const Runner::Outcome& outcome) {
        result.verdict = outcome.verdict;
        result.evidence = outcome.evidence;
        return false;
    };
    {
        PhaseTimer timer(evaluation.time_seconds);
        Runner::Outcome prepared = runner.prepare(index, prepare_limit);
        if (!prepared.ok()) return failed(prepared);
    }
    uint32_t flush = static_cast<uint32_t>(buffers.flush_sets()), sets = static_cast<uint32_t>(buffers.sets().size());
    double first_ns = 0;
    {
        PhaseTimer timer(evaluation.check_seconds);
        // On large shapes a screening compares the timed set only: the flush one waits for the full judgement.
        uint32_t begin = full || !buffers.large() ? 0 : flush;
        uint32_t end = full ? sets : flush + 1;
        for (uint32_t set = begin; set < end; ++set) {
            Runner::Outcome outcome = check(runner, index, set, full, first_call_limit);
            if (!outcome.ok()) return failed(outcome);
            first_ns = outcome.outside_ns;
        }
    }
    PhaseTimer timer(evaluation.time_seconds);
    time_screen(runner, index, request, first_ns, result);
    if (full && result.verdict == Verdict::ok) {
        Runner::Outcome outcome = meet_new_inputs(runner, index);
        if (outcome.ok()) outcome = count_threads(runner);
        if (!outcome.ok()) return failed(outcome);
    }
    return result.verdict == Verdict::ok;
}

Runner::Outcome Referee::check(Runner& runner, size_t index, uint32_t set, bool everything, Seconds limit) {
    Buffers& buffers = *runner.points()[index];
    Sampling sampling{random(), everything || !buffers.large()};
    poison(problem_, buffers, buffers.sets()[set], sampling);
    Runner::Outcome outcome = runner.call(index, 1, set, 1, limit);
    uint64_t seen = 0;
    if (outcome.ok() && runner.is_python()) {
        Runner::Outcome published = runner.publish(limit);
        if (!published.ok()) outcome = published;
    } else if (outcome.ok()) {
        seen = fingerprint(problem_, buffers, buffers.sets()[set], sampling.seed);
    }
    if (!outcome.ok()) {
        outcome.evidence += fmt::format(" at {}", strop::describe(buffers.point().dims));
        return outcome;
    }
    outcome.evidence = wrong_output(problem_, buffers, buffers.sets()[set], sampling);
    if (outcome.evidence.empty()) outcome.evidence = wrote_outside(buffers, buffers.sets()[set]);
    if (!outcome.evidence.empty()) outcome.verdict = Verdict::wrong_output;
    else if (!runner.is_python()) note_late_writes(buffers, set, sampling.seed, seen, outcome);
    return outcome;
}

void Referee::note_late_writes(Buffers& buffers, uint32_t set, uint64_t seed, uint64_t seen, Runner::Outcome& outcome) {
    if (fingerprint(problem_, buffers, buffers.sets()[set], seed) == seen) return;
    outcome.verdict = Verdict::cheated;
    outcome.evidence = fmt::format("its outputs changed after the call had returned, at {}",
                                   strop::describe(buffers.point().dims));
}

// What a kernel may have kept by address is stale from now on.
void Referee::change_inputs(Buffers& buffers) {
    size_t first = static_cast<size_t>(buffers.flush_sets());
    if (buffers.sets().size() - first < 2) return;
    if (buffers.tensor_bytes() > cheap_bytes && random() % 8 != 0) return;
    buffers.exchange_values(first, first + 1);
}

// Who keeps results by content answers faster to inputs that it has met. Before both kinds of calls the same memory is
// written by the same code, so that caches are in the same state; what the calls give is not compared, only how long
// they take.
Runner::Outcome Referee::meet_new_inputs(Runner& runner, size_t index) {
    Buffers& buffers = *runner.points()[index];
    uint32_t set = static_cast<uint32_t>(buffers.flush_sets());
    std::vector<std::vector<char>> known;
    for (size_t t = 0; t < problem_.inputs.size(); ++t) {
        const char* at = buffers.input(buffers.sets()[set], t);
        known.emplace_back(at, at + buffers.sets()[set].inputs[t].data_bytes);
    }
    const uint64_t often = random();
    std::vector<double> met, fresh;
    Runner::Outcome outcome;
    // Under load anything can look apart once, and an honest kernel must not be accused: what looks apart is looked at
    // twice more, and every single call must have told the same story.
    auto apart = [&] {
        return stats::quantile(fresh, 0) > remembers_ratio * stats::quantile(met, 0.75) + remembers_least_ns;
    };
    int rounds = buffers.large() ? 2 : 9, looks = 0;
    do {
        for (int round = 0; round < rounds && outcome.ok(); ++round)
            for (bool change : {round % 2 == 0, round % 2 == 1}) {
                buffers.refill(problem_, set, often);
                outcome = runner.call(index, 1, set, 1, new_inputs_limit);
                if (!outcome.ok()) break;
                buffers.refill(problem_, set, change ? random() : often);
                outcome = runner.call(index, 1, set, 1, new_inputs_limit);
                if (!outcome.ok()) break;
                (change ? fresh : met).push_back(outcome.outside_ns);
            }
        rounds = std::max(rounds, 5);
    } while (outcome.ok() && apart() && ++looks < 3);
    for (size_t t = 0; t < known.size(); ++t)
        std::memcpy(buffers.input(buffers.sets()[set], t), known[t].data(), known[t].size());
    if (!outcome.ok()) return outcome;
    if (!apart()) return {};
    return {Verdict::cheated,
            fmt::format("takes {} with inputs that it has met and {} with new ones at {}: it keeps results",
                        human_nanoseconds(stats::median(met)), human_nanoseconds(stats::median(fresh)),
                        strop::describe(buffers.point().dims)),
            0};
}

// OpenMP's threads are known; others work behind the clock's back or live longer than a call should.
Runner::Outcome Referee::count_threads(const Runner& runner) const {
    int threads = runner.threads(), most = 2 * machine_.cores + 2;
    if (threads <= most) return {};
    return {Verdict::cheated, fmt::format("keeps {} threads, on {} cores", threads, machine_.cores), 0};
}

// A timed batch of a kernel is checked as well, outside of the clock: outputs are poisoned before it, and the last
// call's are compared. The timed sets take turns, and how many calls there are is random, so that who skips calls
// leaves another set's values behind. (Baselines are trusted: their outputs are their own.)
Runner::Outcome Referee::batch(Runner& runner, size_t index, uint32_t calls, Seconds limit, bool watch) {
    Buffers& buffers = *runner.points()[index];
    uint32_t first = static_cast<uint32_t>(buffers.flush_sets());
    uint32_t sets = static_cast<uint32_t>(buffers.sets().size()) - first;
    auto timed_call = [&] {
        int64_t waited = watch ? runner.waited_ns() : 0;
        Runner::Outcome outcome = runner.call(index, calls, first, sets, limit);
        if (watch) outcome.waited_ns = static_cast<double>(runner.waited_ns() - waited);
        return outcome;
    };
    if (runner.is_python()) return timed_call();
    change_inputs(buffers);
    uint32_t set = first + (calls - 1) % sets;
    const InputSet& last = buffers.sets()[set];
    Sampling sampling{random(), false};
    poison(problem_, buffers, last, sampling);
    Runner::Outcome outcome = timed_call();
    if (!outcome.ok()) return outcome;
    uint64_t seen = fingerprint(problem_, buffers, last, sampling.seed);
    outcome.evidence = wrong_output(problem_, buffers, last, sampling);
    if (outcome.evidence.empty()) {
        note_late_writes(buffers, set, sampling.seed, seen, outcome);
        return outcome;
    }
    outcome.verdict = Verdict::nondeterministic;
    outcome.evidence = fmt::format("right at first, then after {} timed calls {}", calls, outcome.evidence);
    return outcome;
}

// One sample: nanoseconds per call. Short calls are timed as the difference of a long and a short batch, which takes
// the hand-shake and the wake-up out; the lengths are random, so that a kernel cannot know which call is the last.
Runner::Outcome Referee::sample_once(Runner& runner, size_t index, double estimate_ns, double target_ns, bool watch,
                                     double& ns) {
    Seconds limit(5 + 1e-9 * (20 * target_ns + 50 * estimate_ns));
    if (estimate_ns >= long_call_ns) {
        uint32_t calls = static_cast<uint32_t>(std::max(1.0, std::round(target_ns / estimate_ns)));
        Runner::Outcome outcome = batch(runner, index, calls, limit, watch);
        ns = std::max(0.0, outcome.outside_ns - runner.handshake_ns()) / calls;
        return outcome;
    }
    double stretch = 1 + 0.3 * static_cast<double>(random() % 1000) / 1000;
    uint32_t longer = static_cast<uint32_t>(std::clamp(stretch * target_ns / std::max(1.0, estimate_ns), 6.0, 1e7));
    uint32_t shorter = std::max(1u, longer / 6 + static_cast<uint32_t>(random() & 1));
    bool long_first = random() & 1;
    double outside[2] = {};
    Runner::Outcome both;
    for (int i = 0; i < 2; ++i) {
        bool is_long = (i == 0) == long_first;
        Runner::Outcome outcome = batch(runner, index, is_long ? longer : shorter, limit, watch);
        if (!outcome.ok()) return outcome;
        outside[is_long] = outcome.outside_ns;
        both.outside_ns += outcome.outside_ns;
        both.waited_ns += outcome.waited_ns;
    }
    ns = (outside[1] - outside[0]) / (longer - shorter);
    // A disturbed short batch can swallow the difference; then the long batch alone bounds the time from above.
    if (ns <= 0) ns = outside[1] / longer;
    return both;
}

Runner::Outcome Referee::sample(Runner& runner, size_t index, double estimate_ns, double target_ns, bool watch,
                                Measurement& time) {
    double ns = 0;
    bool disturbed = true;
    for (int attempt = 0; disturbed && attempt < attempts_at_a_sample; ++attempt) {
        Runner::Outcome outcome = sample_once(runner, index, estimate_ns, target_ns, watch, ns);
        if (!outcome.ok()) return outcome;
        disturbed = outcome.waited_ns > disturbed_share * outcome.outside_ns + disturbed_least_ns;
    }
    time.samples_ns.push_back(ns);
    time.disturbed += disturbed;
    return {};
}

void summarise(Measurement& time) {
    stats::Interval interval = stats::median_interval(time.samples_ns);
    time.median_ns = interval.value;
    time.low_ns = interval.low;
    time.high_ns = interval.high;
}

void Referee::time_screen(Runner& runner, size_t index, const EvaluationRequest& request, double first_ns,
                          PointResult& result) {
    auto known = request.best_ns.find(result.point.label);
    double best = known == request.best_ns.end() ? 0 : known->second;
    double handshake = runner.handshake_ns();
    double estimate = std::max(1.0, first_ns - handshake);
    if (estimate < long_call_ns * 3) {   // the first call was cold: find out how long a warm one takes
        Runner::Outcome warm = runner.call(index, 3, static_cast<uint32_t>(runner.points()[index]->flush_sets()), 1,
                                           Seconds(60));
        if (!warm.ok()) {
            result.verdict = warm.verdict;
            result.evidence = warm.evidence;
            return;
        }
        // Hand-shake included: too long an estimate costs samples, too short a one a batch without end.
        estimate = std::max(50.0, warm.outside_ns / 3);
    }
    const bool watch = request.effort == Effort::full;   // it costs a fifth of a screening sample
    size_t samples = request.effort == Effort::full ? 9 : estimate > few_samples_above_ns ? 2 : screen_samples;
    for (size_t i = 0; i < samples; ++i) {
        Runner::Outcome outcome = sample(runner, index, estimate, screen_batch_ns, watch, result.time);
        result.verdict = outcome.verdict;
        result.evidence = outcome.evidence;
        if (!outcome.ok()) return;
        double ns = result.time.samples_ns.back();
        estimate = std::clamp(ns, estimate / 8, estimate);
        if (i == 0 && best > 0 && ns > abandon_ratio * best && request.effort == Effort::screen) {
            result.time.abandoned = true;
            break;
        }
    }
    summarise(result.time);
    Runner::Outcome possible = possible_time(runner, index, result.time.median_ns);
    if (possible.ok()) return;
    result.verdict = possible.verdict;
    result.evidence = possible.evidence;
}

// Every call writes its outputs; no core stores more than two vectors of 64 bytes a cycle.
Runner::Outcome Referee::possible_time(const Runner& runner, size_t index, double median_ns) const {
    if (runner.is_python()) return {};
    const Buffers& buffers = *runner.points()[index];
    double bytes = 0;
    for (const Place& place : buffers.sets().back().outputs) bytes += static_cast<double>(place.data_bytes);
    double least_ns = bytes / (machine_.cores * stored_a_ns);
    if (!(median_ns < least_ns)) return {};
    return {Verdict::cheated,
            fmt::format("takes {} at {}, where its outputs cannot be written in less than {}: it skips calls",
                        human_nanoseconds(median_ns), strop::describe(buffers.point().dims), human_nanoseconds(least_ns)),
            0};
}

}  // namespace strop::judge
