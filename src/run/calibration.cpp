#include "run/calibration.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <random>
#include <thread>

#include <fmt/format.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/interrupt.h"
#include "base/strings.h"
#include "device/machine.h"
#include "judge/worker_client.h"
#include "language/contract.h"
#include "playbook/playbook.h"
#include "problem/loader.h"
#include "problem/trace.h"
#include "run/judgement.h"
#include "sandbox/process.h"
#include "stats/sample.h"

namespace strop {

namespace {

const std::vector<std::string> trial_problems = {"softmax", "row_sum", "matmul"};
const std::vector<std::string> trial_points = {"small", "medium", "large"};
const std::vector<std::string> exploit_points = {"small", "ragged"};

// A process that wants a core of its own, as long as it lives.
class Neighbour {
public:
    Neighbour()
        : thread_([this] {
              while (!done_) spins_ = spins_ + 1;
          }) {}
    ~Neighbour() {
        done_ = true;
        thread_.join();
    }

private:
    std::atomic<bool> done_{false};
    volatile uint64_t spins_ = 0;
    std::thread thread_;
};

// The same kernel, but each call goes on for `percent` of what it took.
Kernel slowed(const Problem& problem, Kernel kernel, double percent) {
    kernel.id += "+slowed";
    kernel.source = fmt::format(
        R"(#define {0} {0}_as_it_is
{1}
#undef {0}
#include <time.h>

static long long now_ns() {{
    timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000000000LL + now.tv_nsec;
}}

{2} {{
    const long long start = now_ns();
    {0}_as_it_is({3});
    const long long end = now_ns(), until = end + (long long)((end - start) * {4});
    while (now_ns() < until) {{}}
}}
)",
        problem.name, kernel.source, signature(problem), argument_list(problem), percent / 100);
    return kernel;
}

// A problem, a worker for it and a kernel that is known to be right.
struct Bench {
    Problem problem;
    std::unique_ptr<judge::WorkerClient> worker;
    Kernel kernel;
};

Bench set_up(const CalibrationOptions& options, const std::string& name) {
    Bench bench;
    bench.problem = load_problem((options.home / "problems" / name).string());
    keep_points(bench.problem, trial_points);
    bench.worker = std::make_unique<judge::WorkerClient>(options.worker, [] { check_interrupt(); });
    bench.worker->open(bench.problem, trial_points, std::random_device{}());
    playbook::Playbook playbook(bench.problem, trace_reference(bench.problem), measured_machine());
    std::vector<Proposal> proposals = playbook.plan();
    if (proposals.empty()) throw Error(Exit::bug, name + ": " + playbook.why_nothing());
    bench.kernel = proposals.front().kernel;
    return bench;
}

class Calibrator {
public:
    explicit Calibrator(const CalibrationOptions& options) : options_(options) {
        result_.planted_percent = options.planted_percent;
        result_.weaker = sandbox::weaker_protections();
    }

    Calibration run() {
        Clock::time_point start = Clock::now();
        try {
            trials();
            exploits();
        } catch (const Interrupted&) {
            result_.interrupted = true;
        }
        if (!widths_.empty()) {
            result_.resolution_percent = 100 * stats::median(widths_);
            result_.planted_seconds = stats::median(planted_seconds_);
        }
        result_.seconds = seconds_since(start);
        return result_;
    }

private:
    void say(const std::string& what) const {
        if (options_.progress) options_.progress(what);
    }

    void trials() {
        std::vector<Bench> benches;
        for (const std::string& name : trial_problems) benches.push_back(set_up(options_, name));
        const size_t cases = benches.size() * trial_points.size();
        for (size_t trial = 0; trial < static_cast<size_t>(options_.trials); ++trial) {
            say(fmt::format("trial {} of {}", trial + 1, options_.trials));
            Bench& bench = benches[trial % benches.size()];
            const ShapePoint& point = bench.problem.points[trial / benches.size() % bench.problem.points.size()];
            against_itself(bench, point, trial / cases % 2 == 1);
            if (trial % 5 < 2) planted(bench, point);
        }
    }

    struct Trial {
        ContenderResult other;
        double seconds = 0;
    };

