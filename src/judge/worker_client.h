// The other end of worker.h: an Evaluator that asks a worker process, and starts it again when it is lost.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/error.h"
#include "core/evaluator.h"
#include "core/json.h"
#include "core/profile.h"
#include "core/record.h"
#include "judge/batch_limit.h"
#include "judge/worker_command.h"
#include "judge/worker_folder.h"
#include "judge/worker_greeting.h"

namespace strop::judge {

class WorkerConnection;

// The worker is gone and could not be had again. What was recorded before is worth going on with.
class LostWorker : public EnvironmentError {
public:
    using EnvironmentError::EnvironmentError;
};

class WorkerClient : public Evaluator {
public:
    // Starts a worker and hears who it is. `idle` is called while waiting and may throw; `say` gets a line when the
    // program is copied to where it is missing, and when the worker was lost and had to be started again.
    // EnvironmentErrors as of WorkerConnection.
    WorkerClient(WorkerCommand command, std::function<void()> idle, std::function<void(const std::string&)> say = {});
    ~WorkerClient() override;

    const Greeting& greeting() const { return greeting_; }
    const std::string& machine_fingerprint() const { return greeting_.machine.fingerprint; }
    // With ceilings; measured again there where they are older than this.
    Machine machine(Seconds lasting);

    // What comes after needs an open problem. The worker sees the problem's folder or gets its files. `points`: labels
    // of the sweep's shapes that matter; empty: all. `reference_limit`: what one call of the reference may take. As it
    // is opened: the range of dimensions for which the problem declares none begins where the reference works.
    Problem open(const Problem& problem, const std::vector<std::string>& points, uint64_t seed,
                 Seconds reference_limit = Seconds(60));

    std::vector<Evaluation> evaluate(std::vector<EvaluationRequest> requests) override;
    // The same, but nothing when the worker was lost meanwhile: `revive` starts it again.
    std::optional<std::vector<Evaluation>> evaluate_once(const std::vector<EvaluationRequest>& requests);
    // LostWorker when it does not come back, or was lost too often without an answer between.
    void revive();
    std::vector<ProbeResult> probe(const std::vector<EvaluationRequest>& requests) override;
    Comparison compare(const ComparisonRequest& request) override;
    Profile profile(const EvaluationRequest& request);
    std::vector<SanitizerRun> sanitize(const EvaluationRequest& request, Seconds limit);
    Evaluation emulate(const EvaluationRequest& request, Seconds limit);
    std::vector<std::string> baselines(std::vector<MissingBaseline>& missing);
    std::vector<TestVector> test_vectors(const std::vector<ShapePoint>& points);
    void reseed(uint64_t seed);
    Seconds round_trip();                  // of the shortest question, the least of a few
    std::vector<std::string> languages();  // whose kernels can run there

    const std::map<std::string, int64_t>& least_extents() const { return least_; }  // that the reference takes
    const std::string& toolchain() const { return toolchain_; }
    const std::string& reference_note() const { return reference_note_; }  // what readers of results must know of it
    // With a compiler of that name; empty, or unknown: with the usual one.
    const std::string& toolchain(const std::string& compiler) const;
    const std::map<std::string, std::string>& toolchains() const { return toolchains_; }  // by compiler
    double reference_seconds() const { return earlier_reference_seconds_ + reference_seconds_; }
    const std::string& banner() const { return banner_; }  // what was printed last before it spoke; may be empty
    int losses() const { return losses_; }                 // from which it came back

private:
    struct Opening {
        Problem problem;
        Seconds reference_limit;
        Json message;
    };
    using Reading = std::function<void(const Json& answer)>;  // throws MalformedAnswer

    // What the worker reports is thrown, and LostWorker.
    void ask(const Json& message, const Reading& read, Seconds limit = no_limit);
    template <typename Part>
    Part ask_for(const char* key, const Json& message, Seconds limit = no_limit);
    // False when the worker was lost, or says what no worker says: there is no connection then.
    bool ask_once(const std::string& message, const Reading& read, Seconds limit);
    std::optional<Json> exchange(const std::string& message, Seconds limit);
    void lose(const std::string& how = {});
    void start_again();               // leaves no connection where that fails
    std::optional<Json> open_once();  // nothing when the worker is gone
    Seconds limit_of_batch(Seconds follows) const { return command_.batch.count() > 0 ? command_.batch : follows; }

    WorkerCommand command_;
    std::function<void()> idle_;
    std::function<void(const std::string&)> say_;
    WorkerFolder scratch_;  // the worker's, where it is ours: it ends by a signal and cannot clean up
    std::unique_ptr<WorkerConnection> connection_;
    Greeting greeting_;
    std::optional<Opening> opening_;
    std::string toolchain_, reference_note_, how_it_was_lost_, banner_;
    size_t losses_in_a_row_ = 0;  // without an answer between
    int losses_ = 0;
    std::map<std::string, std::string> toolchains_;  // by compiler
    std::map<std::string, int64_t> least_;           // by dimension
    double reference_seconds_ = 0, earlier_reference_seconds_ = 0;
};

// Of dimensions for which the problem declares no range.
Problem with_least_extents(Problem problem, const std::map<std::string, int64_t>& least);

}  // namespace strop::judge
