#include <limits>

#include "base/error.h"
#include "core/json.h"
#include "report/report.h"

namespace strop::report {

namespace {

// Keys whose values have the form that a RunRecord's own JSON gives them.
constexpr const char* shared_keys[] = {
    "schema",       "run",     "started",  "strop_version", "compiler", "problem", "problem_folder",
    "problem_hash", "machine", "settings", "outcome",       "verified", "regimes", "kernels"};

// What was not measured is null; of a ratio's upper end that is no end.
double number(const Json& json, double missing) { return json.is_null() ? missing : json.get<double>(); }

Ratio ratio(const Json& json) {
    return {number(json.at("ratio"), 1), number(json.at("low"), 0),
            number(json.at("high"), std::numeric_limits<double>::infinity())};
}

std::map<std::string, double> numbers(const Json& json) {
    std::map<std::string, double> values;
    for (const auto& [name, value] : json.items())
        if (!value.is_null()) values[name] = value.get<double>();
    return values;
}

ShapeReport shape(const Json& json) {
    ShapeReport shape;
    shape.label = json.at("label").get<std::string>();
    shape.dims = json.at("dims").get<Dimensions>();
    shape.nanoseconds = number(json.at("nanoseconds"), 0);
    shape.low_ns = number(json.at("low_ns"), 0);
    shape.high_ns = number(json.at("high_ns"), 0);
    shape.kernel = json.at("kernel").get<std::string>();
    shape.baselines = numbers(json.at("baselines"));
    for (const auto& [name, value] : json.at("speedups").items()) shape.speedups[name] = ratio(value);
    const Json& best = json.at("speedup");
    if (best.at("baseline").is_null()) return shape;
    shape.best_baseline = best.at("baseline").get<std::string>();
    shape.speedup = ratio(best);
    return shape;
}

}  // namespace

RunRecord read(const std::string& json) {
    try {
        const Json document = Json::parse(json);
        if (document.contains("targets"))
            throw UsageError("is of several targets", "name one of them: targets/NAME in that folder");
        Json shared = Json::object();
        for (const char* key : shared_keys) shared[key] = document.at(key);
        if (document.contains("function")) shared["function"] = document["function"];  // older ones have none
        RunRecord record = shared.get<RunRecord>();
        for (const Json& one : document.at("shapes")) record.shapes.push_back(shape(one));
        return record;
    } catch (const Json::exception&) {
        throw UsageError("not a report of Strop", "give a result folder, or the report.json that lies in one");
    }
}

}  // namespace strop::report
