#include "device/probe.h"

#include <algorithm>
#include <fstream>
#include <sstream>

#include <fmt/format.h>

#include "base/hash.h"
#include "base/strings.h"

namespace strop::device {

namespace {

namespace fs = std::filesystem;

// The words of a small file; empty when it cannot be read.
std::vector<std::string> words_of(const fs::path& path) {
    std::ifstream in(path);
    std::vector<std::string> words;
    for (std::string word; in >> word;) words.push_back(word);
    return words;
}

// -1 when it is not a number ("max", -1 of cgroup v1).
double number_of(const std::vector<std::string>& words, size_t index) {
    if (index >= words.size()) return -1;
    std::istringstream in(words[index]);
    double value = -1;
    return in >> value ? value : -1;
}

void tighten(double& limit, double found) {
    if (found > 0 && (limit == 0 || found < limit)) limit = found;
}

// Limits of one folder; a missing file is no limit.
void read_limits(const fs::path& folder, double& cpus, double& memory) {
    std::vector<std::string> maximum = words_of(folder / "cpu.max");
    double period = number_of(maximum, 1);
    if (period > 0) tighten(cpus, number_of(maximum, 0) / period);
    double old_period = number_of(words_of(folder / "cpu.cfs_period_us"), 0);
    if (old_period > 0) tighten(cpus, number_of(words_of(folder / "cpu.cfs_quota_us"), 0) / old_period);
    tighten(memory, number_of(words_of(folder / "memory.max"), 0));
    double old_memory = number_of(words_of(folder / "memory.limit_in_bytes"), 0);
    if (old_memory < 1e18) tighten(memory, old_memory);  // v1 writes a huge number for "none"
}

}  // namespace

std::string cpuinfo_field(const std::string& cpuinfo, const std::string& key) {
    for (const std::string& line : split(cpuinfo, '\n')) {
        size_t colon = line.find(':');
        if (colon != std::string::npos && trim(line.substr(0, colon)) == key)
            return std::string(trim(std::string_view(line).substr(colon + 1)));
    }
    return {};
}

std::set<std::string> cpu_flags(const std::string& cpuinfo) {
    std::string line = cpuinfo_field(cpuinfo, "flags");
    if (line.empty()) line = cpuinfo_field(cpuinfo, "Features");
    std::istringstream in(line);
    std::set<std::string> flags;
    for (std::string flag; in >> flag;) flags.insert(flag);
    return flags;
}

void set_vectors(Machine& machine, const std::set<std::string>& flags) {
    if (machine.architecture == "aarch64") {
        machine.isa = "neon";
        machine.vector_bytes = 16;
        machine.vector_registers = 32;
    } else if (flags.count("avx512f")) {
        machine.isa = "avx512";
        machine.vector_bytes = 64;
        machine.vector_registers = 32;
    } else if (flags.count("avx2") && flags.count("fma")) {
        machine.isa = "avx2";
        machine.vector_bytes = 32;
        machine.vector_registers = 16;
    } else {
        machine.isa = machine.architecture == "x86_64" ? "sse2" : machine.architecture;
        machine.vector_bytes = 16;
        machine.vector_registers = 16;
    }
}

GroupLimits group_limits(const std::string& membership, const fs::path& mount) {
    double cpus = 0, memory = 0;
    for (const std::string& line : split(membership, '\n')) {
        std::vector<std::string> parts = split(line, ':');  // "0::/user.slice" or "4:cpu,cpuacct:/docker/1"
        if (parts.size() < 3) continue;
        std::vector<fs::path> mounts;
        if (parts[1].empty()) mounts.push_back(mount);
        for (const std::string& controller : split(parts[1], ','))
            if (controller == "cpu" || controller == "memory") mounts.push_back(mount / controller);
        for (const fs::path& root : mounts) {
            // Inside a container the path may not exist below the mount; its root then holds the limits.
            for (fs::path below = fs::path(parts[2]).relative_path();; below = below.parent_path()) {
                read_limits(root / below, cpus, memory);
                if (below.empty()) break;
            }
        }
    }
    return {cpus, static_cast<int64_t>(memory)};
}

std::string fingerprint_of(const Machine& machine) {
    constexpr int method = 1;  // another number makes caches of earlier measurements stale
    std::string text = fmt::format("{} {} {} {} {} {}", method, machine.cpu, machine.architecture, machine.isa,
                                   machine.vector_bytes, machine.cores);
    for (const CacheLevel& cache : machine.caches)
        text += fmt::format(" {}:{}:{}", cache.level, cache.bytes, cache.shared_by);
    if (!machine.target.empty()) text += " " + machine.target;
    return content_hash(text).substr(0, 16);
}

}  // namespace strop::device
