// What the files of a result say of the winners.
#pragma once

#include <string>
#include <vector>

#include "core/record.h"
#include "language/bundle.h"
#include "search/dispatch.h"

namespace strop {

// Of each winner why it should be fast, and what was measured at the user's shapes.
BundleNotes winner_notes(const Problem& problem, const search::DispatchPlan& plan,
                         const std::vector<Strategy>& strategies);
// What the files begin with: what they are, and which run made them.
std::string header_note(const RunRecord& record);
// `toolchain`: "clang 19.1.7 -O3 ..."; the winners' own flags follow its.
std::string compiler_flags(const std::string& toolchain, const std::vector<DispatchWinner>& winners);

}  // namespace strop
