// The referee's paired comparisons, and the baselines that take part in them.
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include <fmt/format.h>

#include "base/error.h"
#include "base/hash.h"
#include "base/interrupt.h"
#include "base/log.h"
#include "base/strings.h"
#include "judge/referee.h"
#include "stats/paired.h"

namespace strop::judge {

namespace {

constexpr double sample_target_ns = 2.5e6;
constexpr double warm_below_ns = 2e6;        // shorter calls find cold caches and sleeping threads after a pause
constexpr size_t least_rounds = 5, most_rounds = 60;
const Seconds compile_limit{180};            // a framework's first call may compile
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

std::string how_to_get(const std::string& name, const std::string& evidence) {
    if (name == "pytorch" || name == "torch.compile") return "./strop setup torch";
    if (name == "jax") return "./strop setup jax";
    if (name == "onednn") return "apt-get install libdnnl-dev";
    return evidence.substr(0, 200);
}

}  // namespace

// ---- baselines -------------------------------------------------------------------------------------

void Referee::add_baseline(const std::string& name, std::unique_ptr<Runner> runner, const std::string& how) {
    auto missing = [&](const std::string& evidence) {
        spdlog::info("baseline {}: {}", name, evidence);
        missing_.push_back({name, how.empty() ? how_to_get(name, evidence) : how});
    };
    if (!runner) return missing(how);
    bool python = runner->is_python();
    for (size_t i = 0; i < runner->points().size(); ++i) {
        Runner::Outcome prepared = runner->prepare(i, compile_limit);
        uint32_t set = static_cast<uint32_t>(runner->points()[i]->flush_sets());
        if (prepared.ok()) prepared = check(*runner, i, set, true, call_limit);
        bool tiny = runner->points()[i]->point().label == tiny_.label;
        if (!prepared.ok() && !(tiny && runner->alive())) {
            bool absent = prepared.verdict == Verdict::unsupported &&
                          prepared.evidence.find("ModuleNotFoundError") != std::string::npos;
            return absent ? missing(prepared.evidence)
                          : missing_.push_back({name, "failed: " + prepared.evidence.substr(0, 300)});
        }
    }
    runner->pause();
    baseline_names_.push_back(name);
    baselines_.push_back({name, std::move(runner), python});
}

void Referee::start_baselines() {
    baselines_started_ = true;
    std::vector<ShapePoint> points = problem_.points;
    tiny_ = {"one element", {}};
    for (const auto& [name, range] : problem_.range) tiny_.dims[name] = std::max<int64_t>(1, range.low);
    if (admits(problem_, tiny_.dims)) points.push_back(tiny_);
    std::vector<Buffers*> buffers = buffers_for(points);
    PhaseTimer timer(baseline_seconds_);
    int threads = machine_.cores;
    add_baseline("numpy", Runner::python("numpy", problem_.reference, problem_, buffers, threads), "");
    for (const fs::path& path : problem_.baselines) {
        check_interrupt();
        std::string stem = path.stem().string();
        if (path.extension() != ".py") {
            Build build{read_file(path), {}, {}, options_.flags, true};
            Built built = toolchain_.build(problem_, {build}, folder_.path(), 1).front();
            if (built.ok) add_baseline(stem, Runner::kernel(built.library, problem_, buffers, threads), "");
            else missing_.push_back({stem, how_to_get(stem, built.message)});
            continue;
        }
        bool torch = stem == "pytorch", jax = stem == "jax";
        std::string eager = torch ? "pytorch" : jax ? "jax" : "numpy";
        add_baseline(stem, Runner::python(eager, path, problem_, buffers, threads), "");
        bool have_torch = torch && !baseline_names_.empty() && baseline_names_.back() == stem;
        if (have_torch)
            add_baseline("torch.compile", Runner::python("torch.compile", path, problem_, buffers, threads), "");
        else if (torch)
            missing_.push_back({"torch.compile", how_to_get("torch.compile", "")});
    }
}

const std::vector<std::string>& Referee::baselines() {
    if (!baselines_started_) start_baselines();
    return baseline_names_;
}

Referee::Baseline* Referee::find_baseline(const std::string& name) {
    baselines();
    for (Baseline& baseline : baselines_)
        if (baseline.name == name && baseline.runner->alive()) return &baseline;
    return nullptr;
}

// What one call costs from Python: the same call on one element.
double Referee::call_overhead(Baseline& baseline) {
    auto known = overhead_ns_.find(baseline.name);
    if (known != overhead_ns_.end()) return known->second;
    double overhead = 0;
    size_t last = baseline.runner->points().size() - 1;
    if (baseline.python && baseline.runner->points()[last]->point().label == tiny_.label) {
        std::vector<double> samples;
        double estimate = 5000;
        for (int i = 0; i < 9; ++i) {
            double ns = 0;
            if (!sample(*baseline.runner, last, estimate, sample_target_ns, ns).ok()) break;
            samples.push_back(ns);
            estimate = std::max(50.0, ns);
        }
        // A disturbance only adds: the least is the cost of the call.
        if (!samples.empty()) overhead = *std::min_element(samples.begin(), samples.end());
    }
    return overhead_ns_[baseline.name] = overhead;
}

// ---- comparisons -----------------------------------------------------------------------------------

struct Referee::Timing {
    Runner* runner = nullptr;
    size_t index = 0;          // of the point in the runner
    ContenderResult result;
    double estimate_ns = 0;
    bool running() const { return runner && result.verdict == Verdict::ok; }
};

Comparison Referee::compare(const ComparisonRequest& request) {
    Comparison comparison;
    double reference_before = reference_seconds();
    baselines();
    buffers_for(request.points);
    comparison.reference_seconds = reference_seconds() - reference_before;

    std::vector<Built> built = build_contenders(request, comparison);

    for (size_t p = 0; p < request.points.size(); ++p) {
        check_interrupt();
        std::vector<std::unique_ptr<Runner>> runners(request.contenders.size());
        comparison.points.push_back(compare_point(request, runners, built, p, comparison));
        bool labelled = std::any_of(problem_.points.begin(), problem_.points.end(), [&](const ShapePoint& point) {
            return point.dims == request.points[p].dims;
        });
        if (!labelled) {
            runners.clear();
            expectation_.forget(request.points[p]);
        }
    }
    return comparison;
}

// Contenders come back in comparison after comparison: each is compiled once.
std::vector<Built> Referee::build_contenders(const ComparisonRequest& request, Comparison& comparison) {
    auto key = [](const Contender& contender) {
        return content_hash(contender.kernel.source + "\n" + describe(contender.configuration));
    };
    std::vector<Build> builds;
    std::vector<std::string> keys;
    for (const Contender& contender : request.contenders) {
        if (!contender.baseline.empty() || contenders_.count(key(contender))) continue;
        builds.push_back({contender.kernel.source, contender.configuration, contender.kernel.space, options_.flags,
                          false});
        keys.push_back(key(contender));
    }
    std::vector<Built> compiled = toolchain_.build(problem_, builds, folder_.path(), machine_.cores);
    for (size_t i = 0; i < compiled.size(); ++i) {
        comparison.compile_seconds += compiled[i].seconds;
        contenders_[keys[i]] = compiled[i];
    }
    std::vector<Built> built;
    for (const Contender& contender : request.contenders)
        built.push_back(contender.baseline.empty() ? contenders_[key(contender)] : Built{});
    return built;
}

PointComparison Referee::compare_point(const ComparisonRequest& request, std::vector<std::unique_ptr<Runner>>& runners,
                                       const std::vector<Built>& built, size_t p, Comparison& comparison) {
    const ShapePoint& point = request.points[p];
    Buffers& buffers = expectation_.at(point);
    std::vector<Timing> timings(request.contenders.size());
    bool full = request.effort == Effort::full;
    {
        PhaseTimer timer(comparison.check_seconds);
        for (size_t c = 0; c < timings.size(); ++c) {
            const Contender& contender = request.contenders[c];
            Timing& timing = timings[c];
            timing.result.name = contender.name;
            auto fail = [&](Verdict verdict, const std::string& evidence) {
                timing.result.verdict = verdict;
                timing.result.evidence = evidence;
            };
            if (!contender.baseline.empty()) {
                Baseline* baseline = find_baseline(contender.baseline);
                if (!baseline) {
                    fail(Verdict::unsupported, "not installed");
                    continue;
                }
                timing.runner = baseline->runner.get();
                const std::vector<Buffers*>& known = timing.runner->points();
                timing.index = static_cast<size_t>(std::find(known.begin(), known.end(), &buffers) - known.begin());
                if (timing.index == known.size()) {
                    fail(Verdict::unsupported, "baselines run at the problem's own shapes only");
                    continue;
                }
                timing.runner->resume();
                timing.result.overhead_ns = call_overhead(*baseline);
            } else {
                bool may = !contender.kernel.condition ||
                           truthy(contender.kernel.condition->evaluate(bindings_of(problem_, point.dims)));
                if (!may) fail(Verdict::unsupported, "its condition does not hold here");
                else if (!built[c].ok) fail(Verdict::compile_failed, built[c].message);
                if (timing.result.verdict != Verdict::ok) continue;
                runners[c] = Runner::kernel(built[c].library, problem_, {&buffers}, machine_.cores);
                timing.runner = runners[c].get();
            }
            Runner::Outcome outcome = timing.runner->prepare(timing.index, prepare_limit);
            uint32_t flush = static_cast<uint32_t>(buffers.flush_sets());
            uint32_t begin = contender.baseline.empty() && full ? 0 : flush;
            uint32_t end = full && contender.baseline.empty() ? static_cast<uint32_t>(buffers.sets().size()) : flush + 1;
            for (uint32_t set = begin; set < end && outcome.ok(); ++set)
                outcome = check(*timing.runner, timing.index, set, full, call_limit);
            if (!outcome.ok()) fail(outcome.verdict, outcome.evidence);
            timing.estimate_ns = std::max(50.0, outcome.outside_ns - timing.runner->handshake_ns());
            timing.runner->pause();
        }
    }
    PhaseTimer timer(comparison.time_seconds);
    std::vector<size_t> order(timings.size());
    std::iota(order.begin(), order.end(), size_t{0});
    Clock::time_point start = Clock::now();
    for (size_t round = 0; round < most_rounds; ++round) {
        if (round >= least_rounds && seconds_since(start) > request.seconds_per_point) break;
        if (round >= 3 && seconds_since(start) > 4 * request.seconds_per_point) break;
        std::shuffle(order.begin(), order.end(), random_);
        for (size_t c : order) {
            Timing& timing = timings[c];
            if (!timing.running()) continue;
            timing.runner->resume();
            uint32_t first = static_cast<uint32_t>(buffers.flush_sets());
            if (timing.estimate_ns < warm_below_ns || round == 0) {
                uint32_t calls = timing.estimate_ns < 5e4 ? 10 : 1;
                Runner::Outcome warm = timing.runner->call(timing.index, calls, first, 1, call_limit);
                if (round == 0 && warm.ok())
                    timing.estimate_ns = std::max(20.0, std::min(timing.estimate_ns, warm.outside_ns / calls));
            }
            double ns = 0;
            Runner::Outcome outcome = sample(*timing.runner, timing.index, timing.estimate_ns, sample_target_ns, ns);
            if (outcome.ok()) {
                timing.result.time.samples_ns.push_back(ns);
                if (ns > 0) timing.estimate_ns = ns;
            } else {
                timing.result.verdict = outcome.verdict;
                timing.result.evidence = outcome.evidence;
            }
            timing.runner->pause();
        }
    }
    PointComparison result{point, {}};
    for (size_t c = 0; c < timings.size(); ++c) {
        Timing& timing = timings[c];
        if (timing.running() && request.contenders[c].baseline.empty()) {   // the timed process is still right
            timing.runner->resume();
            Runner::Outcome outcome = check(*timing.runner, timing.index,
                                            static_cast<uint32_t>(buffers.sets().size()) - 1, full, call_limit);
            if (!outcome.ok()) {
                timing.result.verdict = outcome.verdict == Verdict::wrong_output ? Verdict::nondeterministic
                                                                                 : outcome.verdict;
                timing.result.evidence = outcome.evidence;
            }
        }
        if (timing.result.overhead_ns > 0)   // no more than leaves a tenth: the rest is work
            for (double& ns : timing.result.time.samples_ns)
                ns -= std::min(timing.result.overhead_ns, 0.9 * ns);
        stats::Interval interval = stats::median_interval(timing.result.time.samples_ns);
        timing.result.time.median_ns = interval.value;
        timing.result.time.low_ns = interval.low;
        timing.result.time.high_ns = interval.high;
        if (c > 0 && timings[0].running() && timing.running()) {
            size_t pairs = std::min(timings[0].result.time.samples_ns.size(), timing.result.time.samples_ns.size());
            std::vector<double> a(timings[0].result.time.samples_ns.begin(),
                                  timings[0].result.time.samples_ns.begin() + static_cast<long>(pairs));
            std::vector<double> b(timing.result.time.samples_ns.begin(),
                                  timing.result.time.samples_ns.begin() + static_cast<long>(pairs));
            stats::Interval ratio = stats::paired_ratio(a, b);
            timing.result.speedup = as_ratio(ratio);
            timing.result.decision = as_decision(stats::decide(ratio));
        }
        result.results.push_back(timing.result);
    }
    return result;
}

}  // namespace strop::judge
