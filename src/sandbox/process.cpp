#include "sandbox/process.h"

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <csignal>
#include <cstdlib>
#include <cstring>

#include <fcntl.h>
#include <poll.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fmt/format.h>

#include "base/error.h"
#include "sandbox/cell.h"
#include "sandbox/control_group.h"
#include "sandbox/filter.h"
#include "sandbox/landlock.h"
#include "sandbox/privileges.h"
#include "sandbox/resident_memory.h"

namespace strop::sandbox {

namespace {

constexpr int commands_fd = 3, replies_fd = 4;
const Seconds longest_stop{5};
constexpr unsigned stop_takes_us = 10;
const Seconds between_looks_at_memory{0.1};
constexpr int exec_failed = 127, sandbox_failed = 126;

struct Pipe {
    int read = -1, write = -1;
    Pipe() {
        int fds[2];
        if (::pipe2(fds, O_CLOEXEC) != 0)
            throw EnvironmentError(fmt::format("cannot make a pipe: {}", std::strerror(errno)),
                                   "raise the limit of open files: ulimit -n");
        read = fds[0];
        write = fds[1];
    }
};

void close_fd(int& fd) {
    if (fd >= 0) ::close(fd);
    fd = -1;
}

void set_limit(int resource, int64_t value) {
    rlimit limit = {static_cast<rlim_t>(value), static_cast<rlim_t>(value)};
    ::setrlimit(static_cast<__rlimit_resource>(resource), &limit);
}

// Everything that the child needs, prepared before fork: nothing allocates between fork and exec.
struct Prepared {
    std::vector<std::string> environment_texts;
    std::vector<char*> argv, environment;
    std::string program;
    FileRules rules;
    Filter filter;
    const Cell* cell = nullptr;           // where a candidate lives; null: where we do
    std::unique_ptr<Keeper> keeper;       // of a candidate's own name space, once it has started
    std::unique_ptr<ControlGroup> group;  // which limits a candidate's threads, where its users do not
    int own_threads = 0;                  // the limit where they do

    explicit Prepared(const Command& command) : Prepared(command, command.only ? *command.only : whatever_there_is()) {}

    static Filter::Freedom freedom_of(const Command& command) {
        if (command.drives_gpu) return Filter::Freedom::drives_gpu;
        if (command.writes_scratch) return Filter::Freedom::writes_files;
        return command.generates_code ? Filter::Freedom::generates_code : Filter::Freedom::none;
    }

    static Protections whatever_there_is() { return {landlock_version(), seccomp_available(), true, true, true}; }

    Prepared(const Command& command, const Protections& protections)
        : program(find_program(command.argv.at(0))),
          rules(command, program, protections.landlock),
          filter(command.trust, freedom_of(command), protections.seccomp) {
        std::map<std::string, std::string> variables = {{"LANG", "C.UTF-8"}};
        for (const char* name : {"PATH", "HOME", "LD_LIBRARY_PATH"})
            if (const char* value = std::getenv(name)) variables[name] = value;
        if (!command.scratch.empty()) variables["TMPDIR"] = variables["HOME"] = command.scratch;
        for (const auto& [name, value] : command.environment) variables[name] = value;
        for (const auto& [name, value] : variables) environment_texts.push_back(name + "=" + value);
        for (std::string& text : environment_texts) environment.push_back(text.data());
        environment.push_back(nullptr);
        for (const std::string& argument : command.argv) argv.push_back(const_cast<char*>(argument.c_str()));
        argv.push_back(nullptr);
        if (command.trust == Trust::candidate) prepare_cell(command.limits.threads, protections);
    }

    void prepare_cell(int threads, const Protections& protections) {
        if (protections.name_spaces) cell = Cell::shared();
        if (threads <= 0 || !protections.thread_limit) return;
        if (cell && cell->own_users() && ::geteuid() != 0) own_threads = threads;
        else group = ControlGroup::make(threads);
    }

