// What Python modules of kernels have in common: names, comments, and the function that a caller calls.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "base/lines.h"
#include "schedule/schedule.h"

namespace strop::backend {

// The first name of the problem or the schedule that is among these words or a tunable's; empty when there is none.
std::string name_in_module(const Problem& problem, const schedule::Schedule& schedule, std::set<std::string> words);

// "# NAME: hypothesis", where it may be used, `strop:tune` and `strop:require`, a line each.
std::string module_head(const Problem& problem, const schedule::Schedule& schedule,
                        const std::vector<Tunable>& tunables);
std::string module_constants(const std::vector<Tunable>& tunables);  // "NAME = default", a line each

// The head of NAME(inputs, dimensions that no input tells, outputs=None, parameters=...): it reads the dimensions and
// allocates outputs and buffers. Rounded up quotients are `ceildiv(a, b)`, whatever that is called.
void begin_module_function(const Problem& problem, const schedule::Schedule& schedule, const std::string& ceildiv,
                           Lines& lines);

std::string in_python(const Expression& expression, const std::string& ceildiv);
std::vector<std::string> names_of(const std::vector<Tensor>& tensors);
std::string torch_type(DType dtype);  // "torch.float32"

// Without a type: 0.5, True, float("inf").
std::string python_literal(double value, DType dtype);

}  // namespace strop::backend
