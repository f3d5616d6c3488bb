// What the commands that run the main job share: before it, and when it is done.
#pragma once

#include <string>
#include <vector>

#include "cli/flags.h"
#include "core/problem.h"
#include "core/record.h"
#include "judge/worker_client.h"
#include "judge/worker_command.h"
#include "run/run.h"

namespace strop::cli {

// How this program starts a worker: itself.
judge::WorkerCommand own_worker();
// What --worker says, else its own.
judge::WorkerCommand worker_of(const Arguments& arguments);
// The same of commands that may be given several; else those of `settings`, else its own.
judge::Workers workers_of(const Arguments& arguments, const RunSettings& settings = {});
// One of a command that asks it alone: Ctrl-C ends the waiting, and what there is to say of it goes to standard error.
judge::WorkerClient started(const judge::WorkerCommand& command);

// What every command that runs the main job takes from its flags: budget, evaluations, seed, points, result folder
// (strop-out/NAME unless --out says another). Checks points and folder.
RunOptions run_options(const Arguments& arguments, const Problem& problem, const std::string& name);

// A UsageError with the nearest labels when the problem has no such point.
void check_points(const Problem& problem, const std::vector<std::string>& labels);

// Fails now, and not after the run, when nothing can be written there.
void check_folder(const std::string& folder);
// The same of a file that a flag names; a UsageError where it is a folder.
void check_file(const std::string& flag, const std::string& file);

// Prints the record (--json: the document) and gives the exit code.
int finish(const RunRecord& record, const Arguments& arguments);

}  // namespace strop::cli
