// What every writer asks of a launch before it writes it.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "schedule/schedule.h"

namespace strop::backend {

std::vector<int> terms_of(const schedule::Step& step);  // that the step reads
const std::vector<schedule::Store>* stores_of(const schedule::Step& step);

using Shapes = std::map<std::string, std::vector<Expression>>;  // of tensors and buffers, by name
Shapes shapes_of(const Problem& problem, const schedule::Schedule& schedule);

// The place in a tensor's memory, of an index or of a place.
Expression offset_of(const std::vector<Expression>& at, const std::vector<Expression>& shape);

// Whether the step has a long floating-point sum, which a thread that takes it alone adds up in pieces of short_sum,
// so that rounding errors do not pile up.
inline constexpr int64_t short_sum = 64;
bool sums_in_pieces(const schedule::Step& step, const schedule::FoldStep& fold);

Expression symbol(const std::string& name);
Expression ceil_divide(const Expression& count, const Expression& size);
Expression product_of(const std::vector<schedule::Axis>& axes);  // positions

// What a launch uses, each in the order of the problem and the schedule.
struct LaunchArguments {
    std::vector<std::string> tensors, parameters, dimensions, tunables;
};
LaunchArguments arguments_of(const Problem& problem, const schedule::Schedule& schedule,
                             const schedule::Launch& launch);

// Names that the launch cannot give to something else.
std::set<std::string> names_in(const Problem& problem, const schedule::Schedule& schedule,
                               const schedule::Launch& launch);

}  // namespace strop::backend
