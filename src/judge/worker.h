// The worker: a referee behind a pipe. One JSON message a line:
//   {"op": "open", "problem": FOLDER, "points": [LABEL...], "seed": N, "reference_limit": SECONDS, "scratch": FOLDER}
//                                                 -> {"toolchain": "...", ...}
//   {"op": "baselines"}                           -> {"baselines": [...], "missing": [{name, how}]}
//   {"op": "evaluate", "requests": [...]}         -> {"evaluations": [...]}
//   {"op": "probe", "requests": [...]}            -> {"probes": [...]}
//   {"op": "profile", "request": {...}}           -> {"profile": {...}}
//   {"op": "sanitize", "request": {...}, "seconds": N}   -> {"sanitizers": [...]}
//   {"op": "compare", "request": {...}}           -> {"comparison": {...}}
//   {"op": "vectors", "points": [...]}            -> {"vectors": [...]}
//   {"op": "reseed", "seed": N}                   -> {}
// Every answer carries "reference_seconds", the total so far. A failure of the user's input is
// {"error": {"phrase", "hint", "exit"}}. Whatever starts a command with a pipe can host a worker.
#pragma once

#include <functional>
#include <map>
#include <iosfwd>
#include <memory>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/file.h"
#include "core/evaluator.h"
#include "core/json.h"
#include "core/profile.h"
#include "core/record.h"

namespace strop::sandbox {
class LineProcess;
}

namespace strop::judge {

// Serves until the input ends.
void serve_worker(std::istream& in, std::ostream& out);

// The other end: an Evaluator that asks a worker process.
class WorkerClient : public Evaluator {
public:
    // `command` starts the worker, for example {"/path/strop", "worker"}; `idle` is called while waiting and may throw.
    // `points`: labels of the sweep's shapes that matter; empty: all. `reference_limit`: what one call of the reference
    // may take.
    WorkerClient(const std::vector<std::string>& command, const std::string& problem_folder,
                 const std::vector<std::string>& points, uint64_t seed, std::function<void()> idle,
                 Seconds reference_limit = Seconds(60));
    ~WorkerClient() override;

    std::vector<Evaluation> evaluate(const std::vector<EvaluationRequest>& requests) override;
    std::vector<ProbeResult> probe(const std::vector<EvaluationRequest>& requests) override;
    Comparison compare(const ComparisonRequest& request) override;
    Profile profile(const EvaluationRequest& request);
    std::vector<SanitizerRun> sanitize(const EvaluationRequest& request, Seconds limit);
    std::vector<std::string> baselines(std::vector<MissingBaseline>& missing);
    std::vector<TestVector> test_vectors(const std::vector<ShapePoint>& points);
    void reseed(uint64_t seed);

    const std::string& toolchain() const { return toolchain_; }
    // With a compiler of that name; empty, or unknown: with the usual one.
    const std::string& toolchain(const std::string& compiler) const;
    const std::string& machine_fingerprint() const { return fingerprint_; }
    double reference_seconds() const { return reference_seconds_; }

private:
    Json ask(const std::string& message);   // throws what the worker reports

    TemporaryFolder scratch_;   // the worker's own: it ends by a signal and cannot clean up
    std::unique_ptr<sandbox::LineProcess> process_;
    std::function<void()> idle_;
    std::string toolchain_, fingerprint_;
    std::map<std::string, std::string> toolchains_;   // by compiler
    double reference_seconds_ = 0;
};

}  // namespace strop::judge
