// The proposer that asks language models: a planner for strategies, a coder for kernels, a fixer for what fails, an
// analyst for what to change next, an experimenter for what the analyst cannot tell, a scorer for what is promising, a
// reflector for what was learned. A call that fails costs an idea, never the run. Each question begins a task that goes
// on while the search does; all of them run on the search's thread, only the calls do not.
#pragma once

#include <functional>
#include <list>
#include <map>
#include <string>
#include <vector>

#include "agent/briefing.h"
#include "agent/open_calls.h"
#include "agent/panel.h"
#include "agent/prompt.h"
#include "agent/reply.h"
#include "agent/task.h"
#include "core/evaluator.h"
#include "core/proposer.h"
#include "core/record.h"

namespace strop::agent {

// What a profiler says of a kernel where it is slow, in words; empty: nothing.
using Profiler = std::function<std::string(const Kernel& kernel, const Evaluation& evaluation)>;

// Whether an answer that takes so long would come early enough for a kernel to be measured after it.
using TimeFor = std::function<bool(double seconds)>;

// Which calls are taken now, by their keys: those that `back` names, or those that were taken here when this run was
// recorded.
using Arrivals = std::function<std::vector<std::string>(const std::function<std::vector<std::string>()>& back)>;

struct AgentOptions {
    int strategies = 4;              // planned at once
    int parallel = 4;                // calls under way
    int most_repairs = 3;            // of one kernel
    int most_widenings = 2;          // of one run
    int most_deepenings = 4;         // of one strategy's family
    int most_experiments = 4;        // of one run
    Profiler profile;                // absent: the analyst gets times only
    TimeFor time_for;                // absent: there is always time
    Arrivals arrivals;               // absent: those that came back
    std::function<bool()> may_wait;  // for a reply, still; absent: always
};

class Agent : public Proposer {
public:
    // `judge` measures probes; it and the panel outlive the agent.
    Agent(Briefing briefing, Panel& panel, Evaluator& judge, const AgentOptions& options);

    std::string name() const override { return "models"; }
    bool paid() const override { return true; }
    std::vector<Proposal> plan() override;
    std::string why_nothing() const override;
    std::vector<Proposal> deepen(const Strategy& strategy, const Kernel& kernel, const Evaluation& evaluation,
                                 const std::vector<std::string>& tried) override;
    bool deepens_others() const override { return panel_.has("analyst") && panel_.has("coder"); }
    void hear(const BestKnown& best) override;
    void refuse(const Proposal& proposal, const std::string& known) override;
    bool repair(const Strategy& strategy, const Kernel& kernel, const Evaluation& failed) override;
    bool widen(const std::vector<Strategy>& tried) override;
    bool score(const std::vector<Strategy>& strategies) override;
    std::vector<Answer> arrived(bool wait) override;
    size_t expected() const override;
    // No answer is of use any more: calls under way are cancelled, with a line each among the losses.
    void end();

    double seconds() const { return seconds_; }  // spent waiting for models
    const std::vector<Experiment>& experiments() const { return experiments_; }
    // Replies of which no kernel came, or not the whole: a line each.
    const std::vector<std::string>& losses() const { return losses_; }
    // After the run: what the next one should know.
    std::vector<DrawnLesson> reflect(const RunRecord& record);

private:
    struct Work {
        Task<Answer> task;
        size_t kernels;  // that may come of it
    };
    void begin(Task<Answer> task, size_t kernels);
    void gather();  // the answers of tasks that are done
    Question question(Seat& seat, const llm::Request& request, const std::string& subject);
    bool may_begin(const Question& question);

    // What is asked, by whole tasks, whose arguments are theirs, ...
    Task<Answer> planning(llm::Request ask, std::vector<Strategy> tried);
    Task<Answer> writing(Strategy strategy);
    Task<Answer> repairing(Strategy strategy, Kernel kernel, Evaluation failed);
    Task<Answer> deepening(Strategy strategy, Kernel kernel, Evaluation evaluation, Facts facts, int step);
    Task<Answer> scoring(llm::Request ask);
    // ... and by parts of them.
    Task<std::vector<Strategy>> plan_strategies(llm::Request ask, const std::vector<Strategy>& tried);
    void accept(std::vector<Strategy> planned, const std::vector<Strategy>& tried, std::vector<Strategy>& accepted,
                std::string& rejected) const;
    // A kernel, or why there is none; what was left out of it.
    struct Draft {
        std::optional<Proposal> proposal;
        std::vector<std::string> losses;
        bool mendable = false;  // its author may see at once what is wrong
    };
    // From what a seat answers; where its edits do not apply or its tunables cannot be read, it is told so once.
    // `shown`: the source that edits refer to.
    Task<std::optional<Proposal>> write(Seat& seat, llm::Request ask, const Strategy& strategy,
                                        const std::string& shown);
    Draft draft_of(const llm::Reply& reply, const Strategy& strategy, const std::string& model,
                   const std::string& shown) const;
    Draft draft_of(Strategy strategy, const Code& code, const std::string& model) const;
    void lose(const std::string& role, const std::string& subject, const std::string& why);
    std::string profile_of(const Kernel& kernel, const Evaluation& evaluation);
    // One bottleneck and one change; where the analyst names two explanations, after an experiment.
    Task<std::optional<Diagnosis>> diagnose(const Strategy& strategy, const Kernel& kernel,
                                            const Evaluation& evaluation, Facts facts);
    // Empty when enough were made, nobody fills the role, or no probe could be read.
    Task<std::optional<Experiment>> experiment(const Strategy& strategy, const Kernel& kernel,
                                               const Evaluation& evaluation, const Facts& facts);
    Experiment measure(const ExperimentDraft& draft, const Strategy& strategy, const Kernel& kernel,
                       const Evaluation& evaluation);
    static std::string root_of(const std::string& kernel);
    // The schema is the role's unless the answer is a change.
    llm::Request request(const std::string& role, const std::string& prompt, Facts facts, bool change = false) const;
    // To ask these roles, one after the other.
    bool time_for(const std::vector<std::string>& roles) const;

    Briefing briefing_;
    std::optional<BestKnown> best_;
    Panel& panel_;
    Evaluator& judge_;
    AgentOptions options_;
    llm::Request plan_;  // as it was asked: a wider one goes on from there
    int widenings_ = 0;
    bool scoring_ = false;                   // the scorer was asked and did not answer yet
    int proposed_ = 0;                       // kernels
    std::map<std::string, int> repairs_;     // root kernel -> how often
    std::map<std::string, int> deepenings_;  // first kernel of a family -> how often
    int experiments_asked_ = 0;
    std::vector<Experiment> experiments_;
    std::vector<std::string> losses_;
    std::string why_nothing_ = "the planner gave nothing in time";
    double seconds_ = 0;
    std::vector<Answer> answers_;  // that nobody fetched yet
    std::list<Work> under_way_;
    OpenCalls calls_;
};

}  // namespace strop::agent
