// Text shared by the loop strategies: values of one pass over one vector, names of results, layout of lines.
#pragma once

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/lines.h"
#include "playbook/loop_form.h"

namespace strop::playbook {

struct Values {
    std::vector<std::string> statements;
    std::map<int, std::string> of;  // target -> name or short expression
};

// The text of several values that share intermediates. `helpers` and `lacks` collect over calls.
class ValueWriter {
public:
    explicit ValueWriter(const LoopForm& form) : form_(form) {}

    Values write(const std::vector<int>& targets, const std::map<int, std::string>& known, const std::set<int>& uniform,
                 const std::string& prefix, bool scalar);

    std::set<std::string> helpers;
    std::string lacks;

private:
    const LoopForm& form_;
};

// Nodes that `targets` need before anything in `known`, the targets included, in topological order.
std::vector<int> cone(const LoopForm& form, const std::vector<int>& targets, const std::set<int>& known);

// Values that do not vary along the reduced axis, computed between the passes, because a full value or an
// output needs them; those of one stage. Inputs are not among them.
std::vector<int> shared_values(const LoopForm& form, int stage);

// Full values of this stage that are written out.
std::vector<int> outputs_of_stage(const LoopForm& form, int stage);

// "row_max", "row_sum_2": a name for every reduction.
std::map<int, std::string> reduction_names(const LoopForm& form, const std::string& prefix);

// What a value is called, without a prefix: "mean", "root".
std::string value_word(const Graph& graph, const Node& node);

// How a reduction starts, goes on and ends.
struct Folding {
    std::string start;       // float: "0.0f"
    std::string horizontal;  // helper: "sum"
    std::string helper;      // needed by fold: "vmax" or empty
};
Folding folding(const std::string& op);
std::string fold(const std::string& op, const std::string& a,
                 const std::string& b);  // "a + b", "vmax(a, b)"; b may be any expression

}  // namespace strop::playbook