    static std::string find_program(const std::string& name) {
        if (name.find('/') != std::string::npos) return name;
        const char* path = std::getenv("PATH");
        std::string folders = path ? path : "/usr/bin:/bin";
        for (size_t start = 0; start <= folders.size();) {
            size_t end = std::min(folders.find(':', start), folders.size());
            std::string candidate = folders.substr(start, end - start) + "/" + name;
            if (::access(candidate.c_str(), X_OK) == 0) return candidate;
            start = end + 1;
        }
        return name;
    }
};

// File descriptors of the child: 0, 1, 2 and, for a talking child, 3 and 4.
struct ChildFds {
    int in, out, err, commands = -1, replies = -1;
};

void move_descriptors(const ChildFds& fds, const std::vector<int>& keep) {
    // Out of the way first: a source may sit on another's target.
    int in = ::fcntl(fds.in, F_DUPFD, 512), out = ::fcntl(fds.out, F_DUPFD, 512), err = ::fcntl(fds.err, F_DUPFD, 512);
    int commands = fds.commands >= 0 ? ::fcntl(fds.commands, F_DUPFD, 512) : -1;
    int replies = fds.replies >= 0 ? ::fcntl(fds.replies, F_DUPFD, 512) : -1;
    ::dup2(in, 0);
    ::dup2(out, 1);
    ::dup2(err, 2);
    int first = 3;
    if (commands >= 0) {
        ::dup2(commands, commands_fd);
        ::dup2(replies, replies_fd);
        first = 5;
    }
    ::syscall(SYS_close_range, first, ~0u, 4u /* CLOSE_RANGE_CLOEXEC */);
    for (int fd : keep) ::fcntl(fd, F_SETFD, 0);
}

// Who the child is and what it may do, from the widest to the narrowest.
bool confine(const Command& command, const Prepared& prepared) {
    if (prepared.group && !prepared.group->enter()) return false;
    if (prepared.own_threads > 0) {  // before the limit, which would count all that its user runs
        if (!enter_own_users()) return false;
        set_limit(RLIMIT_NPROC, prepared.own_threads);
    }
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    set_limit(RLIMIT_CORE, 0);
    if (command.limits.memory_bytes > 0) set_limit(RLIMIT_AS, command.limits.memory_bytes);
    if (command.limits.file_bytes > 0) set_limit(RLIMIT_FSIZE, command.limits.file_bytes);
    if (command.limits.processor.count() > 0)
        set_limit(RLIMIT_CPU, static_cast<int64_t>(std::ceil(command.limits.processor.count())));
    if (command.trust == Trust::candidate && !command.writes_scratch) set_limit(RLIMIT_FSIZE, 0);
    if (command.trust == Trust::tool) return true;
    if (command.trust == Trust::candidate && !drop_capabilities()) return false;
    return forbid_new_privileges() && prepared.rules.enter() && prepared.filter.enter();
}

[[noreturn]] void become(const Command& command, Prepared& prepared, const ChildFds& fds) {
    ::setpgid(0, 0);
    for (int signal = 1; signal < 32; ++signal) ::signal(signal, SIG_DFL);
    sigset_t none;
    sigemptyset(&none);
    ::sigprocmask(SIG_SETMASK, &none, nullptr);
    move_descriptors(fds, command.keep_fds);
    if (!command.working_folder.empty() && ::chdir(command.working_folder.c_str()) != 0) ::_exit(sandbox_failed);
    if (command.same_addresses) ::personality(ADDR_NO_RANDOMIZE);
    if (!confine(command, prepared)) ::_exit(sandbox_failed);
    ::execve(prepared.program.c_str(), prepared.argv.data(), prepared.environment.data());
    ::_exit(exec_failed);
}

pid_t start(const Command& command, Prepared& prepared, const ChildFds& fds) {
    pid_t pid = prepared.cell ? prepared.cell->fork_inside(prepared.keeper) : ::fork();
    if (pid < 0)
        throw EnvironmentError(fmt::format("cannot start a process: {}", std::strerror(errno)),
                               "raise the limit of processes: ulimit -u");
    if (pid == 0) become(command, prepared, fds);
    ::setpgid(pid, pid);  // here as well: it may be stopped or killed as a group before it has run at all
    return pid;
}

// Readable when the process has ended; -1 where the system cannot tell (Linux before 5.3).
int open_exit(pid_t pid) { return static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)); }

void wait_for_end(int exit, unsigned longest_us) {
    pollfd end = {exit, POLLIN, 0};
    const timespec longest = {0, 1000L * longest_us};
    ::ppoll(&end, exit >= 0 ? 1 : 0, &longest, nullptr);
}

