// Everything that is kept of one run; reports are pure functions of it. Plain data, versioned JSON (json.h).
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/evaluation.h"
#include "core/in_process.h"
#include "core/kernel.h"
#include "core/machine.h"
#include "core/problem.h"

namespace strop {

enum class Outcome { improved, no_improvement, interrupted, running, failed };
std::string name_of(Outcome outcome);

// A set of shape points with one winner.
struct Regime {
    std::string kernel;    // Kernel::id
    std::string strategy;  // Strategy::id
    Configuration configuration;
    std::string condition;            // as the dispatch tests it: "M*N <= 65536"; "otherwise" for the fallback
    std::vector<std::string> points;  // labels
};

// How the dispatching function did on shapes that nothing saw before.
struct DispatchCheck {
    int shapes = 0;  // held-out shapes drawn
    int correct = 0;
    int timed = 0;             // of them, those where all winners were timed
    int within_5_percent = 0;  // chosen winner within 5% of the best one
    double worst_regret = 0;   // 0.12: 12% slower than the best winner
};

// A kernel that needs less time than its roofline by this factor shows that it is not a bound: a ceiling was measured
// too low, or work was counted that a kernel can leave out.
inline constexpr double roofline_exceeded = 1.05;

struct ShapeReport {
    std::string label;
    Dimensions dims;
    double nanoseconds = 0;  // confirmed median of the dispatching function
    double low_ns = 0, high_ns = 0;
    double roofline_ns = 0;       // the least time that the machine's ceilings allow; 0: unknown
    double roofline_share = 0;    // roofline_ns / nanoseconds
    std::string bound;            // "memory", "cache" or "compute": which ceiling is the nearest
    double bytes = 0, flops = 0;  // of one call, compulsory traffic
    std::string kernel;           // who runs here
    Ratio speedup;                // over the best baseline at this shape
    std::string best_baseline;
    std::map<std::string, double> baselines;          // name -> ns, call overhead left out
    std::map<std::string, Ratio> speedups;            // name -> ratio over that baseline
    std::map<std::string, double> baseline_overhead;  // name -> ns of one call from its host language
    double disturbed = 0;                             // share of our samples during which others had a core
    double cold_ns = 0;                               // a call of ours whose tensors lie in no cache; 0: not measured
    std::map<std::string, double> cold_baselines;     // the same of baselines
    double error_share = 0;                           // our largest error over what is allowed

