#include "sandbox/cell.h"

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <mutex>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

namespace strop::sandbox {

namespace {

constexpr int necessary = CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWIPC;

bool write_text(const char* path, const char* text) {
    int fd = ::open(path, O_WRONLY | O_CLOEXEC);
    if (fd < 0) return false;
    bool written = ::write(fd, text, std::strlen(text)) == static_cast<ssize_t>(std::strlen(text));
    ::close(fd);
    return written;
}

// "1000 1000 1": the user (or group) is nobody else inside. For a buffer of its own: the child does not allocate.
struct Mapping {
    char text[32];
    explicit Mapping(unsigned id) { std::snprintf(text, sizeof text, "%u %u 1", id, id); }
};

bool unshare_users() {
    const Mapping user(::geteuid()), group(::getegid());
    return ::unshare(CLONE_NEWUSER) == 0 && write_text("/proc/self/setgroups", "deny") &&
           write_text("/proc/self/uid_map", user.text) && write_text("/proc/self/gid_map", group.text);
}

// Which ones it got; 0: none. Root needs no users of its own, and loses the right to others' files by having them.
int unshare_all() {
    int spaces = 0;
    if (::unshare(necessary) != 0) {
        if (!unshare_users() || ::unshare(necessary) != 0) return 0;
        spaces = CLONE_NEWUSER;
    }
    if (::unshare(CLONE_NEWNET) == 0) spaces |= CLONE_NEWNET;
    return spaces | necessary;
}

pid_t fork_sibling() { return static_cast<pid_t>(::syscall(SYS_clone, CLONE_PARENT | SIGCHLD, 0, 0, 0, 0)); }

// A /proc that knows who is inside only. Nothing may reach the mounts of everybody; where that cannot be had, or the
// system hides parts of /proc, it stays as it is.
void mount_own_proc() {
    ::mount(nullptr, "/", nullptr, MS_REC | MS_SLAVE, nullptr);
    if (::mount(nullptr, "/proc", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0)
        ::mount("proc", "/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, nullptr);
}

// The first process inside: waits for the end of `hold` in a program of its own, because it may not keep a copy of
// our memory.
[[noreturn]] void hold_open(int hold, int ready) {
    ::setsid();
    mount_own_proc();
    int null = ::open("/dev/null", O_WRONLY | O_CLOEXEC);
    ::dup2(hold, 0);
    ::dup2(null, 1);
    ::dup2(null, 2);
    char byte = 1;
    if (::write(ready, &byte, 1) != 1) ::_exit(1);
    ::syscall(SYS_close_range, 3, ~0u, 0);
    char name[] = "sh", option[] = "-c", script[] = "read line";
    char *arguments[] = {name, option, script, nullptr}, *environment[] = {nullptr};
    ::execve("/bin/sh", arguments, environment);
    ::_exit(1);
}

struct Made {
    int spaces = 0;
    pid_t first = -1;
};

struct Ends {
    int read = -1, write = -1;
    Ends() {
        int fds[2];
        if (::pipe2(fds, O_CLOEXEC) == 0) read = fds[0], write = fds[1];
    }
    ~Ends() {
        if (read >= 0) ::close(read);
        if (write >= 0) ::close(write);
    }
    void close_write() { ::close(write), write = -1; }
};

template <class T>
bool receive(int fd, T& value) {
    ssize_t n;
    while ((n = ::read(fd, &value, sizeof value)) < 0 && errno == EINTR) {
    }
    return n == static_cast<ssize_t>(sizeof value);
}

void wait_for(pid_t pid) {
    while (::waitpid(pid, nullptr, 0) < 0 && errno == EINTR) {
    }
}

// Children that are ending. They are waited for when the next one does, as the system takes its time to give back what
// a process had.
void let_end(pid_t pid) {
    static std::mutex mutex;
    static std::vector<pid_t> ending;
    const std::lock_guard lock(mutex);
    std::erase_if(ending, [](pid_t one) { return ::waitpid(one, nullptr, WNOHANG) != 0; });
    ending.push_back(pid);
}

}  // namespace

Keeper::~Keeper() {
    ::close(hold_);
    ::kill(pid_, SIGKILL);
    let_end(pid_);
}

std::unique_ptr<Cell> Cell::make() {
    Ends hold, made_known, ready;
    if (hold.read < 0 || made_known.read < 0 || ready.read < 0) return nullptr;
    pid_t helper = ::fork();
    if (helper == 0) {
        Made made;
        made.spaces = unshare_all();
        if (made.spaces) made.first = fork_sibling();
        if (made.first == 0) {
            ::close(hold.write);
            hold_open(hold.read, ready.write);
        }
        ::_exit(::write(made_known.write, &made, sizeof made) != sizeof made);
    }
    if (helper < 0) return nullptr;
    made_known.close_write();
    ready.close_write();
    Made made;
    char byte;
    bool known = receive(made_known.read, made) && made.first > 0;
    wait_for(helper);
    if (!known) return nullptr;
    std::unique_ptr<Cell> cell(new Cell);
    cell->keeper_ = std::make_unique<Keeper>(made.first, std::exchange(hold.write, -1));
    cell->spaces_ = made.spaces;
    char root[64];
    std::snprintf(root, sizeof root, "/proc/%d/root", made.first);
    if (!receive(ready.read, byte)) return nullptr;
    cell->handle_ = static_cast<int>(::syscall(SYS_pidfd_open, made.first, 0));
    cell->root_ = ::open(root, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (cell->handle_ < 0 || cell->root_ < 0) return nullptr;
    // Seen from outside everything may look right and entering be forbidden.
    std::unique_ptr<Keeper> keeper;
    pid_t trial = cell->fork_inside(keeper);
    if (trial == 0) ::_exit(0);
    if (trial < 0) return nullptr;
    wait_for(trial);
    return cell;
}

Cell::~Cell() {
    for (int fd : {handle_, root_})
        if (fd >= 0) ::close(fd);
}

const Cell* Cell::shared() {
    static const std::unique_ptr<Cell> cell = make();
    return cell.get();
}

bool Cell::own_network() const { return spaces_ & CLONE_NEWNET; }
bool Cell::own_users() const { return spaces_ & CLONE_NEWUSER; }

// Entering somebody's mounts leads to their root, which is not ours where we live in a chroot.
bool Cell::enter() const {
    const int entered =
        spaces_ & ~CLONE_NEWPID;  // a process that starts others in a strange one may make none of its own
    return ::syscall(SYS_setns, handle_, entered) == 0 && ::fchdir(root_) == 0 && ::chroot(".") == 0;
}

pid_t Cell::fork_inside(std::unique_ptr<Keeper>& keeper) const {
    Ends hold, ready, numbers;
    if (hold.read < 0 || ready.read < 0 || numbers.read < 0) return -1;
    struct {
        pid_t first = -1, child = -1;
    } made;
    pid_t helper = ::fork();
    if (helper == 0) {
        if (enter() && ::unshare(CLONE_NEWPID | CLONE_NEWNS) == 0) made.first = fork_sibling();
        if (made.first == 0) {
            ::close(hold.write);
            hold_open(hold.read, ready.write);
        }
        ready.close_write();
        char byte;  // its /proc is there
        if (made.first > 0 && receive(ready.read, byte)) made.child = fork_sibling();
        if (made.child == 0) return 0;
        ::_exit(::write(numbers.write, &made, sizeof made) != sizeof made);
    }
    if (helper < 0) return -1;
    numbers.close_write();
    receive(numbers.read, made);
    let_end(helper);
    if (made.first > 0) keeper = std::make_unique<Keeper>(made.first, std::exchange(hold.write, -1));
    return made.child;
}

bool enter_own_users() { return unshare_users(); }

}  // namespace strop::sandbox
