#include "run/measured.h"

#include "stats/sample.h"

namespace strop {

namespace {

tune::Measured::Failure failure_of(Verdict verdict) {
    using Failure = tune::Measured::Failure;
    switch (verdict) {
        case Verdict::ok: return Failure::none;
        case Verdict::compile_failed: return Failure::compile;
        case Verdict::wrong_output:
        case Verdict::nondeterministic:
        case Verdict::cheated: return Failure::correctness;
        case Verdict::timed_out: return Failure::timeout;
        case Verdict::crashed:
        case Verdict::over_limit: return Failure::runtime;
        case Verdict::unsupported: return Failure::other;
    }
    return Failure::other;
}

}  // namespace

tune::MeasuredSpace measured_space(const RunRecord& record, const Kernel& kernel) {
    tune::MeasuredSpace space;
    space.kernel = kernel.id;
    space.device = record.machine.cpu;
    space.space = kernel.space;
    std::set<Configuration> seen;
    for (const HistoryEntry& entry : record.history) {
        if (entry.kernel != kernel.id || !seen.insert(entry.configuration).second) continue;
        tune::Measured measured;
        measured.configuration = entry.configuration;
        measured.failure = failure_of(entry.verdict);
        measured.phases = {{"compilation", 1e3 * entry.compile_seconds},
                           {"validation", 1e3 * entry.check_seconds},
                           {"benchmark", 1e3 * entry.time_seconds}};
        std::vector<double> milliseconds;
        for (const auto& [label, nanoseconds] : entry.nanoseconds) {
            milliseconds.push_back(1e-6 * nanoseconds);
            measured.metrics["time_" + label] = milliseconds.back();
        }
        if (milliseconds.size() < record.shapes.size() && measured.failure == tune::Measured::Failure::none)
            measured.failure = tune::Measured::Failure::timeout;  // abandoned at some shape
        measured.value = milliseconds.empty() ? 0 : stats::geometric_mean(milliseconds);
        space.entries.push_back(std::move(measured));
    }
    return space;
}

}  // namespace strop
