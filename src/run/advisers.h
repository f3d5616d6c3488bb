// The language models of one run: built from its settings, their calls kept in the store.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "agent/agent.h"
#include "core/record.h"
#include "knowledge/store.h"
#include "llm/caller.h"

namespace strop {

class Advisers {
public:
    // At least one model in the settings; UsageErrors for what cannot be read. `replay`: only what the store has of
    // this run is answered.
    Advisers(const RunSettings& settings, Store& store, const std::string& run, bool replay, llm::Cancel cancel);
    ~Advisers();

    // From then on there is an agent; `judge`, who measures its probes, and what the functions refer to outlive it.
    void brief(agent::Briefing briefing, Evaluator& judge, agent::Profiler profile, agent::TimeFor time_for);
    agent::Agent& agent() { return *agent_; }

    double seconds() const { return agent_ ? agent_->seconds() : 0; }   // spent waiting for them
    // What was used and lost so far.
    void note(RunRecord& record) const;

private:
    class StoreLog;
    RunSettings settings_;
    llm::Prices prices_;
    std::unique_ptr<StoreLog> log_;
    std::unique_ptr<llm::Caller> caller_;
    std::unique_ptr<agent::Panel> panel_;
    std::unique_ptr<agent::Agent> agent_;
};

// What earlier runs of the problem learned, the newest first; the same on every walk through a run.
std::vector<std::string> earlier_lessons(Store& store, const RunRecord& current);

}  // namespace strop
