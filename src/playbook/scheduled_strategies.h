// Strategies as schedules, which no language is in: one per way to compute a graph that is a single stage,
// else one per way to cut it into stages.
#pragma once

#include <string>
#include <vector>

#include "core/kernel.h"
#include "core/problem.h"
#include "graph/graph.h"
#include "schedule/schedule.h"

namespace strop::playbook {

struct ScheduledStrategy {
    Strategy strategy;   // id, family, hypothesis, bottleneck, excludes, confidence
    std::string suffix;  // of a variant: "stage_2_tiles"
    schedule::Schedule schedule;
    std::vector<ScheduledStrategy> variants;  // what deepening tries, in order
};

struct ScheduledStrategies {
    std::vector<ScheduledStrategy> strategies;  // most promising first
    std::string lacks;                          // non-empty when there are none: why
};

// Of a simplified graph.
struct Abilities {
    int64_t kept_bytes = 0;  // as of schedule_stage
    bool halves = false;     // 16-bit tensors are read and written
};
Abilities abilities_of(Language language);
ScheduledStrategies scheduled_strategies(const Problem& problem, const Graph& graph, const Abilities& abilities = {});

}  // namespace strop::playbook
