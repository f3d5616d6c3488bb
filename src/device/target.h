// What kernels may use of a machine, where one result is for several: an instruction set by name.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "core/machine.h"

namespace strop {

inline constexpr const char* native_target = "native";  // all that the machine has

struct Target {
    std::string name;             // "cpu-avx2"
    std::string level;            // what compilers and __builtin_cpu_supports call it, "x86-64-v3"; empty: of native
    std::set<std::string> needs;  // features, as /proc/cpuinfo names them
};

// What asks least of a machine first; the native one last.
const std::vector<Target>& known_targets();
// Null where there is none of that name.
const Target* find_target(const std::string& name);
std::vector<std::string> target_names();

// Of compilers, for kernels and for what measures the ceilings that they are compared with: "-march=x86-64-v3", of no
// target or the native one "-march=native"; and vectors as wide as the machine has them, which compilers avoid.
std::vector<std::string> architecture_flags(const Machine& machine);

// The machine as kernels for the target see it, with a fingerprint of its own. No name, or the native one: as it is.
// UsageError for an unknown one; EnvironmentError where the machine cannot execute it, which names what is missing.
Machine as_target(Machine machine, const std::set<std::string>& features, const std::string& target);

}  // namespace strop
