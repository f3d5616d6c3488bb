// All strategies under way, and what they have to do with one another.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "search/track.h"

namespace strop::search {

using Tracks = std::vector<std::unique_ptr<Track>>;

// Gives the proposal's strategy and kernel ids that no track has.
void name_uniquely(Proposal& proposal, const Tracks& tracks);

// The ids of all kernels that descend from the same planned strategy.
std::vector<std::string> family_of(const Track& track, const Tracks& tracks);

// The kernel's first configuration with the parent's best values for the tunables that both have.
Configuration inherited(const Kernel& kernel, const Track& parent, const Leaders& leaders);

// Where the evaluation is the fastest so far its track leads.
void lead(Leaders& leaders, const Tracks& tracks, const Evaluation& evaluation);

// The track leaves the shapes where calls take long and its best is below `reach` of the lead: it may win others.
void leave_slow_points(Track& track, const Leaders& leaders, double reach);

// Empty where nothing worked yet.
std::optional<BestKnown> best_known(const Tracks& tracks, const Leaders& leaders);

// Of those that are still active.
bool all_exhausted(const Tracks& tracks);

std::vector<Strategy> strategies_of(const Tracks& tracks);

}  // namespace strop::search
