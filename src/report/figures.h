// The pictures of the HTML report, each an <svg> element; empty when the record has nothing to draw. Pure.
#pragma once

#include <string>
#include <vector>

#include "core/record.h"

namespace strop::report {

std::string speedup_figure(const RunRecord& record);  // one row a shape, one mark a baseline, intervals
// Williams, Waterman and Patterson 2009
std::string roofline_figure(const std::vector<ShapeReport>& shapes, const Machine& machine);
std::string history_figure(const RunRecord& record);   // every evaluation, and the best so far
std::string strategy_figure(const RunRecord& record);  // the tree with states and reasons

}  // namespace strop::report