void kill_tree(pid_t pid) {
    ::kill(-pid, SIGKILL);
    ::kill(pid, SIGKILL);
}

void note_status(Finished& finished, int status) {
    if (WIFEXITED(status)) finished.exit_code = WEXITSTATUS(status);
    if (WIFSIGNALED(status)) finished.signal = WTERMSIG(status);
}

// Reads what is there; false at the end of the stream.
bool take(int fd, std::string& text, int64_t limit) {
    char buffer[16384];
    ssize_t n = ::read(fd, buffer, sizeof buffer);
    if (n < 0) return errno == EAGAIN || errno == EINTR;
    if (n == 0) return false;
    int64_t room = limit - static_cast<int64_t>(text.size());
    if (room > 0) text.append(buffer, static_cast<size_t>(std::min<int64_t>(room, n)));
    return true;
}

void make_nonblocking(int fd) { ::fcntl(fd, F_SETFL, ::fcntl(fd, F_GETFL) | O_NONBLOCK); }

// Looks now and then: a tree of processes is many files.
bool exceeds(pid_t pid, int64_t limit, Clock::time_point& looked) {
    if (limit <= 0 || Clock::now() - looked < between_looks_at_memory) return false;
    looked = Clock::now();
    return resident_bytes(pid) > limit;
}

// One command in flight: its pipes are served until it ends, then the rest of its tree is killed.
struct Running {
    const Command* command;
    pid_t pid = -1;
    int in = -1, out = -1, err = -1;
    int exit = -1;  // of open_exit()
    size_t written = 0;
    Clock::time_point started = Clock::now(), looked_at_memory = started;
    Finished finished;
    bool done = false;
    std::unique_ptr<Keeper> keeper;
    std::unique_ptr<ControlGroup> group;

    void launch(const Command& c, bool has_input) {
        command = &c;
        Pipe input, output, errors;
        Prepared prepared(c);
        started = Clock::now();
        pid = start(c, prepared, {input.read, output.write, errors.write});
        exit = open_exit(pid);
        keeper = std::move(prepared.keeper);
        group = std::move(prepared.group);
        ::close(input.read);
        ::close(output.write);
        ::close(errors.write);
        in = input.write;
        out = output.read;
        err = errors.read;
        for (int fd : {in, out, err}) make_nonblocking(fd);
        if (!has_input) close_fd(in);
    }

    void serve(const std::string& input, short in_events, short out_events, short err_events) {
        if (in >= 0 && in_events) {
            ssize_t n = ::write(in, input.data() + written, input.size() - written);
            if (n > 0) written += static_cast<size_t>(n);
            if ((n < 0 && errno != EAGAIN) || written == input.size()) close_fd(in);
        }
        int64_t limit = command->limits.output_bytes;
        if (out >= 0 && out_events && !take(out, finished.out, limit)) close_fd(out);
        if (err >= 0 && err_events && !take(err, finished.err, limit)) close_fd(err);
        int status = 0;
        if (::waitpid(pid, &status, WNOHANG) == pid) finish(status);
        double limit_seconds = command->limits.wall.count();
        if (!done && limit_seconds > 0 && seconds_since(started) > limit_seconds) {
            finished.timed_out = true;
            end();
        } else if (!done && exceeds(pid, command->limits.resident_bytes, looked_at_memory)) {
            finished.over_memory = true;
            end();
        }
    }

    void end() {
        int status = 0;
        kill_tree(pid);
        ::waitpid(pid, &status, 0);
        finish(status);
    }

    void finish(int status) {
        note_status(finished, status);
        kill_tree(pid);
        // What it wrote before it ended still sits in the pipes.
        while (out >= 0 && drain_once(out, finished.out)) {
        }
        while (err >= 0 && drain_once(err, finished.err)) {
        }
        close_fd(in);
        close_fd(out);
        close_fd(err);
        close_fd(exit);
        keeper.reset();
        group.reset();
        finished.seconds = seconds_since(started);
        finished.not_found = finished.exit_code == exec_failed;
        done = true;
    }

    bool drain_once(int fd, std::string& text) {
        pollfd ready = {fd, POLLIN, 0};
        if (::poll(&ready, 1, 0) <= 0) return false;
        return take(fd, text, command->limits.output_bytes);
    }
};

