#include "device/target.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/error.h"
#include "base/strings.h"
#include "device/probe.h"

namespace strop {

namespace {

// The levels of the x86-64 psABI, beyond what every such processor has.
const std::set<std::string> of_level_3 = {"avx", "avx2", "bmi1", "bmi2", "f16c", "fma", "abm", "movbe", "xsave"};
const std::set<std::string> of_level_4 = {"avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"};

std::set<std::string> joined(std::set<std::string> a, const std::set<std::string>& b) {
    a.insert(b.begin(), b.end());
    return a;
}

}  // namespace

const std::vector<Target>& known_targets() {
    static const std::vector<Target> targets = {
        {"cpu-avx2", "x86-64-v3", of_level_3},
        {"cpu-avx512", "x86-64-v4", joined(of_level_3, of_level_4)},
        {native_target, "", {}},
    };
    return targets;
}

const Target* find_target(const std::string& name) {
    for (const Target& target : known_targets())
        if (target.name == name) return &target;
    return nullptr;
}

std::vector<std::string> target_names() {
    std::vector<std::string> names;
    for (const Target& target : known_targets()) names.push_back(target.name);
    return names;
}

std::vector<std::string> architecture_flags(const Machine& machine) {
    const Target* known = find_target(machine.target);
    std::vector<std::string> flags = {"-march=" + (known && !known->level.empty() ? known->level : "native")};
    if (machine.vector_bytes == 64) flags.push_back("-mprefer-vector-width=512");
    return flags;
}

Machine as_target(Machine machine, const std::set<std::string>& features, const std::string& target) {
    if (target.empty() || target == native_target) return machine;
    const Target* known = find_target(target);
    if (!known) throw UsageError(fmt::format("{}: is no target", target), "targets are " + join(target_names(), ", "));
    std::vector<std::string> missing;
    for (const std::string& feature : known->needs)
        if (!features.count(feature)) missing.push_back(feature);
    if (machine.architecture != "x86_64") missing = {"an x86-64 processor"};
    if (!missing.empty())
        throw EnvironmentError(
            fmt::format("{}: {} cannot execute it: it lacks {}", target, machine.cpu, join(missing, ", ")),
            fmt::format("name a worker on a machine that has it: --for {}@NAME (workers.yaml), or --worker COMMAND",
                        target));
    machine.target = target;
    device::set_vectors(machine, known->needs);
    machine.fingerprint = device::fingerprint_of(machine);
    return machine;
}

}  // namespace strop
