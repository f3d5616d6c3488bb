#include "core/record.h"

#include <fmt/format.h>

#include "base/strings.h"

namespace strop {

std::string name_of(Outcome outcome) {
    switch (outcome) {
        case Outcome::improved: return "improved";
        case Outcome::no_improvement: return "no_improvement";
        case Outcome::interrupted: return "interrupted";
        case Outcome::running: return "running";
        case Outcome::failed: return "failed";
    }
    return {};
}

std::string describe(const Experiment& experiment, const Probe& probe) {
    std::vector<std::string> parts;
    for (const auto& [label, nanoseconds] : probe.nanoseconds) {
        std::string part = fmt::format("{} {}", label, human_nanoseconds(nanoseconds));
        auto kernel = experiment.kernel_ns.find(label);
        if (kernel != experiment.kernel_ns.end() && kernel->second > 0)
            part += fmt::format(", the kernel {} ({:.2f})", human_nanoseconds(kernel->second),
                                nanoseconds / kernel->second);
        parts.push_back(part);
    }
    if (probe.verdict != Verdict::ok)
        parts.push_back(name_of(probe.verdict) + ": " +
                        std::string(trim(split(probe.evidence, '\n').front())).substr(0, 300));
    return fmt::format("{}: {}; it tells: {}", probe.name, join(parts, "; "), probe.tells);
}

}  // namespace strop