// A child that does not read its input must not end us. The disposition of a signal belongs to the whole process
// and other threads may be here too, so the signal is blocked in this thread, and taken away if it came.
class NoBrokenPipe {
public:
    NoBrokenPipe() {
        sigset_t pending;
        sigemptyset(&pipe_);
        sigaddset(&pipe_, SIGPIPE);
        ::sigpending(&pending);
        was_pending_ = sigismember(&pending, SIGPIPE) == 1;
        ::pthread_sigmask(SIG_BLOCK, &pipe_, &before_);
    }
    ~NoBrokenPipe() {
        timespec at_once = {};
        if (!was_pending_)
            while (::sigtimedwait(&pipe_, nullptr, &at_once) < 0 && errno == EINTR) {
            }
        ::pthread_sigmask(SIG_SETMASK, &before_, nullptr);
    }
    NoBrokenPipe(const NoBrokenPipe&) = delete;
    NoBrokenPipe& operator=(const NoBrokenPipe&) = delete;

private:
    sigset_t pipe_ = {}, before_ = {};
    bool was_pending_ = false;
};

// The streams of an ended child close a moment before it can be waited for: without its own sign of the end the next
// command would start up to 20 ms late, and a core idle that long after each.
void serve_all(std::vector<Running*>& running, const std::string& input) {
    std::vector<pollfd> fds;
    for (Running* r : running)
        for (int fd : {r->in, r->out, r->err, r->exit})
            fds.push_back({fd, static_cast<short>(fd == r->in ? POLLOUT : POLLIN), 0});
    bool open = std::any_of(fds.begin(), fds.end(), [](const pollfd& p) { return p.fd >= 0; });
    ::poll(fds.data(), fds.size(), open ? 20 : 1);
    for (size_t i = 0; i < running.size(); ++i)
        running[i]->serve(input, fds[4 * i].revents, fds[4 * i + 1].revents, fds[4 * i + 2].revents);
    std::erase_if(running, [](Running* r) { return r->done; });
}

}  // namespace

std::string Finished::describe() const {
    if (timed_out) return fmt::format("timed out after {:.3g} s", seconds);
    if (over_memory) return "used too much memory";
    if (stopped) return "stopped";
    if (signal) {
        const char* name = ::sigabbrev_np(signal);
        return fmt::format("killed by SIG{}", name ? name : std::to_string(signal));
    }
    return fmt::format("exit {}", exit_code);
}

Finished run(const Command& command, const std::string& input, const std::function<bool()>& stop) {
    NoBrokenPipe guard;
    Running running;
    running.launch(command, !input.empty());
    std::vector<Running*> all = {&running};
    while (!all.empty()) {
        serve_all(all, input);
        if (running.done || !stop || !stop()) continue;
        running.finished.stopped = true;
        running.end();
        all.clear();
    }
    return running.finished;
}

std::vector<Finished> run_all(const std::vector<Command>& commands, int parallel) {
    std::vector<Running> slots(commands.size());
    std::vector<Running*> running;
    size_t next = 0;
    while (next < commands.size() || !running.empty()) {
        while (next < commands.size() && running.size() < static_cast<size_t>(std::max(1, parallel))) {
            slots[next].launch(commands[next], false);
            running.push_back(&slots[next++]);
        }
        serve_all(running, {});
    }
    std::vector<Finished> results;
    for (Running& slot : slots) results.push_back(std::move(slot.finished));
    return results;
}

// ---- a child that is talked to ---------------------------------------------------------------------

Child::Child(const Command& command)
    : output_limit_(command.limits.output_bytes),
      resident_limit_(command.limits.resident_bytes) {
    ::signal(SIGPIPE, SIG_IGN);
    Pipe commands, replies, output, errors;
    int null = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
    Prepared prepared(command);
    pid_ = start(command, prepared, {null, output.write, errors.write, commands.read, replies.write});
    keeper_ = std::move(prepared.keeper);
    group_ = std::move(prepared.group);
    ::close(null);
    ::close(commands.read);
    ::close(replies.write);
    ::close(output.write);
    ::close(errors.write);
    to_ = commands.write;
    from_ = replies.read;
    out_ = output.read;
    err_ = errors.read;
    for (int fd : {from_, out_, err_}) make_nonblocking(fd);
}

