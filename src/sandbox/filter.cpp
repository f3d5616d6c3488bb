#include "sandbox/filter.h"

#include <cerrno>
#include <cstring>
#include <sched.h>

#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <seccomp.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/error.h"

namespace strop::sandbox {

namespace {

// A kernel computes: memory, threads, clocks, reading its own libraries. Anything else answers EPERM.
constexpr const char* candidate_calls[] = {
    "read", "readv", "pread64", "write", "writev", "close", "fstat", "newfstatat", "stat", "lstat", "lseek",
    "mmap", "mprotect", "munmap", "mremap", "madvise", "brk", "rt_sigaction", "rt_sigprocmask", "rt_sigreturn",
    "sigaltstack", "access", "faccessat", "faccessat2", "execve", "futex", "sched_yield", "sched_getaffinity",
    "sched_setaffinity", "getpid", "gettid", "getppid", "getuid", "geteuid", "getgid", "getegid",
    "set_tid_address", "set_robust_list", "rseq", "getrandom", "clock_gettime", "clock_getres", "gettimeofday",
    "clock_nanosleep", "nanosleep", "restart_syscall", "exit", "exit_group", "getrusage", "uname", "arch_prctl",
    "readlink", "readlinkat", "getcwd", "sysinfo", "getcpu", "membarrier", "poll", "ppoll", "getdents64",
    "statx", "get_mempolicy", "times",
};

// What no reference, baseline and compiler needs, and an escape would.
constexpr const char* forbidden_calls[] = {
    "ptrace", "process_vm_readv", "process_vm_writev", "mount", "umount2", "pivot_root", "chroot", "reboot",
    "init_module", "finit_module", "delete_module", "kexec_load", "bpf", "unshare", "setns", "keyctl",
    "add_key", "request_key", "perf_event_open", "userfaultfd", "swapon", "swapoff", "settimeofday",
    "clock_settime", "adjtimex", "open_by_handle_at", "io_uring_setup", "pidfd_getfd",
    "truncate",   // which the first versions of Landlock let through
};

class Rules {
public:
    explicit Rules(uint32_t fallback) : context_(seccomp_init(fallback)) {
        if (!context_) throw Error(Exit::bug, "seccomp: no memory for a filter");
        seccomp_attr_set(context_, SCMP_FLTATR_CTL_OPTIMIZE, 2);  // a binary tree: fewer tests a call
    }
    ~Rules() { seccomp_release(context_); }
    Rules(const Rules&) = delete;
    Rules& operator=(const Rules&) = delete;

    // Names that this architecture does not have are skipped.
    void add(uint32_t action, const char* name, std::vector<scmp_arg_cmp> arguments = {}) {
        int number = seccomp_syscall_resolve_name(name);
        if (number == __NR_SCMP_ERROR) return;
        seccomp_rule_add_array(context_, action, number, static_cast<unsigned>(arguments.size()),
                               arguments.data());
    }

