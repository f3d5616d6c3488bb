// strop worker: the judge behind a pipe, one JSON message a line.
#include <csignal>
#include <cstdlib>
#include <iostream>
#include <optional>

#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/error.h"
#include "cli/commands.h"
#include "judge/worker.h"
#include "judge/worker_folder.h"

namespace strop::cli {

namespace {

// For a worker that has nothing to do any more to end by itself; less than its asker waits before it kills both.
constexpr Seconds parting{1};

bool is_hung_up() {
    pollfd input = {0, POLLRDHUP, 0};
    return ::poll(&input, 1, 0) > 0 && (input.revents & (POLLHUP | POLLRDHUP | POLLERR)) != 0;
}

// How the worker ended: by itself, or by us some seconds after its asker was gone. One that is busy does not see that,
// and would disturb whoever measures next.
int watch(pid_t worker) {
    std::optional<Clock::time_point> gone;
    int status = 0;
    while (::waitpid(worker, &status, WNOHANG) == 0) {
        ::usleep(250'000);
        if (!gone && is_hung_up()) gone = Clock::now();
        if (gone && seconds_since(*gone) > parting.count()) ::kill(worker, SIGKILL);
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : static_cast<int>(Exit::bug);
}

// With a folder of its own for all files, removed however the worker ends.
int serve_watched() {
    const judge::WorkerFolder scratch;
    ::setenv("TMPDIR", scratch.path().c_str(), 1);
    const pid_t worker = ::fork();
    if (worker < 0) throw EnvironmentError("cannot start a process", "raise the limit of processes: ulimit -u");
    if (worker > 0) return watch(worker);
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    judge::serve_worker(std::cin, std::cout);
    ::_exit(0);  // the folder is not ours to remove
}

}  // namespace

int command_worker(const Arguments& arguments) {
    std::signal(SIGINT, SIG_IGN);  // whoever started it decides
    if (!arguments.has("--scratch")) return serve_watched();
    ::setenv("TMPDIR", arguments.text("--scratch").c_str(), 1);
    judge::serve_worker(std::cin, std::cout);
    return 0;
}

}  // namespace strop::cli