Child::~Child() { kill(); }

bool Child::send(const void* data, size_t size) {
    const char* at = static_cast<const char*>(data);
    while (size > 0) {
        ssize_t n = ::write(to_, at, size);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) return false;
        at += n;
        size -= static_cast<size_t>(n);
    }
    return true;
}

Child::Wait Child::receive(void* data, size_t size, Seconds limit) {
    char* at = static_cast<char*>(data);
    Clock::time_point start = Clock::now();
    while (size > 0) {
        double left = limit.count() - seconds_since(start);
        if (left <= 0) return Wait::timed_out;
        if (exceeds(pid_, resident_limit_, looked_at_memory_)) return Wait::over_memory;
        if (resident_limit_ > 0) left = std::min(left, between_looks_at_memory.count());
        pollfd fds[] = {{from_, POLLIN, 0}, {out_, POLLIN, 0}, {err_, POLLIN, 0}};
        int ready = ::poll(fds, 3, static_cast<int>(std::min(left * 1e3 + 1, 1e9)));
        if (ready < 0 && errno != EINTR) return Wait::closed;
        if (ready <= 0) continue;
        if (fds[0].revents) {
            ssize_t n = ::read(from_, at, size);
            if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR)) return Wait::closed;
            if (n > 0) {
                at += n;
                size -= static_cast<size_t>(n);
                continue;
            }
        }
        if (fds[1].revents && !take(out_, finished_.out, output_limit_)) close_fd(out_);
        if (fds[2].revents && !take(err_, finished_.err, output_limit_)) close_fd(err_);
    }
    return Wait::ready;
}

bool Child::has_replied() const {
    pollfd replies = {from_, POLLIN, 0};
    return ::poll(&replies, 1, 0) > 0 && (replies.revents & POLLIN);
}

// The system tells a parent that its child has stopped when the last of its threads has.
bool Child::pause() {
    if (paused_ || pid_ < 0) return true;
    ::kill(-pid_, SIGSTOP);
    paused_ = true;
    const Clock::time_point start = Clock::now();
    siginfo_t info = {};
    while (::waitid(P_PID, static_cast<id_t>(pid_), &info, WSTOPPED | WEXITED | WNOWAIT | WNOHANG) == 0 &&
           info.si_pid == 0) {
        if (Clock::now() - start > longest_stop) return false;
        ::usleep(stop_takes_us);
    }
    return true;
}

void Child::resume() {
    if (!paused_ || pid_ < 0) return;
    ::kill(-pid_, SIGCONT);
    paused_ = false;
}

void Child::drain() {
    for (int i = 0; i < 1024 && out_ >= 0 && take(out_, finished_.out, output_limit_); ++i) {
        pollfd ready = {out_, POLLIN, 0};
        if (::poll(&ready, 1, 0) <= 0) break;
    }
    for (int i = 0; i < 1024 && err_ >= 0 && take(err_, finished_.err, output_limit_); ++i) {
        pollfd ready = {err_, POLLIN, 0};
        if (::poll(&ready, 1, 0) <= 0) break;
    }
}

Finished Child::kill() {
    if (pid_ < 0) return finished_;
    close_fd(to_);
    int status = 0;
    // It may be ending by itself just now: its own signal is the evidence, not ours.
    pid_t ended = 0;
    int exit = open_exit(pid_);
    for (int i = 0; i < 20 && ended == 0 && !paused_; ++i) {
        ended = ::waitpid(pid_, &status, WNOHANG);
        if (ended == 0) wait_for_end(exit, i < 10 ? 100 : 1000);
        if (ended == 0 && from_ >= 0) {
            pollfd closing = {from_, POLLIN, 0};
            if (::poll(&closing, 1, 0) == 0 && i > 4) break;  // alive and silent: no point in waiting
        }
    }
    close_fd(exit);
    kill_tree(pid_);
    if (ended == 0) ::waitpid(pid_, &status, 0);
    note_status(finished_, status);
    drain();
    for (int* fd : {&from_, &out_, &err_}) close_fd(*fd);
    keeper_.reset();
    group_.reset();
    pid_ = -1;
    return finished_;
}

}  // namespace strop::sandbox
