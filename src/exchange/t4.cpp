#include <array>
#include <charconv>
#include <cmath>

#include <fmt/format.h>

#include "exchange/document.h"
#include "exchange/kernel_tuner.h"
#include "exchange/rows.h"

namespace strop::exchange {

namespace {

using tune::Measured;
using tune::MeasuredSpace;

struct Phase {
    const char* key;
    const char* phase;
};
constexpr std::array<Phase, 5> phases = {{{"compilation", "compilation"},
                                          {"framework", "framework"},
                                          {"search_algorithm", "search"},
                                          {"validation", "validation"},
                                          {"benchmark", "benchmark"}}};

// What holds for all rows.
struct Document {
    std::string objective = "time";
    TimeUnit unit;
    bool numbers_are_texts = false;
};

Document read_metadata(const Object& root, const std::vector<Object>& results, MeasuredSpace& space) {
    Document document;
    if (root.find("metadata")) {
        Object metadata = root.object("metadata");
        document.unit = time_unit(metadata, "timeunit");
        document.numbers_are_texts = metadata.text("autotuner", "") == "KTT";
        space.device = metadata.text("device", "");
        space.kernel = metadata.text("kernel", "");
        space.problem_size = metadata.sizes("problem_size");
    }
    if (!results.empty() && results.front().find("objectives")) {
        const Json& names = results.front().list("objectives", "list of names");
        if (!names.empty() && !names.front().is_string()) results.front().fail("objectives[0]", "expected a text");
        if (!names.empty()) document.objective = names.front().get<std::string>();
    }
    return document;
}

// The names of the first row's tunables in the order of the file.
std::vector<std::string> names_in_order(const std::string& text, const std::string& file) {
    std::vector<std::string> names;
    std::string top, member;
    visit_keys(text, file, [&](int depth, const std::string& key) {
        if (depth == 1) top = key;
        if (depth == 3) member = key;
        bool is_name = depth == 4 && top == "results" && member == "configuration";
        if (is_name) names.push_back(key);
        return is_name || names.empty();
    });
    return names;
}

template <class Number>
std::optional<Value> parse_number(const std::string& text) {
    Number number{};
    const char* end = text.data() + text.size();
    auto [used, error] = std::from_chars(text.data(), end, number);
    return error == std::errc() && used == end ? std::optional<Value>(number) : std::nullopt;
}

Value number_of(const std::string& text) {
    if (std::optional<Value> integer = parse_number<int64_t>(text)) return *integer;
    std::optional<Value> number = parse_number<double>(text);
    return number && std::isfinite(to_double(*number)) ? *number : text;
}

Configuration read_configuration(const Object& row, const Document& document, Gatherer& gatherer) {
    Object object = row.object("configuration");
    std::vector<Setting> settings;
    for (const auto& member : object.json().items()) {
        Setting setting = setting_of(object, member.key());
        if (const auto* text = std::get_if<std::string>(&setting.value); text && document.numbers_are_texts)
            setting.value = number_of(*text);
        settings.push_back(setting);
    }
    return gatherer.configuration(settings, row, "configuration");
}

void read_times(const Object& row, const TimeUnit& unit, Measured& entry) {
    if (!row.find("times")) return;
    Object times = row.object("times");
    // The schema's word; files say compilation.
    if (times.find("compilation_time"))
        set_phase(entry, "compilation", unit.milliseconds(times.number("compilation_time")));
    for (const Phase& phase : phases)
        if (times.find(phase.key)) set_phase(entry, phase.phase, unit.milliseconds(times.number(phase.key)));
    for (double run : times.numbers("runtimes")) entry.runs.push_back(unit.milliseconds(run));
}

// The objective's measurement is a number, or a text that names what went wrong.
void read_objective(const Object& measurement, const Document& document, Measured& entry) {
    const Json* value = measurement.find("value");
    if (entry.failure != Failure::none && !(value && value->is_string())) return;
    if (value && value->is_string()) {
        Failure named = failure_of_error(value->get<std::string>());
        if (entry.failure == Failure::none || value->get<std::string>() == error_of(Failure::other))
            entry.failure = named;
    } else if (!value && measurement.json().contains("value")) {
        entry.failure = Failure::other;  // null: NaN or infinite
    } else {
        std::string unit = measurement.text("unit", "");
        bool in_unit_of_document = unit.empty() && document.objective == "time";
        TimeUnit factor = in_unit_of_document ? document.unit : time_unit(unit).value_or(TimeUnit{});
        entry.value = factor.milliseconds(measurement.number("value"));
    }
}

Measured read_result(const Object& row, const Document& document, Gatherer& gatherer) {
    Measured entry;
    entry.configuration = read_configuration(row, document, gatherer);
    std::string invalidity = row.text("invalidity", "correct");
    entry.failure = failure_of_invalidity(invalidity).value_or(Failure::other);
    entry.timestamp = row.text("timestamp", "");
    read_times(row, document.unit, entry);
    bool found = false;
    if (row.find("measurements"))
        for (const Object& measurement : row.objects("measurements")) {
            std::string name = measurement.text("name");
            const Json* value = measurement.find("value");
            if (name == document.objective) read_objective(measurement, document, entry);
            else if (value && value->is_number()) entry.metrics[name] = value->get<double>();
            found = found || name == document.objective;
        }
    if (!found && entry.failure == Failure::none)
        row.fail("measurements", fmt::format("no '{}', which is the objective", document.objective));
    if (entry.failure != Failure::none) entry.value = 0;
    return entry;
}

OrderedJson metadata_of(const MeasuredSpace& space) {
    OrderedJson metadata = {{"timeunit", "milliseconds"}, {"device", space.device}, {"kernel", space.kernel}};
    if (!space.problem_size.empty()) metadata["problem_size"] = space.problem_size;
    return metadata;
}

OrderedJson measurements_of(const MeasuredSpace& space, const Measured& entry) {
    Failure failure = failure_of(entry);
    bool failed = failure != Failure::none;
    OrderedJson value = failed ? OrderedJson(error_of(failure)) : OrderedJson(entry.value);
    const char* unit = space.objective == "time" ? "ms" : "";
    OrderedJson measurements = OrderedJson::array();
    measurements.push_back({{"name", space.objective}, {"value", value}, {"unit", unit}});
    for (const auto& [name, metric] : entry.metrics)
        if (std::isfinite(metric)) measurements.push_back({{"name", name}, {"value", metric}, {"unit", ""}});
    return measurements;
}

OrderedJson result_of(const MeasuredSpace& space, const Measured& entry) {
    Failure failure = failure_of(entry);
    OrderedJson times = OrderedJson::object();
    for (const Phase& phase : phases)
        if (auto found = entry.phases.find(phase.phase); found != entry.phases.end()) times[phase.key] = found->second;
    if (failure == Failure::none) times["runtimes"] = entry.runs;
    // T4 has no word for other failures; the measurement tells them.
    std::string invalidity = invalidity_of(failure == Failure::other ? Failure::runtime : failure);
    return {{"timestamp", entry.timestamp},
            {"configuration", json_of(space, entry.configuration)},
            {"times", times},
            {"invalidity", invalidity},
            {"correctness", failure == Failure::correctness ? 0 : 1},
            {"measurements", measurements_of(space, entry)},
            {"objectives", OrderedJson::array({space.objective})}};
}

}  // namespace

MeasuredSpace read_t4(const std::string& text, const std::string& file) {
    Json json = parse(text, file);
    Object root(json, file);
    std::vector<Object> results = root.objects("results");
    MeasuredSpace space;
    Document document = read_metadata(root, results, space);
    space.objective = document.objective;
    space.higher_is_better = is_rate(space.objective);
    Gatherer gatherer(space);
    for (const std::string& name : names_in_order(text, file)) gatherer.declare(name);
    for (const Object& row : results) gatherer.add(read_result(row, document, gatherer));
    gatherer.sort_values();
    gatherer.finish();
    return space;
}

std::string write_t4(const MeasuredSpace& space) {
    std::string text =
        fmt::format("{{\n\"metadata\": {},\n\"schema_version\": \"1.0.0\",\n\"results\": [", dump(metadata_of(space)));
    const char* separator = "\n";
    for (const Measured& entry : space.entries) {
        text += separator + dump(result_of(space, entry));
        separator = ",\n";
    }
    return text + "\n]\n}\n";
}

}  // namespace strop::exchange
