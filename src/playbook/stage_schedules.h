// Ways to compute one stage of a graph as launches that any device's language can write.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "graph/graph.h"
#include "schedule/schedule.h"

namespace strop::playbook {

struct StageSchedule {
    std::string id, hypothesis, bottleneck;  // of the strategy, if the stage is all there is
    double confidence = 0.5;
    std::vector<schedule::Launch> launches;
    std::vector<schedule::Buffer> buffers;
    TunableSpace space;
    std::optional<Expression> condition;  // over dimensions
};

// Whether the stage is one structure: a pointwise chain, reductions over the same axes with what surrounds
// them, a scan, a product or a convolution with what follows it.
bool is_structure(const Graph& graph);

// The likeliest first; the first may be used at every shape. `plain`: a launch for each output, whatever it
// is. Names of launches, buffers and axes begin with `prefix`. Empty where a value in the middle would need a
// launch of its own. `kept_bytes`: that a block may keep of its row; 0: schedule::most_kept elements of each tensor.
std::vector<StageSchedule> schedule_stage(const Problem& problem, const Graph& graph, const std::string& prefix,
                                          bool plain, int64_t kept_bytes = 0);

}  // namespace strop::playbook
