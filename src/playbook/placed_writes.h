// States of a loop that a step changes in a few places only: where(index == t, value, state) is a write of `value` at
// t, and not another array.
#pragma once

#include <optional>
#include <vector>

#include "graph/graph.h"

namespace strop::playbook {

// Of one axis: an expression, or the value of a scalar node, which may lie outside of the axis: nothing is written
// then.
struct Place {
    Expression at;
    int node = -1;  // -1: the expression says it
    friend bool operator==(const Place& a, const Place& b) { return a.node == b.node && (a.node >= 0 || a.at == b.at); }
};

struct PlacedWrite {
    std::vector<std::optional<Place>> places;  // one an axis of the state; none: all of the axis is written
    int value = 0;                             // node: what is written, with an extent of 1 where there is a place
};

// Of what is written into a state of this shape.
std::vector<Expression> written_shape(std::vector<Expression> state, const std::vector<std::optional<Place>>& places);

// One after the other they make the node `next` from the input node `state`. Values are appended to the graph. None
// where a step may change all of the state.
std::optional<std::vector<PlacedWrite>> placed_writes(Graph& graph, int next, int state);

}  // namespace strop::playbook
