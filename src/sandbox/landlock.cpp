#include "sandbox/landlock.h"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>

#include <fcntl.h>
#include <linux/landlock.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <fmt/format.h>

#include "base/error.h"
#include "base/strings.h"

namespace strop::sandbox {

namespace {

namespace fs = std::filesystem;

// The system's header may be older than the system: the interface of version 6.
struct Attributes {
    uint64_t files = 0, network = 0, scope = 0;
};
constexpr uint64_t refer = 1 << 13, truncate = 1 << 14, device_control = 1 << 15;  // versions 2, 3, 5
constexpr uint64_t all_network = 3;  // version 4: to bind and to connect TCP
constexpr uint64_t all_scopes = 3;   // version 6: abstract sockets of others, signals to others

constexpr uint64_t execute = LANDLOCK_ACCESS_FS_EXECUTE, read_file = LANDLOCK_ACCESS_FS_READ_FILE,
                   write_file = LANDLOCK_ACCESS_FS_WRITE_FILE;
constexpr uint64_t read = read_file | LANDLOCK_ACCESS_FS_READ_DIR;
constexpr uint64_t write = write_file | LANDLOCK_ACCESS_FS_REMOVE_DIR | LANDLOCK_ACCESS_FS_REMOVE_FILE |
                           LANDLOCK_ACCESS_FS_MAKE_CHAR | LANDLOCK_ACCESS_FS_MAKE_DIR | LANDLOCK_ACCESS_FS_MAKE_REG |
                           LANDLOCK_ACCESS_FS_MAKE_SOCK | LANDLOCK_ACCESS_FS_MAKE_FIFO | LANDLOCK_ACCESS_FS_MAKE_BLOCK |
                           LANDLOCK_ACCESS_FS_MAKE_SYM | refer | truncate;
constexpr uint64_t of_files = execute | read_file | write_file | truncate | device_control;

// Where systems keep programs, libraries and what belongs to them.
constexpr const char* system_folders[] = {"/usr", "/bin", "/lib", "/lib32", "/lib64", "/nix/store", "/gnu/store"};
constexpr const char* loader_files[] = {"/etc/ld.so.cache", "/etc/ld.so.conf", "/etc/ld.so.conf.d",
                                        "/etc/ld.so.preload", "/etc/localtime"};
// What the C library, OpenMP's run-times and hwloc ask about the machine. Of control groups only what stands at the
// root, which in a container is the process's own.
constexpr const char* machine_files[] = {"/sys/devices/system/cpu",
                                         "/sys/devices/system/node",
                                         "/sys/kernel/mm/transparent_hugepage",
                                         "/sys/kernel/mm/hugepages",
                                         "/sys/fs/cgroup/cpu.max",
                                         "/sys/fs/cgroup/cpuset.cpus.effective",
                                         "/sys/fs/cgroup/cpu/cpu.cfs_quota_us",
                                         "/sys/fs/cgroup/cpu/cpu.cfs_period_us",
                                         "/sys/fs/cgroup/cpuset/cpuset.cpus"};
// The same of the /proc that the child sees, which may be another one than ours.
constexpr const char* process_files[] = {"/proc/cpuinfo",
                                         "/proc/meminfo",
                                         "/proc/stat",
                                         "/proc/version",
                                         "/proc/filesystems",
                                         "/proc/sys/vm",
                                         "/proc/sys/kernel/osrelease",
                                         "/proc/sys/kernel/numa_balancing"};

// What NVIDIA's driver reads, beside its libraries.
constexpr const char* driver_files[] = {"/proc/driver/nvidia", "/proc/devices", "/etc/nvidia", "/sys/bus/pci/devices",
                                        "/sys/devices"};

std::vector<std::string> gpu_devices() {
    std::vector<std::string> devices;
    std::error_code failed;
    for (const fs::directory_entry& entry : fs::directory_iterator("/dev", failed))
        if (entry.path().filename().string().starts_with("nvidia")) devices.push_back(entry.path().string());
    return devices;
}

bool without_landlock() { return errno == ENOSYS || errno == EOPNOTSUPP; }

// What the dynamic linker was told by the system's administrator and by the user.
std::vector<std::string> configured_library_folders() {
    std::vector<std::string> folders;
    std::error_code failed;
    for (const fs::directory_entry& entry : fs::directory_iterator("/etc/ld.so.conf.d", failed)) {
        std::ifstream file(entry.path());
        for (std::string line; std::getline(file, line);)
            if (line.starts_with('/')) folders.emplace_back(trim(line));
    }
    if (const char* path = std::getenv("LD_LIBRARY_PATH"))
        for (const std::string& folder : split(path, ':')) folders.push_back(folder);
    // Nobody means all of a home by this.
    const char* home = std::getenv("HOME");
    std::string within = fs::weakly_canonical(home && *home ? home : "/root", failed).string() + "/";
    std::erase_if(folders, [&](const std::string& folder) {
        std::string whole = fs::weakly_canonical(folder, failed).string();
        return !folder.starts_with('/') || whole == "/" || within.starts_with(whole + "/");
    });
    return folders;
}

}  // namespace

int landlock_version() {
    return std::max(
        0, static_cast<int>(::syscall(SYS_landlock_create_ruleset, nullptr, 0, LANDLOCK_CREATE_RULESET_VERSION)));
}

FileRules::FileRules(const Command& command, const std::string& program, int version) {
    if (command.trust == Trust::tool || version < 1) return;
    const bool reading = command.trust == Trust::candidate || command.trust == Trust::compiler;
    Attributes attributes;
    handled_ = write | (reading ? read | execute | device_control : 0);
    if (version < 2) handled_ &= ~refer;
    if (version < 3) handled_ &= ~truncate;
    if (version < 5) handled_ &= ~device_control;
    attributes.files = handled_;
    if (version >= 4) attributes.network = all_network;
    if (version >= 6) attributes.scope = all_scopes;
    size_t size = version >= 6 ? 24 : version >= 4 ? 16 : 8;
    rules_ = static_cast<int>(::syscall(SYS_landlock_create_ruleset, &attributes, size, 0));
    if (rules_ < 0) {
        if (without_landlock()) return;  // named by weaker_protections()
        throw EnvironmentError(fmt::format("cannot make Landlock rules: {}", std::strerror(errno)),
                               "raise the limit of open files: ulimit -n");
    }
    if (!command.scratch.empty()) allow(command.scratch.c_str(), write | read);
    allow("/dev/null", write_file | truncate | read_file);
    if (command.trust == Trust::baseline) allow("/dev/shm", write);  // semaphores of frameworks
    if (command.drives_gpu) {
        for (const std::string& device : gpu_devices()) allow(device.c_str(), read | write | device_control);
        for (const char* file : driver_files) allow(file, read);
    }
    if (reading) allow_reading(command, program);
    if (command.drives_gpu) own_process_ |= write_file | truncate;  // the driver names its threads
}

FileRules::~FileRules() {
    if (rules_ >= 0) ::close(rules_);
}

void FileRules::allow_reading(const Command& command, const std::string& program) {
    if (command.reads_system) allow_system();
    for (const char* file : loader_files) allow(file, read);
    for (const char* file : machine_files) allow(file, read);
    allow(program.c_str(), read_file | execute);
    bool compiler = command.trust == Trust::compiler;
    const bool executes = compiler || !command.reads_system;  // the loader is one of them
    for (const std::string& path : command.readable) allow(path.c_str(), executes ? read | execute : read);
    if (compiler) return;
    allow("/dev/zero", read_file);
    allow("/dev/urandom", read_file);
    own_process_ = read;
}

void FileRules::allow_system() const {
    for (const char* folder : system_folders) allow(folder, read | execute);
    static const std::vector<std::string> configured = configured_library_folders();
    for (const std::string& folder : configured) allow(folder.c_str(), read);
}

// What does not exist, or may not be opened, is not allowed.
void FileRules::allow(const char* path, uint64_t rights) const {
    int fd = ::open(path, O_PATH | O_CLOEXEC);
    if (fd < 0) return;
    struct stat info = {};
    if (::fstat(fd, &info) == 0 && !S_ISDIR(info.st_mode)) rights &= of_files;
    landlock_path_beneath_attr rule = {};
    rule.allowed_access = rights & handled_;
    rule.parent_fd = fd;
    if (rule.allowed_access) ::syscall(SYS_landlock_add_rule, rules_, LANDLOCK_RULE_PATH_BENEATH, &rule, 0);
    ::close(fd);
}

bool FileRules::enter() const {
    if (rules_ < 0) return true;
    if (handled_ & read)
        for (const char* file : process_files) allow(file, read);
    if (own_process_) allow("/proc/self", own_process_);
    return ::syscall(SYS_landlock_restrict_self, rules_, 0) == 0;
}

}  // namespace strop::sandbox
