// The second measurement of a result: called from Python in one process with the best framework that is installed.
#pragma once

#include <string>
#include <vector>

#include "base/clock.h"
#include "core/in_process.h"
#include "core/problem.h"
#include "core/record.h"
#include "run/result_folder.h"

namespace strop {

// PyTorch where it is among the baselines that ran, else JAX, else NumPy. `limit`: of sampling; starting a framework
// comes on top. A failure is a measurement that is missing, with the reason. Throws Interrupted.
InProcess measure_in_process(const Problem& problem, const RunRecord& record, const ResultFiles& files,
                             const std::vector<std::string>& baselines, Seconds limit);

// What in_process.py printed, as ratios. Each round is an observation: they share one process, whose luck is not known.
// Throws what parsing throws.
InProcess in_process_of(const std::string& framework, const std::string& printed);

}  // namespace strop