    bool bound_is_beaten() const { return roofline_share > roofline_exceeded; }
};

// One line of the search's history.
struct HistoryEntry {
    double seconds = 0;  // since the start of the run
    std::string kernel, strategy;
    Configuration configuration;
    Verdict verdict = Verdict::ok;
    std::string evidence;
    std::map<std::string, double> nanoseconds;                        // by label
    double compile_seconds = 0, check_seconds = 0, time_seconds = 0;  // what it cost
};

struct MissingBaseline {
    std::string name, how;  // "pytorch", "./strop setup torch"
};

// A microbenchmark that decides a question by its time.
struct Probe {
    std::string name, tells;                    // "no_stores"; what its time decides
    Verdict verdict = Verdict::ok;              // ok: it ran, whatever it computed
    std::string evidence;                       // of a failure
    std::map<std::string, double> nanoseconds;  // by label
};

// Why is a kernel as fast as it is: a hypothesis, and probes that were measured beside the kernel.
struct Experiment {
    std::string strategy;  // Strategy::id
    std::string hypothesis;
    std::map<std::string, double> kernel_ns;  // by label
    std::vector<Probe> probes;
};
// "no_stores: large 3.21 ms, the kernel 5.20 ms (0.62); it tells: ...", or how the probe failed; one line.
std::string describe(const Experiment& experiment, const Probe& probe);

// What one model cost in one role.
struct ModelUse {
    std::string role, model;
    int calls = 0, failed = 0, replayed = 0;
    int64_t input_tokens = 0, cached_tokens = 0, output_tokens = 0, reasoning_tokens = 0;
    double cost = 0;     // dollars
    bool priced = true;  // false: some calls have no known price
    double seconds = 0;  // waiting for it
};

// What one of several workers did for a run, or one elsewhere.
struct WorkerUse {
    std::string name;                  // as `--worker` gives it, "gpu1 #2" where several have that name
    int batches = 0, evaluations = 0;  // batches that it had a share of
    int losses = 0;                    // how often it was gone and started again
    std::string dropped;               // why the run went on without it; empty: it did not
};

struct PhaseSeconds {
    double total = 0, reference = 0, compile = 0, check = 0, time = 0, models = 0;
    double other() const { return total - reference - compile - check - time - models; }
};

// A kernel that the user has written already.
struct OwnSource {
    std::string name, source;  // C++, also of an OpenCL kernel: its host around its program
    Language language = Language::cpp;
};

struct RunSettings {
    double budget_seconds = 120;
    double shared_seconds = 0;  // beside it, for the search alone: what a batch gave it; below 0: what it gave others
    double all_seconds() const { return budget_seconds + shared_seconds; }
    int evaluations = 0;  // 0: no limit
    int rounds = 8;
    int beam = 4;
    double target_speedup = 0;      // 0: none; over the best baseline
    double min_improvement = 0.01;  // a round that gains less is a plateau
    uint64_t seed = 0;
    std::string device = "cpu";       // that kernels run on: "cpu", or "opencl", the system's first device
    std::string out;                  // absolute result folder
    std::vector<std::string> points;  // labels; empty: the whole sweep
    // Of a run with language models: as `--model` names them, and what they may spend (0: no limit).
    std::vector<std::string> models;
    std::string base_url, key_file, prices;
    double max_cost = 0;             // dollars
    int64_t max_tokens = 0;          // input and output together
    std::string analysis_advice;     // the user's own words for the analyst
    bool dry_run = false;            // one candidate, then stop
    int winners = 5;                 // that the dispatching function chooses from, at most; 1: one for all shapes
    bool exhaustive = false;         // every configuration, also where little is left to gain
    std::vector<OwnSource> kernels;  // the user's own, which compete and are compared with
    std::string worker;  // the command that starts it, or its name in workers.yaml; empty: this machine's own
    std::vector<std::string> other_workers;  // the same of those that share batches with it
    int batch_workers = 1;  // that batches were made for when the run began: whoever walks it again makes the same
    bool only_own = false;  // of a tuning run: the user's kernel alone is searched
    std::string knowledge;  // the store or folder that stands in for the own store's experience; empty: none does
    bool share = false;     // evaluations with other runs of the store that go on meanwhile
    std::string target;     // of several that one result is for (device/target.h); empty: the machine as it is
};

struct RunRecord {
    static constexpr int schema_version = 1;

    std::string run;      // "softmax-20260131-123456-ab12"
    std::string started;  // UTC
    std::string strop_version;
    std::string compiler;  // "clang 19.1.7"
    std::string device;    // beside the processor: "pthread-..., OpenCL 3.0 PoCL"; may be empty
    std::string problem, problem_folder, problem_hash;
    std::vector<std::string> tags;  // of the problem
    std::string origin;             // where it was imported from; empty: it was measured here
    RunSettings settings;
    Machine machine;
    Outcome outcome = Outcome::running;
    bool verified = false;
    std::string verification;       // what was checked, or why it did not hold
    std::string note;               // "the playbook has no emitter for 'cumsum'"
    std::string stopped_by;         // "budget", "plateau", "target", "roofline", "evaluations", "rounds"
    Ratio headline;                 // geometric mean over shapes against the best baseline of each
    std::string headline_baseline;  // the baseline that is best on most shapes
    std::vector<ShapeReport> shapes;
    std::vector<Regime> regimes;
    DispatchCheck dispatch;
    std::vector<SanitizerRun> sanitizers;  // of the dispatching function
    InProcess in_process;                  // the result called from Python
    std::vector<Strategy> strategies;
    std::vector<Kernel> kernels;  // of regimes' winners only
    std::vector<HistoryEntry> history;
    std::map<std::string, int> evaluations_by_verdict;
    std::map<std::string, int> evaluations_by_others;  // that another run had judged, by run
    int evaluations = 0;
    std::vector<MissingBaseline> missing_baselines;
    std::vector<ModelUse> models;
    std::map<std::string, double>
        model_costs;                        // dollars, by the strategy that calls were about ("plan", "scores", ...)
    std::vector<std::string> model_losses;  // "coder openai/gpt-6: rate_limited (3 times): ..."
    std::vector<Experiment> experiments;    // of models, in the order in which they were made
    std::vector<std::string> lessons;       // what was drawn from this run, each in a line
    std::vector<std::string> weaker;        // protections that this system does not offer
    std::vector<WorkerUse> workers;         // empty where this machine's own measured
    PhaseSeconds seconds;
    std::string result;    // the folder
    std::string function;  // its source, without the note at its top; empty: none, or by a version that did not keep it

    bool is_finished() const { return outcome == Outcome::improved || outcome == Outcome::no_improvement; }
};

}  // namespace strop
