#include "sandbox/line_process.h"

#include <cerrno>
#include <csignal>
#include <cstring>

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fmt/format.h>

#include "base/error.h"

namespace strop::sandbox {

LineProcess::LineProcess(const std::vector<std::string>& argv, Errors errors) {
    int to[2], from[2];
    if (::pipe2(to, O_CLOEXEC) != 0 || ::pipe2(from, O_CLOEXEC) != 0)
        throw EnvironmentError(fmt::format("cannot make a pipe: {}", std::strerror(errno)),
                               "raise the limit of open files: ulimit -n");
    std::vector<char*> arguments;
    for (const std::string& argument : argv) arguments.push_back(const_cast<char*>(argument.c_str()));
    arguments.push_back(nullptr);
    ::signal(SIGPIPE, SIG_IGN);
    pid_ = ::fork();
    if (pid_ < 0)
        throw EnvironmentError(fmt::format("cannot start a process: {}", std::strerror(errno)),
                               "raise the limit of processes: ulimit -u");
    if (pid_ == 0) {
        ::setsid();   // an interrupt at the terminal is ours to handle
        ::prctl(PR_SET_PDEATHSIG, SIGKILL);
        ::dup2(to[0], 0);
        ::dup2(from[1], 1);
        if (errors == Errors::among_output) ::dup2(from[1], 2);
        ::execvp(arguments[0], arguments.data());
        ::_exit(127);
    }
    ::close(to[0]);
    ::close(from[1]);
    in_ = to[1];
    out_ = from[0];
}

LineProcess::~LineProcess() {
    if (pid_ < 0) return;
    ::kill(-pid_, SIGKILL);
    end();
}

bool LineProcess::write_line(const std::string& line) {
    std::string text = line + "\n";
    for (size_t done = 0; done < text.size();) {
        ssize_t n = ::write(in_, text.data() + done, text.size() - done);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) return false;
        done += static_cast<size_t>(n);
    }
    return true;
}

bool LineProcess::read_line(std::string& line, const std::function<void()>& idle) {
    while (true) {
        size_t end = buffer_.find('\n');
        if (end != std::string::npos) {
            line = buffer_.substr(0, end);
            buffer_.erase(0, end + 1);
            return true;
        }
        pollfd ready = {out_, POLLIN, 0};
        int count = ::poll(&ready, 1, 100);
        if (count <= 0) {
            idle();
            continue;
        }
        char chunk[65536];
        ssize_t n = ::read(out_, chunk, sizeof chunk);
        if (n == 0 || (n < 0 && errno != EINTR)) return false;
        if (n > 0) buffer_.append(chunk, static_cast<size_t>(n));
    }
}

void LineProcess::interrupt() {
    if (pid_ > 0) ::kill(pid_, SIGINT);
}

Finished LineProcess::end() {
    if (pid_ < 0) return {};
    ::close(in_);
    ::close(out_);
    int status = 0;
    while (::waitpid(pid_, &status, 0) < 0 && errno == EINTR) {}
    pid_ = -1;
    Finished finished;
    if (WIFEXITED(status)) finished.exit_code = WEXITSTATUS(status);
    if (WIFSIGNALED(status)) finished.signal = WTERMSIG(status);
    return finished;
}

}  // namespace strop::sandbox
