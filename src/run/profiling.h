// Why a kernel takes as long as it does: its profile from the judge, set against the machine's ceilings.
#pragma once

#include <map>
#include <string>

#include "graph/graph.h"
#include "judge/worker_client.h"
#include "report/profile_report.h"

namespace strop {

// Only a kernel that is right has a profile; else the verdict says why there is none.
report::ProfileReport profile_kernel(judge::WorkerClient& worker, const Problem& problem, const Kernel& kernel,
                                     const Configuration& configuration);

// Points of it get their rooflines and diagnoses. `least_ns`: the least time known at a shape, by label; a roofline
// that it beats is none.
report::ProfileReport explained(Profile profile, const Problem& problem, const Graph& graph, const Machine& machine,
                                const std::map<std::string, double>& least_ns = {});

// The least time at each shape of what was right, by label.
std::map<std::string, double> least_times(const std::vector<HistoryEntry>& history);

// Where a profile is worth most: of the points where a kernel was ok, those that are the furthest from their rooflines.
std::vector<ShapePoint> worth_profiling(const Evaluation& evaluation, const std::vector<ShapeReport>& shapes);

// For a model: what a terminal shows, and the instructions of each point's hottest loop.
std::string profile_text(const report::ProfileReport& report);

}  // namespace strop
