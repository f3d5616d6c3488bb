// The proposer that asks language models: a planner for strategies, a coder for kernels, a fixer for what fails, an
// analyst for what to change next, an experimenter for what the analyst cannot tell, a scorer for what is promising, a
// reflector for what was learned. A call that fails costs an idea, never the run.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "agent/briefing.h"
#include "agent/panel.h"
#include "agent/prompt.h"
#include "agent/reply.h"
#include "core/evaluator.h"
#include "core/proposer.h"
#include "core/record.h"

namespace strop::agent {

// What a profiler says of a kernel where it is slow, in words; empty: nothing.
using Profiler = std::function<std::string(const Kernel& kernel, const Evaluation& evaluation)>;

// Whether an answer that takes so long would come early enough for a kernel to be measured after it.
using TimeFor = std::function<bool(double seconds)>;

struct AgentOptions {
    int strategies = 4;            // planned at once
    int parallel = 4;              // calls in flight
    int most_repairs = 3;          // of one kernel
    int most_widenings = 2;        // of one run
    int most_deepenings = 4;       // of one strategy's family
    int most_experiments = 4;      // of one run
    Profiler profile;              // absent: the analyst gets times only
    TimeFor time_for;              // absent: there is always time
};

class Agent : public Proposer {
public:
    // `judge` measures probes; it and the panel outlive the agent.
    Agent(Briefing briefing, Panel& panel, Evaluator& judge, const AgentOptions& options);

    std::string name() const override { return "models"; }
    bool paid() const override { return true; }
    std::vector<Proposal> plan() override;
    std::string why_nothing() const override { return why_nothing_; }
    std::vector<Proposal> deepen(const Strategy& strategy, const Kernel& kernel, const Evaluation& evaluation,
                                 const std::vector<std::string>& tried) override;
    bool deepens_others() const override { return panel_.has("analyst") && panel_.has("coder"); }
    void hear(const BestKnown& best) override;
    void refuse(const Proposal& proposal, const std::string& known) override;
    std::optional<Proposal> repair(const Strategy& strategy, const Kernel& kernel, const Evaluation& failed) override;
    std::vector<Proposal> widen(const std::vector<Strategy>& tried) override;
    std::map<std::string, double> score(const std::vector<Strategy>& strategies) override;

    double seconds() const { return seconds_; }   // wall time spent on models
    const std::vector<Experiment>& experiments() const { return experiments_; }
    // Replies of which no kernel came, or not the whole: a line each.
    const std::vector<std::string>& losses() const { return losses_; }
    // After the run: what the next one should know.
    std::vector<std::string> reflect(const RunRecord& record);

private:
    std::vector<Strategy> plan_strategies(llm::Request ask, const std::vector<Strategy>& tried);
    std::vector<Proposal> write_all(const std::vector<Strategy>& strategies);
    void accept(std::vector<Strategy> planned, const std::vector<Strategy>& tried, std::vector<Strategy>& accepted,
                std::string& rejected) const;
    // A kernel, or why there is none; what was left out of it.
    struct Draft {
        std::optional<Proposal> proposal;
        std::vector<std::string> losses;
        bool mendable = false;   // its author may see at once what is wrong
    };
    // From what a seat answers; where its edits do not apply or its tunables cannot be read, it is told so once. `shown`:
    // the source that edits refer to. Thread-safe.
    Draft write(Seat& seat, llm::Request ask, const Strategy& strategy, const std::string& shown);
    Draft draft_of(const llm::Reply& reply, const Strategy& strategy, const std::string& model,
                   const std::string& shown) const;
    Draft draft_of(Strategy strategy, const Code& code, const std::string& model) const;
    // Its proposal; what was lost is noted.
    std::optional<Proposal> taken(Draft draft);
    void lose(const std::string& role, const std::string& subject, const std::string& why);
    std::string profile_of(const Kernel& kernel, const Evaluation& evaluation);
    // One bottleneck and one change; where the analyst names two explanations, after an experiment.
    std::optional<Diagnosis> diagnose(const Strategy& strategy, const Kernel& kernel, const Evaluation& evaluation,
                                      Facts facts);
    // Empty when enough were made, nobody fills the role, or no probe could be read.
    std::optional<Experiment> experiment(const Strategy& strategy, const Kernel& kernel, const Evaluation& evaluation,
                                         const Facts& facts);
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
    llm::Request plan_;                        // as it was asked: a wider one goes on from there
    int widenings_ = 0;
    std::map<std::string, int> repairs_;       // root kernel -> how often
    std::map<std::string, int> deepenings_;    // first kernel of a family -> how often
    int experiments_asked_ = 0;
    std::vector<Experiment> experiments_;
    std::vector<std::string> losses_;
    std::string why_nothing_;
    double seconds_ = 0;
};

}  // namespace strop::agent
