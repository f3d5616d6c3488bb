// strop worker: becomes strop-worker, which is linked with what judging needs alone.
#include <string>

#include <unistd.h>

#include <fmt/format.h>

#include "base/error.h"
#include "cli/commands.h"
#include "judge/programs.h"

namespace strop::cli {

int command_worker(const Arguments& arguments) {
    const std::string program = judge::worker_program();
    const std::string scratch = arguments.has("--scratch") ? arguments.text("--scratch") : "";
    ::execl(program.c_str(), program.c_str(), scratch.empty() ? nullptr : scratch.c_str(), nullptr);
    throw EnvironmentError(fmt::format("{}: cannot be started", program), "build Strop again: ./strop setup");
}

}  // namespace strop::cli