    Trial try_against(Bench& bench, const ShapePoint& point, const Kernel& other) {
        ComparisonRequest request;
        request.contenders = {{"first", "", bench.kernel, bench.kernel.initial}, {"second", "", other, other.initial}};
        request.points = {point};
        request.seconds_per_point = options_.seconds_per_trial;
        const Comparison comparison = bench.worker->compare(request);
        return {comparison.points.front().results.back(), comparison.time_seconds};
    }

    void against_itself(Bench& bench, const ShapePoint& point, bool loaded) {
        std::optional<Neighbour> neighbour;
        if (loaded) neighbour.emplace();
        const Trial trial = try_against(bench, point, bench.kernel);
        ++result_.against_itself.trials;
        result_.against_itself.hits += trial.other.decision != Decision::undecided;
    }

    void planted(Bench& bench, const ShapePoint& point) {
        const Trial trial = try_against(bench, point, slowed(bench.problem, bench.kernel, options_.planted_percent));
        const Ratio& speedup = trial.other.speedup;
        planted_seconds_.push_back(trial.seconds);
        ++result_.planted.trials;
        const bool found = trial.other.decision == Decision::faster;
        result_.planted.hits += found;
        if (!found) ++result_.not_found[fmt::format("{} at {}", bench.problem.name, point.label)];
        widths_.push_back(0.5 * (speedup.high - speedup.low) / speedup.ratio);
    }

    // ---- the corpus ------------------------------------------------------------------------------------

    struct Case {
        fs::path file;
        std::string problem;
        std::vector<std::string> expected;
    };

    std::vector<Case> corpus() const {
        std::vector<Case> cases;
        std::error_code ignored;
        for (const fs::directory_entry& entry : fs::directory_iterator(options_.home / "tests/exploits", ignored)) {
            if (entry.path().extension() != ".cpp") continue;
            Case found{entry.path(), "", {}};
            for (const std::string& line : split(read_file(entry.path()), '\n')) {
                if (line.starts_with("// problem: ")) found.problem = line.substr(12);
                if (line.starts_with("// expect: "))
                    found.expected = split(replace_all(line.substr(11), " | ", "|"), '|');
                if (!line.starts_with("// ")) break;
            }
            bool harmless = std::count(found.expected.begin(), found.expected.end(), "ok") > 0;
            bool by_the_command = std::count(found.expected.begin(), found.expected.end(), "refused") > 0;
            bool large = entry.path().stem().string().find("large") != std::string::npos;
            if (!found.problem.empty() && !harmless && !by_the_command && !large) cases.push_back(found);
        }
        std::sort(cases.begin(), cases.end(), [](const Case& a, const Case& b) { return a.file < b.file; });
        return cases;
    }

    void exploits() {
        std::map<std::string, std::unique_ptr<judge::WorkerClient>> workers;
        for (const Case& exploit : corpus()) {
            std::string name = exploit.file.stem().string();
            say("exploit " + name);
            Problem problem = load_problem((options_.home / "problems" / exploit.problem).string());
            keep_points(problem, exploit_points);
            std::unique_ptr<judge::WorkerClient>& worker = workers[exploit.problem];
            if (!worker) {
                worker = std::make_unique<judge::WorkerClient>(options_.worker, [] { check_interrupt(); });
                worker->open(problem, exploit_points, std::random_device{}());
            }
            Kernel kernel;
            kernel.id = kernel.strategy = name;
            kernel.source = read_file(exploit.file);
            kernel.space = parse_tunables(kernel.source, name);
            kernel.initial = default_configuration(kernel.space);
            Judgement judgement =
                judge_kernel(*worker, problem, kernel, kernel.initial, {std::random_device{}(), false});
            ++result_.exploits;
            if (judgement.evaluation.ok()) result_.missed.push_back(name);
            else ++result_.caught;
        }
    }

    const CalibrationOptions& options_;
    Calibration result_;
    std::vector<double> widths_, planted_seconds_;
};

}  // namespace

Calibration calibrate(const CalibrationOptions& options) { return Calibrator(options).run(); }

}  // namespace strop
