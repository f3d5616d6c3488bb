#include "exchange/rows.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "base/strings.h"

namespace strop::exchange {

namespace {

struct FailureNames {
    Failure failure;
    const char* invalidity;
    const char* error;
};
// The first that bears an error's name is what it is read as.
constexpr FailureNames failure_names[] = {
    {Failure::none, "correct", ""},
    {Failure::compile, "compile", "CompilationFailedConfig"},
    {Failure::runtime, "runtime", "RuntimeFailedConfig"},
    {Failure::correctness, "correctness", "RuntimeFailedConfig"},
    {Failure::timeout, "timeout", "RuntimeFailedConfig"},
    {Failure::constraints, "constraints", "InvalidConfig"},
    {Failure::other, "other", "ErrorConfig"},
};

const FailureNames& names_of(Failure failure) {
    return *std::find_if(std::begin(failure_names), std::end(failure_names),
                         [&](const FailureNames& names) { return names.failure == failure; });
}

}  // namespace

Setting setting_of(const Object& object, const std::string& name) {
    const Json& json = object.get(name);
    std::optional<Value> value = value_of(json);
    if (!value) object.fail(name, "expected a number or a text");
    return {name, *value, json.is_boolean()};
}

bool Gatherer::Less::operator()(const Value& a, const Value& b) const {
    bool text_a = std::holds_alternative<std::string>(a), text_b = std::holds_alternative<std::string>(b);
    if (text_a != text_b) return text_b;
    return text_a || a.index() == b.index() ? a < b : to_double(a) < to_double(b);
}

void Gatherer::declare(const std::string& name) {
    auto [column, is_new] = columns_.try_emplace(name);
    if (!is_new) return;
    column->second.tunable = space_.space.tunables.size();
    space_.space.tunables.push_back({name, {}});
}

const Value& Gatherer::note(const Setting& setting, Column& column) {
    column.all_booleans = column.all_booleans && setting.is_boolean;
    auto ordinal = static_cast<uint32_t>(column.ordinals.size());
    auto [known, is_new] = column.ordinals.try_emplace(setting.value, ordinal);
    if (is_new) space_.space.tunables[column.tunable].values.push_back(setting.value);
    return known->first;
}

void Gatherer::note(const Setting& setting) { note(setting, columns_.at(setting.name)); }

Configuration Gatherer::configuration(const std::vector<Setting>& settings, const Object& row, const std::string& key) {
    if (columns_.empty())
        for (const Setting& setting : settings) declare(setting.name);
    Configuration result;
    for (const Setting& setting : settings) {
        auto column = columns_.find(setting.name);
        if (column == columns_.end()) row.fail(key, fmt::format("'{}' is no tunable of the first row", setting.name));
        result.emplace(setting.name, note(setting, column->second));
    }
    if (result.size() < columns_.size())
        for (const Tunable& tunable : space_.space.tunables)
            if (!result.contains(tunable.name)) row.fail(key, fmt::format("no value of '{}'", tunable.name));
    return result;
}

void Gatherer::add(tune::Measured entry) {
    std::string ordinals;
    for (auto& [name, column] : columns_) {
        uint32_t ordinal = column.ordinals.at(entry.configuration.at(name));
        ordinals.append(reinterpret_cast<const char*>(&ordinal), sizeof ordinal);
    }
    if (seen_.insert(std::move(ordinals)).second) space_.entries.push_back(std::move(entry));
}

void Gatherer::sort_values() {
    for (Tunable& tunable : space_.space.tunables) std::sort(tunable.values.begin(), tunable.values.end(), Less());
}

void Gatherer::finish() {
    for (const auto& [name, column] : columns_)
        if (column.all_booleans && !column.ordinals.empty()) space_.booleans.insert(name);
}

OrderedJson json_of(const tune::MeasuredSpace& space, const std::string& name, const Value& value) {
    if (space.booleans.contains(name)) return truthy(value);
    return std::visit([](const auto& held) { return OrderedJson(held); }, value);
}

OrderedJson json_of(const tune::MeasuredSpace& space, const Configuration& configuration) {
    OrderedJson json = OrderedJson::object();
    for (const Tunable& tunable : space.space.tunables)
        json[tunable.name] = json_of(space, tunable.name, configuration.at(tunable.name));
    return json;
}

Failure failure_of(const tune::Measured& entry) {
    return entry.failure == Failure::none && !std::isfinite(entry.value) ? Failure::other : entry.failure;
}

std::string invalidity_of(Failure failure) { return names_of(failure).invalidity; }

std::optional<Failure> failure_of_invalidity(const std::string& text) {
    for (const FailureNames& names : failure_names)
        if (text == names.invalidity) return names.failure;
    return std::nullopt;
}

std::string error_of(Failure failure) { return names_of(failure).error; }

Failure failure_of_error(const std::string& text) {
    for (const FailureNames& names : failure_names)
        if (text == names.error && names.failure != Failure::none) return names.failure;
    return Failure::other;
}

void set_phase(tune::Measured& entry, const std::string& phase, double milliseconds) {
    if (milliseconds != 0) entry.phases[phase] = milliseconds;
}

bool is_rate(const std::string& objective) {
    return objective.ends_with("/s") || objective.ends_with("/W") || lower(objective).ends_with("flops");
}

std::optional<TimeUnit> time_unit(const std::string& name) {
    static const std::map<std::string, TimeUnit> units = {
        {"s", {1e3, 1}},  {"seconds", {1e3, 1}},      {"ms", {1, 1}},   {"milliseconds", {1, 1}},
        {"us", {1, 1e3}}, {"microseconds", {1, 1e3}}, {"ns", {1, 1e6}}, {"nanoseconds", {1, 1e6}},
    };
    auto found = units.find(lower(name));
    return found == units.end() ? std::nullopt : std::optional(found->second);
}

TimeUnit time_unit(const Object& object, const std::string& key) {
    std::optional<TimeUnit> unit = time_unit(object.text(key, "ms"));
    if (!unit) object.fail(key, "expected nanoseconds, microseconds, milliseconds or seconds");
    return *unit;
}

}  // namespace strop::exchange
