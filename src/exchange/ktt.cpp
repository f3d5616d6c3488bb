#include "exchange/ktt.h"

#include <fmt/format.h>

#include "exchange/document.h"
#include "exchange/rows.h"

namespace strop::exchange {

namespace {

using tune::Measured;
using tune::MeasuredSpace;

Failure failure_of_status(const std::string& status) {
    static const std::map<std::string, Failure> failures = {{"Ok", Failure::none},
                                                            {"ComputationFailed", Failure::runtime},
                                                            {"ValidationFailed", Failure::correctness},
                                                            {"CompilationFailed", Failure::compile},
                                                            {"DeviceLimitsExceeded", Failure::constraints}};
    auto found = failures.find(status);
    return found == failures.end() ? Failure::other : found->second;
}

// Older files name no type.
bool has_type(const Json& value, const std::string& type) {
    if (type == "Int" || type == "UnsignedInt") return value.is_number_integer();
    if (type == "Double" || type == "Float") return value.is_number();
    if (type == "Bool") return value.is_boolean();
    if (type == "String") return value.is_string();
    return type.empty();
}

Setting read_setting(const Object& pair) {
    std::string type = pair.text("ValueType", "");
    const Json& json = pair.get("Value");
    if (!has_type(json, type)) pair.fail("Value", fmt::format("expected a value of type {}", type));
    Value value = pair.value("Value");
    if (type == "Double" || type == "Float") value = to_double(value);
    return {pair.text("Name"), value, json.is_boolean()};
}

std::vector<Object> computations_of(const Object& result) {
    return result.find("ComputationResults") ? result.objects("ComputationResults") : std::vector<Object>{};
}

double duration_of(const Object& result) {
    if (result.find("TotalDuration")) return result.number("TotalDuration");
    std::vector<Object> computations = computations_of(result);
    if (computations.empty()) result.fail("TotalDuration", "missing");
    double sum = 0;
    for (const Object& computation : computations) sum += computation.number("Duration");
    return sum;
}

// Of several computations the first that has a counter.
void read_counters(const Object& result, Measured& entry) {
    for (const Object& computation : computations_of(result)) {
        if (!computation.find("ProfilingData")) continue;
        Object profile = computation.object("ProfilingData");
        if (!profile.find("Counters")) continue;
        for (const Object& counter : profile.objects("Counters"))
            entry.metrics.emplace(counter.text("Name"), counter.number("Value"));
    }
}

Measured read_result(const Object& result, const TimeUnit& unit, Gatherer& gatherer) {
    static const std::map<std::string, std::string> phases = {{"CompilationOverhead", "compilation"},
                                                              {"ValidationOverhead", "validation"},
                                                              {"SearcherOverhead", "search"},
                                                              {"DataMovementOverhead", "framework"}};
    Measured entry;
    std::vector<Setting> settings;
    for (const Object& pair : result.objects("Configuration")) settings.push_back(read_setting(pair));
    entry.configuration = gatherer.configuration(settings, result, "Configuration");
    entry.failure = failure_of_status(result.text("Status"));
    entry.timestamp = result.text("Timestamp", "");
    if (entry.failure == Failure::none) entry.value = unit.milliseconds(duration_of(result));
    for (const auto& [key, phase] : phases)
        if (result.find(key)) set_phase(entry, phase, unit.milliseconds(result.number(key)));
    read_counters(result, entry);
    return entry;
}

}  // namespace

MeasuredSpace read_ktt(const std::string& text, const std::string& file) {
    Json json = parse(text, file);
    Object root(json, file);
    MeasuredSpace space;
    TimeUnit unit;
    if (root.find("Metadata")) {
        Object metadata = root.object("Metadata");
        space.device = metadata.text("Device", "");
        unit = time_unit(metadata, "TimeUnit");
    }
    Gatherer gatherer(space);
    for (const Object& result : root.objects("Results")) {
        if (space.kernel.empty()) space.kernel = result.text("KernelName", "");
        gatherer.add(read_result(result, unit, gatherer));
    }
    gatherer.sort_values();
    gatherer.finish();
    return space;
}

}  // namespace strop::exchange
