#include "sandbox/control_group.h"

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include <fcntl.h>
#include <unistd.h>

#include <fmt/format.h>

#include "base/strings.h"

namespace strop::sandbox {

namespace {

namespace fs = std::filesystem;

constexpr const char* mount = "/sys/fs/cgroup";

// The group that we are in, as far as it counts processes: "8:pids:/a/b" (version 1) or "0::/a/b" (version 2).
fs::path own_group() {
    std::ifstream file("/proc/self/cgroup");
    fs::path whole;
    for (std::string line; std::getline(file, line);) {
        std::vector<std::string> parts = split(line, ':');
        if (parts.size() < 3) continue;
        fs::path below = fs::path(parts[2]).relative_path();
        if (parts[1] == "pids") return fs::path(mount) / "pids" / below;
        if (parts[1].empty()) whole = fs::path(mount) / below;
    }
    return whole;
}

bool write_number(const fs::path& file, int number) {
    std::ofstream out(file);
    out << number << std::flush;
    return out.good();
}

bool make_group(const fs::path& folder, int most_threads) {
    std::error_code failed;
    if (!fs::create_directory(folder, failed)) return false;
    if (fs::exists(folder / "pids.max", failed) && write_number(folder / "pids.max", most_threads)) return true;
    ::rmdir(folder.c_str());
    return false;
}

// Below our own group, or below the nearest one above it that hands its limits on.
fs::path find_parent() {
    for (fs::path parent = own_group(); parent.string().size() >= std::string(mount).size();
         parent = parent.parent_path()) {
        fs::path trial = parent / (prefix_of_groups() + fmt::format("{}-trial", ::getpid()));
        if (!make_group(trial, 1)) continue;
        ::rmdir(trial.c_str());
        remove_abandoned_groups(parent);
        return parent;
    }
    return {};
}

}  // namespace

std::string prefix_of_groups() {
    char name[64] = {};  // "pid:[4026531836]"
    const ssize_t length = ::readlink("/proc/self/ns/pid", name, sizeof name - 1);
    return fmt::format("strop-{}-", std::strtoull(length > 5 ? name + 5 : "", nullptr, 10));
}

void remove_abandoned_groups(const fs::path& parent) {
    const std::string prefix = prefix_of_groups();
    std::error_code failed;
    for (const fs::directory_entry& entry : fs::directory_iterator(parent, failed)) {
        const std::string name = entry.path().filename();
        const int owner = name.starts_with(prefix) ? std::atoi(name.c_str() + prefix.size()) : 0;
        if (owner > 0 && ::kill(owner, 0) != 0 && errno == ESRCH) ::rmdir(entry.path().c_str());
    }
}

std::unique_ptr<ControlGroup> ControlGroup::make(int most_threads) {
    static const fs::path parent = find_parent();
    static std::atomic<int> made = 0;
    if (parent.empty()) return nullptr;
    fs::path folder = parent / (prefix_of_groups() + fmt::format("{}-{}", ::getpid(), ++made));
    if (!make_group(folder, most_threads)) return nullptr;
    std::unique_ptr<ControlGroup> group(new ControlGroup);
    group->folder_ = folder;
    // Moving a thread is cheap; moving a process waits for all others of the system.
    for (const char* members : {"tasks", "cgroup.procs"})
        if (group->members_ < 0) group->members_ = ::open((folder / members).c_str(), O_WRONLY | O_CLOEXEC);
    return group->members_ >= 0 ? std::move(group) : nullptr;
}

ControlGroup::~ControlGroup() {
    if (members_ >= 0) ::close(members_);
    // Threads that were killed leave a moment later.
    for (int i = 0; i < 50 && ::rmdir(folder_.c_str()) != 0; ++i) ::usleep(i < 10 ? 100 : 1000);
}

bool ControlGroup::enter() const { return ::write(members_, "0", 1) == 1; }

}  // namespace strop::sandbox
