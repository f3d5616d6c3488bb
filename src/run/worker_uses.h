// Who measures for a run, and what each did for it. Pure.
#pragma once

#include <vector>

#include "core/record.h"
#include "judge/worker_command.h"

namespace strop {

// Batches stay as large as they were when the run began.
void note_workers(const judge::Workers& workers, RunSettings& settings);

// Of a run that was stopped and went on, by name. Who was dropped before and takes part now was not dropped.
std::vector<WorkerUse> joined(std::vector<WorkerUse> before, const std::vector<WorkerUse>& now);

}  // namespace strop
