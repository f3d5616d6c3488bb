#include "exchange/kernel_tuner.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "base/strings.h"
#include "exchange/document.h"
#include "exchange/rows.h"

namespace strop::exchange {

namespace {

using tune::Measured;
using tune::MeasuredSpace;

struct Phase {
    const char* key;
    const char* phase;
    bool needed;  // by the simulation mode
};
constexpr std::array<Phase, 5> phases = {{{"compile_time", "compilation", true},
                                          {"verification_time", "validation", true},
                                          {"benchmark_time", "benchmark", true},
                                          {"strategy_time", "search", false},
                                          {"framework_time", "framework", false}}};

struct Row {
    std::string key;
    Json json;
};

// Everything but the entries; these leave the document as soon as they are read, so that they keep their
// order and nothing grows with their number.
Json parse_cache(const std::string& text, std::vector<Row>& rows) {
    std::string top, key;
    rows.clear();
    auto keep = [&](int depth, Json::parse_event_t event, Json& json) {
        if (event == Json::parse_event_t::key && depth <= 2) (depth == 1 ? top : key) = json.get<std::string>();
        bool entry = event == Json::parse_event_t::object_end && depth == 2 && top == "cache";
        if (entry) rows.push_back({key, std::move(json)});
        return !entry;
    };
    return try_parse(text, keep);
}

// A file that is still written to, or was when its tuner died, lacks its last braces.
Json parse_open_cache(const std::string& text, const std::string& file, std::vector<Row>& rows) {
    Json root = parse_cache(text, rows);
    if (!root.is_discarded()) return root;
    std::string_view body(text.data(), text.find_last_not_of(" \t\r\n") + 1);
    if (body.ends_with(',')) body.remove_suffix(1);
    root = parse_cache(std::string(body) + "\n}\n}", rows);
    if (root.is_discarded()) fail_syntax(text, file);
    return root;
}

void read_tunables(const Object& root, Gatherer& gatherer) {
    Object values = root.object("tune_params");
    std::vector<std::string> names;
    if (root.find("tune_params_keys"))
        for (const Json& name : root.list("tune_params_keys", "list of names")) {
            if (!name.is_string()) root.fail(fmt::format("tune_params_keys[{}]", names.size()), "expected a text");
            names.push_back(name.get<std::string>());
        }
    else
        for (const auto& member : values.json().items()) names.push_back(member.key());
    for (const std::string& name : names) {
        gatherer.declare(name);
        if (!values.find(name)) continue;
        size_t index = 0;
        for (const Json& json : values.list(name, "list of values")) {
            std::optional<Value> value = value_of(json);
            if (!value) values.fail(fmt::format("{}[{}]", name, index), "expected a number or a text");
            gatherer.note({name, *value, json.is_boolean()});
            ++index;
        }
    }
}

constexpr double failed_value = 1e20;  // what stood for a failure before there were names

void read_outcome(const Object& row, const std::string& objective, Measured& entry) {
    const Json* outcome = row.find(objective);
    if (row.find("__error__")) {
        entry.failure = failure_of_error(row.text("__error__"));
    } else if (outcome && outcome->is_number()) {
        entry.value = outcome->get<double>();
        if (entry.value >= failed_value) entry.failure = Failure::other;
    } else if (outcome && outcome->is_string()) {
        entry.failure = failure_of_error(outcome->get<std::string>());
    } else if (!outcome && row.json().contains(objective)) {
        entry.failure = Failure::other;  // null: NaN or infinite
    } else {
        row.fail(objective, outcome ? "expected a number or the name of a failure" : "missing");
    }
    std::optional<Failure> exact = failure_of_invalidity(row.text("invalidity", ""));
    if (exact && entry.failure != Failure::none) entry.failure = *exact;
}

Measured read_entry(const Object& row, const MeasuredSpace& space, Gatherer& gatherer) {
    Measured entry;
    std::vector<Setting> settings;
    settings.reserve(space.space.tunables.size());
    for (const Tunable& tunable : space.space.tunables) settings.push_back(setting_of(row, tunable.name));
    entry.configuration = gatherer.configuration(settings, row, "");
    read_outcome(row, space.objective, entry);
    entry.runs = row.numbers("times");
    entry.timestamp = row.text("timestamp", "");
    for (const auto& [key, json] : row.json().get_ref<const Json::object_t&>()) {
        if (!json.is_number() || key == space.objective || entry.configuration.contains(key)) continue;
        auto phase = std::find_if(phases.begin(), phases.end(), [&](const Phase& p) { return key == p.key; });
        if (phase != phases.end()) set_phase(entry, phase->phase, json.get<double>());
        else entry.metrics[key] = json.get<double>();
    }
    return entry;
}

OrderedJson header_of(const MeasuredSpace& space) {
    OrderedJson header;
    header["device_name"] = space.device;
    header["kernel_name"] = space.kernel;
    header["problem_size"] = space.problem_size;
    if (space.problem_size.empty()) header["problem_size"] = "callable";
    header["tune_params_keys"] = OrderedJson::array();
    header["tune_params"] = OrderedJson::object();
    for (const Tunable& tunable : space.space.tunables) {
        OrderedJson& values = header["tune_params"][tunable.name] = OrderedJson::array();
        for (const Value& value : tunable.values) values.push_back(json_of(space, tunable.name, value));
        header["tune_params_keys"].push_back(tunable.name);
    }
    header["objective"] = space.objective;
    if (space.higher_is_better != is_rate(space.objective))
        header["objective_higher_is_better"] = space.higher_is_better;
    return header;
}

OrderedJson row_of(const MeasuredSpace& space, const Measured& entry) {
    OrderedJson row = json_of(space, entry.configuration);
    Failure failure = failure_of(entry);
    if (failure == Failure::none) {
        row[space.objective] = entry.value;
    } else {
        // Its simulation knows three names. What else they may stand for is told by T4's word.
        std::string error = error_of(failure == Failure::other ? Failure::runtime : failure);
        row[space.objective] = error;
        if (failure_of_error(error) != failure) row["invalidity"] = invalidity_of(failure);
    }
    if (!entry.runs.empty()) row["times"] = entry.runs;
    for (const Phase& phase : phases) {
        auto found = entry.phases.find(phase.phase);
        if (found != entry.phases.end()) row[phase.key] = found->second;
        else if (phase.needed) row[phase.key] = 0;
    }
    for (const auto& [name, value] : entry.metrics)
        if (std::isfinite(value)) row.emplace(name, value);
    if (!entry.timestamp.empty()) row["timestamp"] = entry.timestamp;
    return row;
}

}  // namespace

MeasuredSpace read_kernel_tuner(const std::string& text, const std::string& file) {
    std::vector<Row> rows;
    Json json = parse_open_cache(text, file, rows);
    Object root(json, file);
    MeasuredSpace space;
    space.kernel = root.text("kernel_name", "");
    space.device = root.text("device_name", "");
    space.problem_size = root.sizes("problem_size");
    space.objective = root.text("objective", "time");
    const Json* higher = root.find("objective_higher_is_better");
    space.higher_is_better = higher && higher->is_boolean() ? higher->get<bool>() : is_rate(space.objective);
    Gatherer gatherer(space);
    read_tunables(root, gatherer);
    for (const auto& left : root.object("cache").json().items())
        root.fail("cache." + left.key(), "expected an object of keys");
    space.entries.reserve(rows.size());
    for (Row& row : rows) {
        Json entry = std::move(row.json);  // freed when it has been read
        Measured measured = read_entry(Object(entry, file, "cache." + row.key), space, gatherer);
        measured.key = std::move(row.key);
        gatherer.add(std::move(measured));
    }
    gatherer.finish();
    return space;
}

std::string key_of(const MeasuredSpace& space, const Measured& entry) {
    if (!entry.key.empty()) return entry.key;
    std::vector<std::string> values;
    for (const Tunable& tunable : space.space.tunables) {
        const Value& value = entry.configuration.at(tunable.name);
        bool is_boolean = space.booleans.contains(tunable.name);
        values.push_back(!is_boolean ? to_string(value) : truthy(value) ? "True" : "False");
    }
    return join(values, ",");
}

std::string write_kernel_tuner(const MeasuredSpace& space) {
    std::string text = "{\n";
    OrderedJson header = header_of(space);
    for (const auto& member : header.items())
        text += fmt::format("{}: {},\n", dump(member.key()), dump(member.value()));
    text += "\"cache\": {";
    std::string_view separator = "\n";
    for (const Measured& entry : space.entries) {
        text += fmt::format("{}{}: {}", separator, dump(key_of(space, entry)), dump(row_of(space, entry)));
        separator = ",\n";
    }
    return text + "\n}\n}";
}

}  // namespace strop::exchange
