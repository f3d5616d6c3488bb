// strop-worker, which `strop worker` becomes: the judge behind a pipe, one JSON message a line. A program of its own,
// because it starts processes all the time, and each costs by the libraries that are loaded here.
//   strop-worker [SCRATCH]      where its files go, which whoever started it removes
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <optional>

#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fmt/format.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/line.h"
#include "base/log.h"
#include "judge/worker.h"
#include "judge/worker_folder.h"

namespace strop::judge {

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
    const WorkerFolder scratch;
    ::setenv("TMPDIR", scratch.path().c_str(), 1);
    const pid_t worker = ::fork();
    if (worker < 0) throw EnvironmentError("cannot start a process", "raise the limit of processes: ulimit -u");
    if (worker > 0) return watch(worker);
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    serve_worker(std::cin, std::cout);
    ::_exit(0);  // the folder is not ours to remove
}

int serve(const char* scratch) {
    const char* level = std::getenv("STROP_LOG");
    set_log_level(level ? level : "off");
    std::signal(SIGINT, SIG_IGN);  // whoever started it decides
    if (!scratch) return serve_watched();
    ::setenv("TMPDIR", scratch, 1);
    serve_worker(std::cin, std::cout);
    return 0;
}

int report(const std::string& phrase, const std::string& hint, Exit code) {
    fmt::print(stderr, "strop: {}\n", one_line(phrase));
    if (!hint.empty()) fmt::print(stderr, "hint: {}\n", one_line(hint));
    return static_cast<int>(code);
}

}  // namespace

}  // namespace strop::judge

int main(int count, char** words) {
    using namespace strop;
    try {
        return judge::serve(count > 1 ? words[1] : nullptr);
    } catch (const Error& error) {
        return judge::report(error.what(), error.hint(), error.code());
    } catch (const std::exception& error) {
        return judge::report(fmt::format("a bug: {}", error.what()), "", Exit::bug);
    }
}
