// The pointwise operations on one side of a nest's core (a window, a scan, a search), and what they read.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "graph/graph.h"
#include "playbook/loop_text.h"

namespace strop::playbook {

// An input of the part, with the axes of the part's shape along which it varies.
struct PartOperand {
    int node = 0;      // the input, or the last of the reshapes that it is seen through
    std::string name;  // of the tensor
    std::vector<bool> spans;
};

struct PointwisePart {
    int root = 0;  // the value that the part computes; all operands are broadcast to its shape
    std::vector<PartOperand> operands;
    std::string lacks;  // non-empty: why it is no such part
};

// What `root` is computed from, down to inputs of float32 and to the value `stop` (-1: none).
PointwisePart pointwise_part(const Graph& graph, int root, int stop = -1);

// The input behind `id` when only reshapes lie between, which leave a contiguous tensor's order alone; else
// nullptr.
const Node* input_behind(const Graph& graph, int id);

// Which slice of an operand belongs to the slice `variable` of a nest whose outer axes have these extents,
// when the operand has only some of them: "row", "row % H", "(row / H * K + row % K)", "0".
std::string slice_index(const std::vector<Expression>& extents, const std::set<size_t>& members,
                        const std::string& variable);

// Statements for the value of a part, and the text of the value.
struct PartValue {
    std::vector<std::string> statements;
    std::string result, lacks;
    std::set<std::string> helpers;
};
PartValue part_value(const Graph& graph, const PointwisePart& part, const std::map<int, std::string>& known,
                     const std::set<int>& uniform, bool scalar);

// An extent as a factor of a product: "N", "3", "(N - 2)".
std::string factor(const Expression& extent);
// "j", "2 * j", "stride * j".
std::string times(const Expression& factor, const std::string& variable);
// The product of extents, 1 where there are none.
Expression product(const std::vector<Expression>& extents);

}  // namespace strop::playbook
