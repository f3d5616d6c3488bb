// Several workers of one machine, one version and one tool chain as one Evaluator: a batch is split among them, all
// else is asked of the first that lives. One that is lost costs its share of the batch, which another takes.
#pragma once

#include <atomic>
#include <condition_variable>
#include <deque>
#include <exception>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "core/evaluator.h"
#include "core/profile.h"
#include "core/record.h"
#include "judge/batch_split.h"
#include "judge/worker_client.h"

namespace strop::judge {

class WorkerPool : public Evaluator {
public:
    // Starts all of them at once. `idle` is called by who asks, a few times a second while it waits, and may throw,
    // after which nothing can be asked any more; `say` gets a line about each loss. EnvironmentErrors as of
    // WorkerConnection, and where one is of another machine or tool chain than the first.
    WorkerPool(const std::vector<WorkerCommand>& commands, std::function<void()> idle,
               std::function<void(const std::string&)> say = {});
    ~WorkerPool() override;
    WorkerPool(const WorkerPool&) = delete;
    WorkerPool& operator=(const WorkerPool&) = delete;

    // Who asks is somebody else from now on.
    void serve_another(std::function<void()> idle, std::function<void(const std::string&)> say);

    // As of WorkerClient. LostWorker when the last one is gone.
    const Greeting& greeting() const { return greeting_; }  // the first one's, with all that any is weaker in
    const std::string& machine_fingerprint() const { return greeting_.machine.fingerprint; }
    Machine machine(Seconds lasting);
    Problem open(const Problem& problem, const std::vector<std::string>& points, uint64_t seed,
                 Seconds reference_limit = Seconds(60));
    std::vector<Evaluation> evaluate(std::vector<EvaluationRequest> requests) override;
    std::vector<ProbeResult> probe(const std::vector<EvaluationRequest>& requests) override;
    Comparison compare(const ComparisonRequest& request) override;
    Profile profile(const EvaluationRequest& request);
    std::vector<SanitizerRun> sanitize(const EvaluationRequest& request, Seconds limit);
    std::vector<std::string> baselines(std::vector<MissingBaseline>& missing);
    std::vector<TestVector> test_vectors(const std::vector<ShapePoint>& points);
    void reseed(uint64_t seed);
    const std::string& toolchain() const { return opened_.toolchain; }
    const std::map<std::string, int64_t>& least_extents() const { return opened_.least; }
    const std::string& reference_note() const { return opened_.reference_note; }
    const std::string& toolchain(const std::string& compiler) const;

    double reference_seconds() const;     // of all together
    std::vector<WorkerUse> uses() const;  // in the order of the commands; empty of this machine's own alone

private:
    using Task = std::function<void(WorkerClient& client, size_t seat)>;
    enum class State { starting, idle, busy, reviving, dropped };

    // A worker; a thread of its own owns its client.
    struct Seat {
        WorkerCommand command;
        State state = State::starting;
        WorkerUse use;
        Task task;  // for this one alone
        std::exception_ptr failure;
        Greeting greeting;
        uint64_t seed = 0;  // of its inputs; its thread's while it is busy
        double reference_seconds = 0;
        std::thread thread;
    };
    struct Part {
        Share places;
        std::vector<EvaluationRequest> requests;  // of these places
        size_t seat;                              // whose it is; `anybody` when that one was lost
    };
    // Owned by all that work at it: who asked may be gone.
    struct Batch {
        std::vector<Evaluation> evaluations;
        std::deque<Part> waiting;
        size_t at_work = 0;
        std::exception_ptr failure;

        bool is_done() const { return at_work == 0 && waiting.empty(); }
    };
    struct Opened {
        std::string toolchain;
        std::map<std::string, std::string> toolchains;  // by compiler
        std::string reference_note;
        std::map<std::string, int64_t> least;
    };
    using Lock = std::unique_lock<std::mutex>;

    // Of who asks.
    void start_all(const std::vector<WorkerCommand>& commands);
    void check_alike() const;
    void check_toolchains(const std::vector<Opened>& opened) const;
    void wait_until(Lock& lock, const std::function<bool()>& done);
    size_t count(State state) const;
    std::vector<size_t> idle_seats(Lock& lock);  // at least one
    void run_on(Lock& lock, const std::vector<size_t>& numbers, const Task& task);
    template <typename Answer>
    Answer ask_first(const std::function<Answer(WorkerClient&)>& ask);
    std::shared_ptr<Batch> share_out(std::vector<EvaluationRequest> requests, const std::vector<size_t>& idle);
    void drop(Seat& seat, const LostWorker& loss);
    void close();

    // Of the threads.
    void serve(size_t number);
    std::unique_ptr<WorkerClient> start(Seat& seat);
    std::deque<Part>::iterator part_for(size_t number);
    bool has_work(size_t number);
    void do_task(size_t number, WorkerClient& client, Lock& lock);
    void do_part(size_t number, WorkerClient& client, Lock& lock);
    void revive(Seat& seat, WorkerClient& client, Lock& lock);
    void renew_inputs(Seat& seat, WorkerClient& client, uint64_t seed);

    std::function<void()> idle_;
    std::function<void(const std::string&)> say_;
    Greeting greeting_;
    Opened opened_;
    std::map<std::string, size_t> homes_;  // of libraries

    mutable std::mutex mutex_;                    // of all below
    std::condition_variable for_seats_, for_us_;  // there is something to do; something was done
    std::deque<Seat> seats_;
    size_t first_ = 0;  // who is asked alone, while it lives
    uint64_t seed_ = 0;
    std::shared_ptr<Batch> batch_;
    std::vector<std::string> lines_;  // to say
    std::string last_loss_, last_hint_;
    std::atomic<bool> closing_{false};
};

}  // namespace strop::judge
