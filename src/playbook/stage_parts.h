// The structures of a stage; stage_schedules.h puts them together.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "playbook/stage_schedules.h"
#include "schedule/graph_terms.h"

namespace strop::playbook {

// One output by itself; a product or a convolution may be followed by pointwise operations.
std::optional<schedule::Launch> output_launch(const Problem& problem, const Graph& graph, size_t output,
                                              const std::string& name);

// Each may answer with nothing.
std::vector<StageSchedule> schedule_reductions(const Problem& problem, const Graph& graph, const std::string& prefix,
                                               int64_t kept_bytes);
std::vector<StageSchedule> schedule_scan(const Problem& problem, const Graph& graph, const std::string& prefix);
std::vector<StageSchedule> schedule_product(const Problem& problem, const Graph& graph, const std::string& prefix);

// What the labels of a contraction stand for.
class ContractionAxes {
public:
    ContractionAxes(const Graph& graph, const Node& contraction);
    // Of the operand of that side.
    schedule::Index index(size_t side, const std::map<char, Expression>& at) const;

    std::map<char, Expression> extent;  // by label
    std::string summed;                 // labels that the result lacks

private:
    const Graph& graph_;
    const Node& node_;
};

// x at an output's index of a convolution and a tap (channel of the group, places in the filter); zero in the
// padding.
int convolved_element(const Graph& graph, const Node& convolution, schedule::GraphTerms& terms,
                      const schedule::Index& out, const Expression& group, const schedule::Index& tap);

}  // namespace strop::playbook
