// The referee's baselines: what the user would use instead of a kernel, each in a process of its own.
#include <algorithm>
#include <limits>

#include "base/interrupt.h"
#include "base/line.h"
#include "base/log.h"
#include "judge/referee.h"
#include "language/contract.h"
#include "language/reference_kernel.h"
#include "problem/cpp_reference.h"
#include "problem/framework.h"

namespace strop::judge {

namespace {

const Seconds compile_limit{180};  // a framework's first call may compile
const Seconds call_limit{30};

constexpr size_t told_of_a_failure = 300;  // characters

std::string failed(const std::string& evidence) { return "failed: " + one_line(evidence).substr(0, told_of_a_failure); }

std::string how_to_get(const std::string& name, const std::string& evidence) {
    if (name == "pytorch") return "./strop setup torch";
    if (name == "jax") return "./strop setup jax";
    if (name == "onednn") return "apt-get install libdnnl-dev";
    return failed(evidence);
}

}  // namespace

void Referee::add_baseline(const std::string& name, std::unique_ptr<Runner> runner) {
    for (size_t i = 0; i < runner->points().size(); ++i) {
        Runner::Outcome prepared = runner->prepare(i, compile_limit);
        uint32_t set = static_cast<uint32_t>(runner->points()[i]->timed());
        if (prepared.ok()) prepared = check(*runner, i, set, true, call_limit);
        bool tiny = runner->points()[i]->point().dims == tiny_.dims;
        if (!prepared.ok() && !(tiny && runner->alive())) {
            bool absent = prepared.verdict == Verdict::unsupported &&
                          prepared.evidence.find("ModuleNotFoundError") != std::string::npos;
            spdlog::info("baseline {}: {}", name, prepared.evidence);
            missing_.push_back({name, absent ? how_to_get(name, prepared.evidence) : failed(prepared.evidence)});
            return;
        }
    }
    runner->pause();
    baseline_names_.push_back(name);
    const std::string cores = runner->cores();
    baselines_.push_back({name, std::move(runner), cores});
}

// One in C or C++ is a kernel like others, under its file's name.
void Referee::add_reference(const std::vector<Buffers*>& buffers) {
    const std::string name = problem_.reference.filename();
    const std::string source = reference_as_kernel(problem_, read_cpp_reference(problem_.reference).source);
    const TunableSpace space = parse_tunables(source, name);
    const Build build{source, default_configuration(space), space, options_.flags};
    const Built built = toolchain_.build(problem_, {build}, folder_.path(), 1).front();
    if (built.ok) add_baseline(name, Runner::kernel(built, problem_, buffers, machine_.cores));
    else missing_.push_back({name, failed(built.message)});
}

// Of the reference, unless it is in C++, and of the files; what computes on the processor is no baseline of a device,
// unless there is no other. A framework takes seconds to start and to compile: all of them start here, side by side,
// and need no expected values for that.
std::vector<Referee::Starting> Referee::started_baselines(const std::vector<Buffers*>& buffers) {
    std::vector<Starting> all;
    const bool on_device = options_.device.has_value();
    const auto start = [&](const std::string& name, const std::string& how, const fs::path& file, bool compiled) {
        all.push_back({name, file, compiled, Runner::python(how, file, problem_, buffers, machine_.cores, on_device)});
    };
    const std::string framework = framework_of(problem_.reference);
    const bool of_device = framework != "numpy" || problem_.baselines.empty();
    if (!is_cpp(problem_.reference) && (!on_device || of_device))
        start(framework, framework, problem_.reference, false);
    if (framework == "pytorch") start("torch.compile", "torch.compile", problem_.reference, false);
    for (const fs::path& path : problem_.baselines) {
        const std::string stem = path.stem().string();
        const bool torch = stem == "pytorch", jax = stem == "jax";
        if (on_device && !torch && !jax) continue;
        if (path.extension() != ".py") {
            all.push_back({stem, path, false, nullptr});
            continue;
        }
        start(stem, torch ? "pytorch" : jax ? "jax" : "numpy", path, false);
        if (torch) start("torch.compile", "torch.compile", path, true);
    }
    return all;
}

void Referee::start_baselines() {
    baselines_started_ = true;
    std::vector<ShapePoint> points = problem_.points;
    tiny_ = {"one element", {}};
    for (const auto& [name, range] : problem_.range) tiny_.dims[name] = std::max<int64_t>(1, range.low);
    if (admits(problem_, tiny_.dims)) points.push_back(tiny_);
    std::vector<Buffers*> buffers;
    for (const ShapePoint& point : points) buffers.push_back(&expectation_.with_inputs(point));
    std::vector<Starting> starting = started_baselines(buffers);
    buffers_for(points);  // while frameworks start
    PhaseTimer timer(baseline_seconds_);
    if (is_cpp(problem_.reference) && (!options_.device || problem_.baselines.empty())) add_reference(buffers);
    for (Starting& one : starting) {
        check_interrupt();
        if (!one.runner) {
            Build build{read_file(one.file), {}, {}, options_.flags, true};
            Built built = toolchain_.build(problem_, {build}, folder_.path(), 1).front();
            if (built.ok) add_baseline(one.name, Runner::kernel(built, problem_, buffers, machine_.cores));
            else missing_.push_back({one.name, how_to_get(one.name, built.message)});
        } else if (one.as_eager && (baseline_names_.empty() || baseline_names_.back() != "pytorch")) {
            missing_.push_back({one.name, missing_.back().how});
        } else {
            add_baseline(one.name, std::move(one.runner));
        }
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

// One that was there, and is not any more, is a failure that somebody may have wanted.
Runner::Outcome Referee::why_missing(const std::string& name) const {
    for (const Baseline& baseline : baselines_)
        if (baseline.name == name) return {Verdict::crashed, "was there and has ended", 0};
    return {Verdict::unsupported, "not installed", 0};
}

// Of a module whose batch alone varies the smallest call has all the weights: that is work, and no price of a call.
// What a framework takes to find its way to a few operations, and a reference to put parameters in their place, is
// below this.
double Referee::most_overhead_ns() const {
    constexpr int64_t little_work = 1024;  // elements
    constexpr double of_a_call = 10e3, of_an_input = 1e3;
    int64_t elements = 0;
    for (const auto* tensors : {&problem_.inputs, &problem_.outputs})
        for (const Tensor& tensor : *tensors) elements += element_count(problem_, tensor, tiny_.dims);
    if (elements <= little_work) return std::numeric_limits<double>::infinity();
    return of_a_call + of_an_input * static_cast<double>(problem_.inputs.size());
}

// Where a Python baseline is called with one element, to learn what a call costs.
std::optional<size_t> Referee::smallest_call(const Runner& runner) const {
    size_t last = runner.points().size() - 1;
    // On a device the host's part of a call goes on while the device computes: it cannot be left out.
    bool tiny = runner.is_python() && !options_.device && runner.points()[last]->point().dims == tiny_.dims;
    return tiny ? std::optional(last) : std::nullopt;
}

}  // namespace strop::judge