    std::vector<unsigned char> program() const {
        int fd = ::memfd_create("seccomp", MFD_CLOEXEC);
        std::vector<unsigned char> bytes;
        if (fd < 0 || seccomp_export_bpf(context_, fd) != 0) {
            if (fd >= 0) ::close(fd);
            return bytes;
        }
        off_t size = ::lseek(fd, 0, SEEK_END);
        bytes.resize(static_cast<size_t>(size));
        if (::pread(fd, bytes.data(), bytes.size(), 0) != size) bytes.clear();
        ::close(fd);
        return bytes;
    }

private:
    scmp_filter_ctx context_;
};

std::vector<unsigned char> candidate_program() {
    Rules rules(SCMP_ACT_ERRNO(EPERM));
    for (const char* name : candidate_calls) rules.add(SCMP_ACT_ALLOW, name);
    // Open for reading only.
    const uint64_t write_bits = O_WRONLY | O_RDWR | O_CREAT | O_TRUNC | O_APPEND;
    rules.add(SCMP_ACT_ALLOW, "openat", {SCMP_A2(SCMP_CMP_MASKED_EQ, write_bits, 0)});
    rules.add(SCMP_ACT_ALLOW, "open", {SCMP_A1(SCMP_CMP_MASKED_EQ, write_bits, 0)});
    // Threads, but no processes. clone3 hides its flags behind a pointer: libc falls back to clone.
    rules.add(SCMP_ACT_ALLOW, "clone", {SCMP_A0(SCMP_CMP_MASKED_EQ, CLONE_THREAD, CLONE_THREAD)});
    rules.add(SCMP_ACT_ERRNO(ENOSYS), "clone3");
    rules.add(SCMP_ACT_ERRNO(ENOSYS), "openat2");
    rules.add(SCMP_ACT_ALLOW, "prlimit64", {SCMP_A2(SCMP_CMP_EQ, 0)});  // reading limits, not setting them
    rules.add(SCMP_ACT_ALLOW, "fcntl", {SCMP_A1(SCMP_CMP_EQ, F_GETFL)});
    rules.add(SCMP_ACT_ALLOW, "fcntl", {SCMP_A1(SCMP_CMP_EQ, F_GETFD)});
    rules.add(SCMP_ACT_ALLOW, "prctl", {SCMP_A0(SCMP_CMP_EQ, PR_SET_NAME)});
    rules.add(SCMP_ACT_ALLOW, "prctl", {SCMP_A0(SCMP_CMP_EQ, PR_SET_VMA)});
    return rules.program();
}

enum class Network { none, local };   // local: sockets between processes of one machine

std::vector<unsigned char> lenient_program(Network network, bool processes) {
    Rules rules(SCMP_ACT_ALLOW);
    for (const char* name : forbidden_calls) rules.add(SCMP_ACT_ERRNO(EPERM), name);
    if (network == Network::none) rules.add(SCMP_ACT_ERRNO(EPERM), "socket");
    else rules.add(SCMP_ACT_ERRNO(EPERM), "socket", {SCMP_A0(SCMP_CMP_NE, AF_UNIX)});
    if (!processes) {
        for (const char* name : {"fork", "vfork", "kill", "tkill", "rt_sigqueueinfo", "pidfd_send_signal"})
            rules.add(SCMP_ACT_ERRNO(EPERM), name);
        rules.add(SCMP_ACT_ERRNO(EPERM), "clone", {SCMP_A0(SCMP_CMP_MASKED_EQ, CLONE_THREAD, 0)});
        rules.add(SCMP_ACT_ERRNO(ENOSYS), "clone3");
    }
    return rules.program();
}

}  // namespace

bool seccomp_available() { return ::prctl(PR_GET_SECCOMP, 0, 0, 0, 0) >= 0; }

Filter::Filter(Trust trust, bool available) {
    if (!available || trust == Trust::tool) return;   // named by weaker_protections()
    static const std::vector<unsigned char> candidate = candidate_program();
    static const std::vector<unsigned char> reference = lenient_program(Network::local, false);
    static const std::vector<unsigned char> baseline = lenient_program(Network::local, true);
    static const std::vector<unsigned char> compiler = lenient_program(Network::none, true);
    if (trust == Trust::candidate) program_ = candidate;
    if (trust == Trust::reference) program_ = reference;
    if (trust == Trust::baseline) program_ = baseline;
    if (trust == Trust::compiler) program_ = compiler;
    if (program_.empty()) throw Error(Exit::bug, "seccomp: cannot make a filter");
}

bool Filter::enter() const {
    if (program_.empty()) return true;
    sock_fprog program = {};
    program.len = static_cast<unsigned short>(program_.size() / sizeof(sock_filter));
    program.filter = reinterpret_cast<sock_filter*>(const_cast<unsigned char*>(program_.data()));
    return ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0) == 0;
}

}  // namespace strop::sandbox
