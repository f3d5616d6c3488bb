// strop worker: the judge behind a pipe, one JSON message a line.
#include <csignal>
#include <iostream>

#include "cli/commands.h"
#include "judge/worker.h"

namespace strop::cli {

int command_worker(const Arguments&) {
    std::signal(SIGINT, SIG_IGN);   // whoever started it decides
    judge::serve_worker(std::cin, std::cout);
    return 0;
}

}  // namespace strop::cli
