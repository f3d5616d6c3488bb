// Lessons of a run: those that its models are told, and those that it leaves.
#pragma once

#include <string>
#include <vector>

#include "agent/reply.h"
#include "core/record.h"
#include "core/signature.h"
#include "knowledge/store.h"

namespace strop {

// What `source` holds for a run: lessons whose conditions fit its problem, the families of its strategies and its
// hardware, but for those that are withdrawn and those that another contradicts with as many confirmations. Of this
// problem first, then those that were confirmed most; then what was imported; what a document says and no run has
// confirmed last. Kept with the run in `store`, so that they are the same on every walk through it.
std::vector<std::string> earlier_lessons(Store& store, Store& source, const RunRecord& current,
                                         const std::vector<Strategy>& planned);

// Draws lessons from what a finished run measured, adds those of models, and notes all of them in the record. Unless it
// is a replay, which says nothing new, the store keeps them, and what the run says of lessons that are known.
void draw_lessons(Store& store, RunRecord& record, const std::vector<agent::DrawnLesson>& of_models, bool replay);

}  // namespace strop
