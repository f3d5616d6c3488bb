// The language models of one run: built from its settings, their calls kept in the store.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "agent/agent.h"
#include "core/record.h"
#include "knowledge/store.h"
#include "llm/caller.h"
#include "playbook/playbook.h"
#include "run/journal.h"

namespace strop {

class Advisers {
public:
    // At least one model in the settings; UsageErrors for what cannot be read. `replay`: only what the store has of
    // this run is answered.
    Advisers(const RunSettings& settings, Store& store, const std::string& run, bool replay, llm::Cancel cancel);
    ~Advisers();

    // From then on there is an agent; `judge`, who measures its probes, `journal`, which holds when replies were taken,
    // and what the functions refer to outlive it.
    struct Help {
        Evaluator& judge;
        Journal& journal;
        agent::Profiler profile;
        agent::TimeFor time_for;
        std::function<bool()> may_wait;  // for a model's reply
    };
    void brief(agent::Briefing briefing, Help help);
    agent::Agent& agent() { return *agent_; }

    double seconds() const { return agent_ ? agent_->seconds() : 0; }  // spent waiting for them
    // What was used and lost so far.
    void note(RunRecord& record) const;

private:
    RunSettings settings_;
    llm::Cancel cancel_;
    llm::Prices prices_;
    std::unique_ptr<llm::CallLog> log_;
    std::unique_ptr<llm::Caller> caller_;
    std::unique_ptr<agent::Panel> panel_;
    std::unique_ptr<agent::Agent> agent_;
};

// What models are told of a run, but lessons.
agent::Briefing briefing_of(const Problem& problem, const RunRecord& record, playbook::Playbook& playbook);

}  // namespace strop
