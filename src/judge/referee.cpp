#include "judge/referee.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/error.h"
#include "base/hash.h"
#include "base/strings.h"
#include "core/half.h"
#include "core/least_time.h"
#include "judge/check.h"
#include "judge/python_kernel.h"
#include "judge/rehearsal.h"
#include "judge/tripwire.h"
#include "problem/cpp_reference.h"

namespace strop::judge {

namespace {

constexpr uint32_t screened_unusual = 2;  // sets that a screening looks at, beside the declared ones
constexpr double slow_check_ns = 5e6;     // calls for which it looks at fewer
// A first call may take so many times as long as the reference, within bounds: most that take longer never return.
constexpr double times_the_reference = 200;
constexpr double implausible_share = 0.5;       // of the least time that the machine's ceilings allow
constexpr double times_the_idle_handshake = 2;  // the machine was quieter then, perhaps
const Seconds least_first_call{2}, most_first_call{10};

Seconds first_call_limit(const Buffers& buffers) {
    return std::clamp(times_the_reference * buffers.reference_time(), least_first_call, most_first_call);
}

}  // namespace

Referee::Referee(const Problem& problem, const Machine& machine, const RefereeOptions& options)
    : problem_(problem),
      machine_(machine),
      options_(options),
      toolchain_(machine),
      folder_("strop-judge"),
      expectation_(problem_, options.seed, options.reference_limit),
      random_(mix64(options.seed)) {
    if (is_cpp(problem_.reference))
        expectation_.use(compile_reference(problem_, toolchain_, folder_.path() / "reference"));
    leave_out_impossible_shapes();
}

void Referee::leave_out_impossible_shapes() {
    std::map<std::string, Range> possible = expectation_.possible_range();
    std::vector<std::string> least;
    for (const auto& [name, range] : possible)
        if (range.low > problem_.range.at(name).low) least.push_back(fmt::format("{} >= {}", name, range.low));
    if (!least.empty())
        range_note_ = fmt::format(
            "shapes are taken from {}: below, the reference fails or is not finite (`range` says "
            "otherwise)",
            join(least, ", "));
    problem_.range = std::move(possible);
}

std::string Referee::reference_note() const {
    const std::string note = expectation_.note();
    return note.empty() || range_note_.empty() ? note + range_note_ : note + "; " + range_note_;
}

Referee::~Referee() = default;

std::string Referee::compiled_by() const {
    return options_.device ? describe_cuda(*cuda_compiler(), options_.device->architecture) : toolchain_.description();
}

std::string Referee::key(const EvaluationRequest& request) const {
    const bool interpreted = request.kernel.language == Language::python;
    const std::string made_by =
        interpreted ? interpreter(reference_python()).description : compiled_by() + join(options_.flags, " ");
    return evaluation_key(request, made_by, machine_.fingerprint, problem_.hash);
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
    for (Buffers* some : buffers) some->restore();
    return buffers;
}

TestVector Referee::test_vector(const ShapePoint& point) {
    Buffers& buffers = expectation_.at(point);
    const InputSet& set = expectation_.through(buffers, 0);
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

std::vector<Built> Referee::build(const std::vector<EvaluationRequest>& requests) {
    std::vector<Build> builds;
    for (const EvaluationRequest& request : requests)
        if (request.kernel.language != Language::python)
            builds.push_back(build_of(request.kernel, request.configuration));
    std::vector<Built> compiled = toolchain_.build(problem_, builds, folder_.path(), machine_.cores), built;
    size_t next = 0;
    for (const EvaluationRequest& request : requests) {
        const bool interpreted = request.kernel.language == Language::python;
        built.push_back(interpreted ? python_kernel(request.kernel, request.configuration, folder_.path())
                                    : std::move(compiled[next++]));
        finish_build(request.kernel, request.points, built.back());
    }
    return built;
}

Build Referee::build_of(const Kernel& kernel, const Configuration& configuration) const {
    Build build{kernel.source, configuration, kernel.space, options_.flags, false};
    if (kernel.language == Language::cuda && options_.device) build.cuda = options_.device->architecture;
    return build;
}

void Referee::finish_build(const Kernel& kernel, const std::vector<ShapePoint>& points, Built& built) {
    if (kernel.language == Language::cuda && options_.device) built.device = options_.device->number;
    if (kernel.language != Language::opencl || !built.ok) return;
    built.cache = built.library.parent_path() / "driver";
    std::set<std::string>& known = rehearsed_[built.library.string()];
    std::vector<ShapePoint> others;
    for (const ShapePoint& point : points)
        if (may_be_called(kernel, bindings_of(problem_, point.dims)) && !known.count(describe(point.dims)))
            others.push_back(point);
    if (others.empty()) return;
    rehearse(built, problem_, others, machine_.cores);
    if (!built.ok) return;
    for (const ShapePoint& point : others) known.insert(describe(point.dims));
}

std::unique_ptr<Runner> Referee::start(const Built& built, const std::vector<Buffers*>& points) {
    if (idle_handshake_ns_ < 0) idle_handshake_ns_ = Runner::idle(problem_, {points.front()})->handshake_ns();
    std::unique_ptr<Runner> runner = Runner::kernel(built, problem_, points, machine_.cores);
    if (idle_handshake_ns_ > 0) runner->bound_handshake(times_the_idle_handshake * idle_handshake_ns_);
    return runner;
}

std::vector<Evaluation> Referee::evaluate(std::vector<EvaluationRequest> requests) {
    std::vector<Built> built = build(requests);
    std::vector<Evaluation> evaluations;
    std::map<std::string, double> long_calls;  // the best of them in this batch
    for (size_t i = 0; i < requests.size(); ++i) {
        Evaluation evaluation;
        evaluation.key = key(requests[i]);
        evaluation.kernel = requests[i].kernel.id;
        evaluation.configuration = requests[i].configuration;
        evaluation.compile_seconds = built[i].seconds;
        EvaluationRequest request = requests[i];
        // The host around a program in another language is Strop's own: it names the driver and keeps what that made.
        const bool own_host = request.kernel.language != Language::cpp;
        if (built[i].ok && !own_host && !tripwires(request.kernel.source, built[i].library).empty())
            request.effort = Effort::full;
        // Of those who take so long none waits for the next batch to be left early.
        for (auto& [label, best] : request.best_ns)
            if (auto measured = long_calls.find(label); measured != long_calls.end())
                best = std::min(best, measured->second);
        judge(request, built[i], false, evaluation);
        for (const PointResult& point : evaluation.points)
            if (point.verdict == Verdict::ok && point.time.median_ns > slow_call_ns) {
                double& best = long_calls.try_emplace(point.point.label, point.time.median_ns).first->second;
                best = std::min(best, point.time.median_ns);
            }
        evaluations.push_back(std::move(evaluation));
    }
    return evaluations;
}

// What a probe leaves in the outputs harms nobody: whoever is checked next finds them poisoned.
std::vector<ProbeResult> Referee::probe(const std::vector<EvaluationRequest>& requests) {
    std::vector<Built> built = build(requests);
    std::vector<ProbeResult> results;
    for (size_t i = 0; i < requests.size(); ++i) {
        EvaluationRequest request = requests[i];
        request.effort = Effort::screen;
        Evaluation timed;
        judge(request, built[i], true, timed);
        results.push_back({timed.verdict, timed.evidence, std::move(timed.points), built[i].seconds,
                           timed.check_seconds + timed.time_seconds});
    }
    return results;
}

std::vector<Buffers*> Referee::callable_at(const EvaluationRequest& request) {
    std::vector<ShapePoint> points;
    for (const ShapePoint& point : request.points)
        if (may_be_called(request.kernel, bindings_of(problem_, point.dims))) points.push_back(point);
    std::vector<Buffers*> buffers = buffers_for(points);
    std::stable_sort(buffers.begin(), buffers.end(),
                     [](Buffers* a, Buffers* b) { return a->tensor_bytes() < b->tensor_bytes(); });
    return buffers;
}

void Referee::judge(const EvaluationRequest& request, const Built& built, bool ignores_outputs,
                    Evaluation& evaluation) {
    if (!built.ok) {
        evaluation.verdict = Verdict::compile_failed;
        evaluation.evidence = built.message;
        return;
    }
    std::vector<Buffers*> buffers = callable_at(request);
    if (buffers.empty()) {
        evaluation.verdict = Verdict::unsupported;
        evaluation.evidence = "its condition holds at none of the shapes";
        return;
    }
    std::unique_ptr<Runner> runner;
    {
        PhaseTimer timer(evaluation.time_seconds);
        runner = start(built, buffers);
        if (ignores_outputs) runner->ignore_outputs();
    }
    for (size_t i = 0; i < buffers.size(); ++i) {
        PointResult result;
        result.point = buffers[i]->point();
        bool go_on = judge_point(*runner, i, request, evaluation, result);
        if (go_on && !ignores_outputs && result.time.median_ns < least_plausible_ns(result.point)) {
            runner->pause();
            doubt(request, built, *buffers[i], evaluation, result);
            runner->resume();
            go_on = result.verdict == Verdict::ok;
        }
        if (result.verdict != Verdict::ok) evaluation.verdict = result.verdict;
        if (!result.evidence.empty()) evaluation.evidence = result.evidence;
        evaluation.points.push_back(std::move(result));
        if (!go_on) break;
    }
    PhaseTimer timer(evaluation.time_seconds);
    runner.reset();
}

double Referee::least_plausible_ns(const ShapePoint& point) const {
    const auto proven = proven_ns_.find(strop::describe(point.dims));
    const double least_ns = least_time(machine_, stated_work(problem_, point.dims)).nanoseconds();
    return implausible_share * (proven == proven_ns_.end() ? least_ns : std::min(least_ns, proven->second));
}

// In full, by a process of its own, with inputs that changed. What holds then is believed, and is said: it is the
// ceiling that is wrong, or the problem's `work`, or somebody has found a way that needs less of it.
void Referee::doubt(const EvaluationRequest& request, const Built& built, Buffers& buffers, Evaluation& evaluation,
                    PointResult& result) {
    EvaluationRequest in_full = request;
    in_full.effort = Effort::full;
    in_full.best_ns.clear();
    std::unique_ptr<Runner> fresh = start(built, {&buffers});
    PointResult again;
    again.point = result.point;
    const bool ok = judge_point(*fresh, 0, in_full, evaluation, again);
    const double taken_ns = again.time.median_ns;
    if (ok && taken_ns < least_plausible_ns(result.point)) {
        const Work work = stated_work(problem_, result.point.dims);
        again.evidence = fmt::format(
            "at {} a call takes {}, and {} when it was judged again; at the ceilings that were measured {:.4g} bytes "
            "and {:.4g} "
            "operations take {}: the ceiling is wrong, or the problem's work is",
            strop::describe(result.point.dims), human_nanoseconds(result.time.median_ns), human_nanoseconds(taken_ns),
            work.bytes(), work.flops, human_nanoseconds(least_time(machine_, work).nanoseconds()));
        proven_ns_[strop::describe(result.point.dims)] = taken_ns;
    }
    result = std::move(again);
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
    const uint32_t timed = static_cast<uint32_t>(buffers.timed());
    double first_ns = 0;
    {
        PhaseTimer timer(evaluation.check_seconds);
        if (buffers.small()) turn(runner, index);
        // Unusual inputs wait for the full judgement where calls are slow, and on large shapes the flush set too.
        for (uint32_t set = full || !buffers.large() ? 0 : timed; set <= timed; ++set) {
            const bool waits = set > screened_unusual || first_ns > slow_check_ns;
            if (!full && waits && set < timed) continue;
            Runner::Outcome outcome = check(runner, index, set, full, first_call_limit(buffers));
            if (!outcome.ok()) return failed(outcome);
            if (full) result.error_share = std::max(result.error_share, error_share(runner, index, set));
            first_ns = outcome.outside_ns;
        }
    }
    PhaseTimer timer(evaluation.time_seconds);
    time_screen(runner, index, request, first_ns, result);
    if (full && result.verdict == Verdict::ok) {
        Runner::Outcome outcome = look_closely(runner, index, result.time);
        if (!outcome.ok()) return failed(outcome);
        summarise(result.time);
    }
    return result.verdict == Verdict::ok;
}

const InputSet& Referee::checked_set(Buffers& buffers, uint32_t set) {
    return set == buffers.timed() ? expectation_.through(buffers, 0) : buffers.sets()[set];
}

// A product of large values may end near zero, where a clamp or a sigmoid shows its rounding: too seldom for what the
// tolerance was estimated from. A tolerance that the problem states is what its author wants.
std::string Referee::wrong_values(Buffers& buffers, const InputSet& set, const Sampling& sampling) {
    const std::string wrong = wrong_output(problem_, buffers, set, sampling);
    if (wrong.empty() || problem_.tolerance || set.at_jumps || !may_be_rounding(problem_, buffers, set, sampling))
        return wrong;
    long_idle_ = true;
    return wrong_output(problem_, buffers, set, sampling, expectation_.slack(buffers, set));
}

std::string Referee::wrong_element(Buffers& buffers, const InputSet& set, const Found& one,
                                   const std::vector<std::vector<char>>& expected) {
    auto wrong = [&](double slack) {
        return judge::wrong_element(problem_, set, buffers.point().dims, one.output, one.element, one.bytes,
                                    expected[one.output], slack);
    };
    const std::string text = wrong(0);
    if (text.empty() || problem_.tolerance || set.at_jumps) return text;
    std::vector<const char*> values;
    for (const std::vector<char>& output : expected) values.push_back(output.data());
    const Slack slack = expectation_.slack(buffers, set, values);
    return slack.empty() ? text : wrong(slack[one.output][static_cast<size_t>(one.element)]);
}

double Referee::error_share(const Runner& runner, size_t index, uint32_t set) {
    if (runner.ignores_outputs()) return 0;
    Buffers& buffers = *runner.points()[index];
    // More than all of it is what wrong_values found to be right.
    return std::min(1.0, largest_error(problem_, buffers, checked_set(buffers, set)));
}

Runner::Outcome Referee::check(Runner& runner, size_t index, uint32_t set, bool everything, Seconds limit) {
    Buffers& buffers = *runner.points()[index];
    buffers.restore();
    const InputSet& values = checked_set(buffers, set);
    Sampling sampling{random(), everything || !buffers.large()};
    poison(buffers, values, runner.on_device());
    Runner::Outcome outcome = runner.call(index, 1, set, 0, limit);
    uint64_t seen = 0;
    if (outcome.ok() && runner.is_python()) {
        Runner::Outcome published = runner.publish(limit);
        if (!published.ok()) outcome = published;
    } else if (outcome.ok()) {
        outcome.note(runner.fetch(index, values.outputs));
        seen = fingerprint(problem_, buffers, values, sampling.seed);
    }
    if (!outcome.ok()) {
        outcome.evidence += fmt::format(" at {}", strop::describe(buffers.point().dims));
        return outcome;
    }
    if (runner.ignores_outputs()) return outcome;
    outcome.evidence = wrong_values(buffers, values, sampling);
    if (outcome.evidence.empty()) outcome.evidence = wrote_outside(buffers, values);
    if (!outcome.evidence.empty()) {
        outcome.verdict = Verdict::wrong_output;
        return outcome;
    }
    if (runner.is_python()) return outcome;
    outcome.note(runner.check_inputs(index, set));
    if (outcome.ok()) note_late_writes(runner, index, values, sampling.seed, seen, outcome);
    return outcome;
}

void Referee::note_late_writes(Runner& runner, size_t index, const InputSet& set, uint64_t seed, uint64_t seen,
                               Runner::Outcome& outcome) {
    Buffers& buffers = *runner.points()[index];
    outcome.note(runner.fetch_again(index, set.outputs));
    if (!outcome.ok() || fingerprint(problem_, buffers, set, seed) == seen) return;
    outcome.verdict = Verdict::cheated;
    outcome.evidence =
        fmt::format("its outputs changed after the call had returned, at {}", strop::describe(buffers.point().dims));
}

}  // namespace strop::judge
