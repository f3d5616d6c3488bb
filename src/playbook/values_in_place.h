// Which values need no memory of their own, because loops that read them can compute them or index into another's.
#pragma once

#include "graph/graph.h"

namespace strop::playbook {

// Whether a value can be computed inside the loops of what uses it. The others need a nest of their own.
bool computes_in_place(const Graph& graph, int id);

// Whether `user` reads this operand at places that are not those of its own loops (again and again, or only
// where it exists), so that the operand has to be in memory or a view of memory.
bool reads_from_memory(const Graph& graph, const Node& user, int operand);

// A layout that moves no element: another index into the same memory.
bool is_view(const Graph& graph, const Node& node);

}  // namespace strop::playbook
