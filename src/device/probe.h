// The parts of detect_machine() that read text, apart from the machine so that they can be tested.
#pragma once

#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "core/machine.h"

namespace strop::device {

// The features of /proc/cpuinfo: its first "flags" (x86) or "Features" (ARM) line.
std::set<std::string> cpu_flags(const std::string& cpuinfo);

// The value of the first "key : value" line of /proc/cpuinfo; empty when there is none.
std::string cpuinfo_field(const std::string& cpuinfo, const std::string& key);

// Sets isa, vector_bytes and vector_registers from architecture and features.
void set_vectors(Machine& machine, const std::set<std::string>& flags);

// A limit of the control groups (cgroup v2 or v1) that this process lies in, the strictest up to the root.
struct GroupLimits {
    double cpus = 0;           // 0: none
    int64_t memory_bytes = 0;  // 0: none
};
// `membership`: the text of /proc/self/cgroup; `mount`: /sys/fs/cgroup.
GroupLimits group_limits(const std::string& membership, const std::filesystem::path& mount);

// What ceilings depend on, hashed.
std::string fingerprint_of(const Machine& machine);

// One CPU number for each core that this process may use, at most `machine.cores`.
std::vector<int> pinnable_cpus(const Machine& machine);

}  // namespace strop::device
