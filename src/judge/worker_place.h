// A worker at a place: a command that runs the words after it somewhere else, where this program is perhaps missing and
// is copied to.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "judge/worker_command.h"
#include "judge/worker_connection.h"

namespace strop::judge {

// Starts any worker, at the first time and later. `idle` as of WorkerConnection; `say` gets a line when something is
// copied. EnvironmentErrors as of WorkerConnection, and one line for each step of the copying that can fail.
std::unique_ptr<WorkerConnection> connect(const WorkerCommand& command, const std::function<void()>& idle,
                                          const std::function<void(const std::string&)>& say);

}  // namespace strop::judge
