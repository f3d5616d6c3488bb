#include <cmath>

#include "core/json.h"
#include "report/facts.h"
#include "report/report.h"

namespace strop::report {

namespace {

// A number that JSON cannot hold was not measured.
Json number(double value) { return std::isfinite(value) ? Json(value) : Json(); }

Json ratio(const Ratio& value) {
    return {{"ratio", number(value.ratio)}, {"low", number(value.low)}, {"high", number(value.high)}};
}

Json numbers(const std::map<std::string, double>& values) {
    Json json = Json::object();
    for (const auto& [name, value] : values) json[name] = number(value);
    return json;
}

Json headline_json(const RunRecord& record) {
    bool measured = !record.shapes.empty() && !record.headline_baseline.empty();
    auto value = [&](double ratio) { return measured ? number(ratio) : Json(); };
    return {{"speedup", value(record.headline.ratio)},
            {"low", value(record.headline.low)},
            {"high", value(record.headline.high)},
            {"baseline", measured ? Json(record.headline_baseline) : Json()},
            {"text", headline(record)},
            {"meaning", headline_meaning(record)}};
}

Json shape_json(const ShapeReport& shape) {
    Json speedups = Json::object();
    for (const auto& [name, value] : shape.speedups) speedups[name] = ratio(value);
    Json speedup = ratio(shape.speedup);
    speedup["baseline"] = shape.best_baseline.empty() ? Json() : Json(shape.best_baseline);
    if (shape.best_baseline.empty())
        for (const char* key : {"ratio", "low", "high"}) speedup[key] = nullptr;
    return {{"label", shape.label},
            {"dims", shape.dims},
            {"nanoseconds", number(shape.nanoseconds)},
            {"low_ns", number(shape.low_ns)},
            {"high_ns", number(shape.high_ns)},
            {"roofline_share", number(shape.roofline_share)},
            {"roofline_ns", number(shape.roofline_ns)},
            {"bound", shape.bound},
            {"bytes", number(shape.bytes)},
            {"flops", number(shape.flops)},
            {"kernel", shape.kernel},
            {"speedup", speedup},
            {"baselines", numbers(shape.baselines)},
            {"speedups", speedups},
            {"baseline_overhead", numbers(shape.baseline_overhead)},
            {"disturbed", shape.disturbed},
            {"cold_ns", number(shape.cold_ns)},
            {"error_share", number(shape.error_share)},
            {"cold_baselines", numbers(shape.cold_baselines)}};
}

// With the one kernel of a tuning run by itself.
Json settings_json(const RunSettings& settings) {
    Json json = settings;
    const bool tuned = settings.only_own && !settings.kernels.empty();
    json["kernel_name"] = tuned ? settings.kernels[0].name : "";
    json["kernel_source"] = tuned ? settings.kernels[0].source : "";
    return json;
}

Json regime_json(const Regime& regime) {
    return {{"kernel", regime.kernel},
            {"strategy", regime.strategy},
            {"configuration", configuration_to_json(regime.configuration)},
            {"condition", regime.condition},
            {"points", regime.points}};
}

Json history_json(const HistoryEntry& entry) {
    return {{"seconds", number(entry.seconds)},
            {"kernel", entry.kernel},
            {"strategy", entry.strategy},
            {"configuration", configuration_to_json(entry.configuration)},
            {"verdict", name_of(entry.verdict)},
            {"evidence", entry.evidence},
            {"nanoseconds", numbers(entry.nanoseconds)},
            {"compile_seconds", number(entry.compile_seconds)},
            {"check_seconds", number(entry.check_seconds)},
            {"time_seconds", number(entry.time_seconds)}};
}

Json experiment_json(const Experiment& experiment) {
    Json probes = Json::array();
    for (const Probe& probe : experiment.probes)
        probes.push_back({{"name", probe.name},
                          {"tells", probe.tells},
                          {"verdict", name_of(probe.verdict)},
                          {"evidence", probe.evidence},
                          {"nanoseconds", numbers(probe.nanoseconds)}});
    return {{"strategy", experiment.strategy},
            {"hypothesis", experiment.hypothesis},
            {"kernel_ns", numbers(experiment.kernel_ns)},
            {"probes", probes}};
}

Json dispatch_json(const DispatchCheck& check) {
    return {{"shapes", check.shapes},
            {"correct", check.correct},
            {"timed", check.timed},
            {"within_5_percent", check.within_5_percent},
            {"worst_regret", number(check.worst_regret)}};
}

Json in_process_json(const InProcess& inside) {
    Json points = Json::array();
    for (const InProcessPoint& point : inside.points) {
        Json speedups = Json::object();
        for (const auto& [name, value] : point.speedups) speedups[name] = ratio(value);
        points.push_back({{"label", point.label},
                          {"nanoseconds", number(point.nanoseconds)},
                          {"baselines", numbers(point.baselines)},
                          {"speedups", speedups},
                          {"best_baseline", point.best_baseline},
                          {"neighbour", number(point.neighbour)}});
    }
    const bool measured = inside.measured();
    return {{"framework", inside.framework.empty() ? Json() : Json(inside.framework)},
            {"missing", inside.missing},
            {"speedup", measured ? number(inside.headline.ratio) : Json()},
            {"low", measured ? number(inside.headline.low) : Json()},
            {"high", measured ? number(inside.headline.high) : Json()},
            {"points", points}};
}

Json seconds_json(const PhaseSeconds& seconds) {
    return {{"total", number(seconds.total)},     {"reference", number(seconds.reference)},
            {"compile", number(seconds.compile)}, {"check", number(seconds.check)},
            {"time", number(seconds.time)},       {"models", number(seconds.models)},
            {"other", number(seconds.other())}};
}

Json model_json(const ModelUse& use) {
    return {{"role", use.role},
            {"model", use.model},
            {"calls", use.calls},
            {"failed", use.failed},
            {"replayed", use.replayed},
            {"input_tokens", use.input_tokens},
            {"cached_tokens", use.cached_tokens},
            {"output_tokens", use.output_tokens},
            {"reasoning_tokens", use.reasoning_tokens},
            {"cost", number(use.cost)},
            {"priced", use.priced},
            {"seconds", number(use.seconds)}};
}

Json worker_json(const WorkerUse& use) {
    return {{"name", use.name},
            {"batches", use.batches},
            {"evaluations", use.evaluations},
            {"losses", use.losses},
            {"dropped", use.dropped}};
}

template <class Element, class Convert>
Json list(const std::vector<Element>& elements, Convert convert) {
    Json json = Json::array();
    for (const Element& element : elements) json.push_back(convert(element));
    return json;
}

}  // namespace

std::string json(const RunRecord& record) {
    Json document = {{"schema", RunRecord::schema_version},
                     {"run", record.run},
                     {"started", record.started},
                     {"strop_version", record.strop_version},
                     {"compiler", record.compiler},
                     {"device", record.device},
                     {"problem", record.problem},
                     {"problem_folder", record.problem_folder},
                     {"problem_hash", record.problem_hash},
                     {"tags", record.tags},
                     {"origin", record.origin},
                     {"machine", record.machine},
                     {"settings", settings_json(record.settings)},
                     {"outcome", name_of(record.outcome)},
                     {"stopped_by", record.stopped_by},
                     {"verified", record.verified},
                     {"verification", record.verification},
                     {"note", record.note},
                     {"headline", headline_json(record)},
                     {"caveats", caveats(record)},
                     {"shapes", list(record.shapes, shape_json)},
                     {"regimes", list(record.regimes, regime_json)},
                     {"dispatch", dispatch_json(record.dispatch)},
                     {"sanitizers", list(record.sanitizers, [](const SanitizerRun& run) { return Json(run); })},
                     {"in_process", in_process_json(record.in_process)},
                     {"strategies", list(record.strategies, [](const Strategy& s) { return Json(s); })},
                     {"experiments", list(record.experiments, experiment_json)},
                     {"kernels", list(record.kernels, [](const Kernel& k) { return Json(k); })},
                     {"history", list(record.history, history_json)},
                     {"evaluations",
                      {{"total", record.evaluations},
                       {"by_verdict", record.evaluations_by_verdict},
                       {"by_others", record.evaluations_by_others}}},
                     {"missing_baselines", list(record.missing_baselines,
                                                [](const MissingBaseline& missing) {
                                                    return Json{{"name", missing.name}, {"how", missing.how}};
                                                })},
                     {"models", list(record.models, model_json)},
                     {"model_costs", numbers(record.model_costs)},
                     {"model_losses", record.model_losses},
                     {"lessons", record.lessons},
                     {"weaker", record.weaker},
                     {"workers", list(record.workers, worker_json)},
                     {"seconds", seconds_json(record.seconds)},
                     {"result", record.result},
                     {"function", record.function}};
    return dump(document, 2) + "\n";
}

}  // namespace strop::report
