#include "sandbox/line_process.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <optional>

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fmt/format.h>

#include "base/error.h"
#include "base/strings.h"

namespace strop::sandbox {

namespace {

constexpr size_t most_errors = 16 << 10;  // that are kept
constexpr int poll_milliseconds = 100;

struct Pipe {
    int read = -1, write = -1;
    Pipe() {
        int ends[2];
        if (::pipe2(ends, O_CLOEXEC) != 0)
            throw EnvironmentError(fmt::format("cannot make a pipe: {}", std::strerror(errno)),
                                   "raise the limit of open files: ulimit -n");
        read = ends[0];
        write = ends[1];
    }
};

void shut(int& descriptor) {
    if (descriptor >= 0) ::close(descriptor);
    descriptor = -1;
}

}  // namespace

LineProcess::LineProcess(const std::vector<std::string>& argv, Errors errors) {
    const Pipe to, from;
    std::optional<Pipe> said;
    if (errors == Errors::kept) said.emplace();
    std::vector<char*> arguments;
    for (const std::string& argument : argv) arguments.push_back(const_cast<char*>(argument.c_str()));
    arguments.push_back(nullptr);
    ::signal(SIGPIPE, SIG_IGN);
    pid_ = ::fork();
    if (pid_ < 0)
        throw EnvironmentError(fmt::format("cannot start a process: {}", std::strerror(errno)),
                               "raise the limit of processes: ulimit -u");
    if (pid_ == 0) {
        ::setsid();  // an interrupt at the terminal is ours to handle, and a question on one is asked nobody
        ::prctl(PR_SET_PDEATHSIG, SIGKILL);
        ::dup2(to.read, 0);
        ::dup2(from.write, 1);
        if (errors == Errors::among_output) ::dup2(from.write, 2);
        if (said) ::dup2(said->write, 2);
        ::syscall(SYS_close_range, 3, ~0u, 4u /* CLOSE_RANGE_CLOEXEC */);  // connections of ours are not its own
        ::execvp(arguments[0], arguments.data());
        ::dprintf(2, "%s: %s\n", arguments[0], std::strerror(errno));
        ::_exit(127);
    }
    ::close(to.read);
    ::close(from.write);
    in_ = to.write;
    out_ = from.read;
    ::fcntl(in_, F_SETFL, O_NONBLOCK);
    if (!said) return;
    ::close(said->write);
    err_ = said->read;
    ::fcntl(err_, F_SETFL, O_NONBLOCK);
}

LineProcess::~LineProcess() {
    if (pid_ < 0) return;
    ::kill(-pid_, SIGKILL);
    end();
}

bool LineProcess::write_line(const std::string& line, const std::function<void()>& idle) {
    return write(line + "\n", idle);
}

bool LineProcess::write_all(const std::string& bytes, const std::function<void()>& idle) {
    const bool written = write(bytes, idle);
    shut(in_);
    return written;
}

bool LineProcess::write(const std::string& bytes, const std::function<void()>& idle) {
    for (size_t done = 0; done < bytes.size();) {
        const ssize_t n = ::write(in_, bytes.data() + done, bytes.size() - done);
        if (n < 0 && errno == EAGAIN) wait_for(true, idle);
        else if (n > 0) done += static_cast<size_t>(n);
        else if (n == 0 || errno != EINTR) return false;
    }
    return true;
}

void LineProcess::wait_for(bool room, const std::function<void()>& idle) {
    pollfd ready[] = {{room ? in_ : out_, static_cast<short>(room ? POLLOUT : POLLIN), 0}, {err_, POLLIN, 0}};
    const int count = ::poll(ready, 2, poll_milliseconds);
    if (count > 0 && ready[1].revents != 0) keep_errors();
    if (count > 0 && Clock::now() < idle_again_) return;
    idle_again_ = Clock::now() + std::chrono::milliseconds(poll_milliseconds);
    idle();
}

void LineProcess::keep_errors() {
    char chunk[most_errors];
    const ssize_t n = err_ < 0 ? -1 : ::read(err_, chunk, sizeof chunk);
    if (n == 0) shut(err_);
    if (n <= 0) return;
    errors_.append(chunk, static_cast<size_t>(n));
    if (errors_.size() > most_errors) errors_.erase(0, errors_.size() - most_errors);
}

std::string LineProcess::last_error() const {
    std::string last;
    for (const std::string& line : split(errors_, '\n'))
        if (!trim(line).empty()) last = trim(line);
    return last;
}

bool LineProcess::take_line(std::string& line, size_t longest) {
    const size_t end = std::min(buffer_.find('\n', searched_), buffer_.size());
    searched_ = end;
    if (end == buffer_.size() && end < longest) return false;
    searched_ = 0;
    const size_t length = std::min(end, longest);
    line = buffer_.substr(0, length);
    buffer_.erase(0, length == end ? end + 1 : length);
    return true;
}

bool LineProcess::read_line(std::string& line, const std::function<void()>& idle, size_t longest) {
    while (!take_line(line, longest)) {
        wait_for(false, idle);
        pollfd ready = {out_, POLLIN, 0};
        if (::poll(&ready, 1, 0) <= 0) continue;
        char chunk[65536];
        const ssize_t n = ::read(out_, chunk, sizeof chunk);
        if (n == 0 || (n < 0 && errno != EINTR)) return false;
        if (n > 0) buffer_.append(chunk, static_cast<size_t>(n));
    }
    return true;
}

void LineProcess::interrupt() {
    if (pid_ > 0) ::kill(pid_, SIGINT);
}

Finished LineProcess::end() {
    if (pid_ < 0) return {};
    shut(in_);
    shut(out_);
    int status = 0;
    while (::waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
    }
    if (err_ >= 0) keep_errors();  // what it said last
    shut(err_);
    pid_ = -1;
    Finished finished;
    if (WIFEXITED(status)) finished.exit_code = WEXITSTATUS(status);
    if (WIFSIGNALED(status)) finished.signal = WTERMSIG(status);
    return finished;
}

Finished follow(const std::vector<std::string>& argv, const std::function<void(const std::string& line)>& on_line,
                const std::function<bool()>& cancelled) {
    LineProcess process(argv, LineProcess::Errors::among_output);
    bool told = false;
    auto idle = [&] {
        if (!told && cancelled()) {
            process.interrupt();
            told = true;
        }
    };
    for (std::string line; process.read_line(line, idle);) {
        idle();
        on_line(line);
    }
    return process.end();
}

Finished LineProcess::end_within(Seconds patience) {
    shut(in_);
    const Clock::time_point start = Clock::now();
    for (siginfo_t ended{}; pid_ > 0 && seconds_since(start) < patience.count(); ::usleep(10'000)) {
        keep_errors();
        if (::waitid(P_PID, static_cast<id_t>(pid_), &ended, WEXITED | WNOHANG | WNOWAIT) == 0 && ended.si_pid > 0)
            return end();
    }
    if (pid_ > 0) ::kill(-pid_, SIGKILL);
    return end();
}

}  // namespace strop::sandbox
