// The evaluator of a run: everything that the judge says is recorded at once, and what is recorded is never asked
// again. A resumed run walks the same way and finds its answers here.
#pragma once

#include <functional>
#include <memory>
#include <set>
#include <string>

#include "core/evaluator.h"
#include "core/record.h"
#include "judge/worker_pool.h"
#include "knowledge/store.h"
#include "run/shared_work.h"

namespace strop {

// What a run's history says of an evaluation that ended after so many seconds.
HistoryEntry history_entry(const Evaluation& evaluation, const Kernel& kernel, double elapsed);

class Recorder : public Evaluator {
public:
    // `idle` is called while another run is waited for, and may throw.
    Recorder(judge::WorkerPool& worker, Store& store, const RunRecord& record, std::function<void()> idle = [] {});

    std::vector<Evaluation> evaluate(std::vector<EvaluationRequest> requests) override;
    std::vector<ProbeResult> probe(const std::vector<EvaluationRequest>& requests) override;
    Comparison compare(const ComparisonRequest& request) override;
    Profile profile(const EvaluationRequest& request);
    std::vector<SanitizerRun> sanitize(const EvaluationRequest& request, Seconds limit);
    // The judge has no part in it: what a measurement of this source in a user's process says.
    InProcess in_process(const std::string& source, const std::function<InProcess()>& measure);

    const PhaseSeconds& seconds() const { return seconds_; }  // of what was really done now
    int comparisons() const { return comparisons_; }          // asked for so far

private:
    // Of what is not known yet: by this run, or by another that shares the work.
    std::vector<Evaluation> judge(std::vector<EvaluationRequest> requests);
    std::vector<Evaluation> measure(std::vector<EvaluationRequest> requests);
    void keep(const Kernel& kernel);
    void add_wall(const PhaseSeconds& spent);
    std::string key_of(const EvaluationRequest& request) const;
    // The answer that is kept under a key; asked for, and kept, where there is none.
    template <typename Answer>
    Answer once(const std::string& key, const std::function<Answer()>& ask);
    // Adds what asking took, but for the reference's share, to `seconds`.
    template <typename Answer>
    Answer timed(double& seconds, const std::function<Answer()>& ask);

    judge::WorkerPool& worker_;
    Store& store_;
    std::string run_, problem_hash_;
    PhaseSeconds seconds_;
    int comparisons_ = 0;
    std::set<std::string> kept_;          // kernels
    std::unique_ptr<SharedWork> shared_;  // null: no other run shares the work
};

}  // namespace strop
