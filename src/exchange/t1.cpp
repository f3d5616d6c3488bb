#include <cmath>
#include <cstdint>
#include <string_view>

#include <fmt/format.h>

#include "base/error.h"
#include "base/strings.h"
#include "exchange/document.h"
#include "exchange/kernel_tuner.h"
#include "exchange/rows.h"

namespace strop::exchange {

namespace {

using tune::MeasuredSpace;

constexpr size_t most_values = 65535;  // of a tunable

// Where `word` stands outside of quotes and brackets; npos: nowhere.
size_t find_outside(std::string_view text, std::string_view word) {
    int depth = 0;
    char quote = 0;
    for (size_t i = 0; i < text.size(); ++i) {
        char c = text[i];
        if (!quote && depth == 0 && text.substr(i).starts_with(word)) return i;
        if (quote) quote = c == quote ? 0 : quote;
        else if (c == '\'' || c == '"') quote = c;
        else if (c == '(' || c == '[') ++depth;
        else if (c == ')' || c == ']') --depth;
    }
    return std::string_view::npos;
}

std::vector<Expression> parse_items(std::string_view text) {
    std::vector<Expression> items;
    while (!trim(text).empty()) {
        size_t comma = find_outside(text, ",");
        items.push_back(Expression::parse(std::string(trim(text.substr(0, comma)))));
        text.remove_prefix(comma == std::string_view::npos ? text.size() : comma + 1);
    }
    return items;
}

// "range(2, 8, 2)".
std::vector<Value> parse_range(std::string_view text) {
    text = trim(text);
    if (!text.starts_with("range(") || !text.ends_with(')')) throw UsageError("expected 'range(...)' after 'in'");
    std::vector<int64_t> bounds;
    for (const Expression& bound : parse_items(text.substr(6, text.size() - 7)))
        bounds.push_back(bound.evaluate_integer({}));
    if (bounds.size() == 1) bounds.insert(bounds.begin(), 0);
    if (bounds.size() == 2) bounds.push_back(1);
    if (bounds.size() != 3 || bounds[2] == 0) throw UsageError("expected one to three numbers in 'range(...)'");
    std::vector<Value> values;
    int64_t value = bounds[0];
    while (bounds[2] > 0 ? value < bounds[1] : value > bounds[1]) {
        if (values.size() == most_values) throw UsageError(fmt::format("more than {} values", most_values));
        values.push_back(value);
        if (__builtin_add_overflow(value, bounds[2], &value)) break;
    }
    return values;
}

// Python's "[1, 2.5, 'a', True]" and "[2**i for i in range(5)]".
std::vector<Value> parse_list(std::string_view text) {
    text = trim(text);
    bool bracketed = (text.starts_with('[') && text.ends_with(']')) || (text.starts_with('(') && text.ends_with(')'));
    if (!bracketed || text.size() < 2) throw UsageError("expected a list of values");
    text = text.substr(1, text.size() - 2);
    std::vector<Value> values;
    size_t loop = find_outside(text, " for ");
    if (loop == std::string_view::npos) {
        for (const Expression& item : parse_items(text)) values.push_back(item.evaluate({}));
        return values;
    }
    Expression item = Expression::parse(std::string(text.substr(0, loop)));
    std::string_view rest = text.substr(loop + 5);
    size_t in = find_outside(rest, " in ");
    if (in == std::string_view::npos) throw UsageError("expected 'in' after 'for'");
    std::string name(trim(rest.substr(0, in)));
    for (const Value& value : parse_range(rest.substr(in + 4))) values.push_back(item.evaluate({{name, value}}));
    return values;
}

std::vector<Value> listed_values(const Object& parameter) {
    const Json& listed = parameter.get("Values");
    std::vector<Value> values;
    if (listed.is_string()) {
        try {
            return parse_list(listed.get_ref<const std::string&>());
        } catch (const UsageError& error) {
            parameter.fail("Values", error.what());
        }
    }
    for (const Json& json : parameter.list("Values", "list of values")) {
        std::optional<Value> value = value_of(json);
        if (!value) parameter.fail(fmt::format("Values[{}]", values.size()), "expected a number or a text");
        values.push_back(*value);
    }
    return values;
}

// As the declared type has it; nothing where it cannot.
std::optional<Value> typed(const Value& value, const std::string& type) {
    bool is_text = std::holds_alternative<std::string>(value);
    if (type == "string") return to_string(value);
    if (is_text) return std::nullopt;
    double number = to_double(value);
    if (type == "float") return number;
    if (std::holds_alternative<double>(value) && !(number == std::floor(number) && std::fabs(number) < 9e15))
        return std::nullopt;
    int64_t integer = std::holds_alternative<int64_t>(value) ? std::get<int64_t>(value) : static_cast<int64_t>(number);
    bool fits = type == "int" || (type == "uint" && integer >= 0) || (type == "bool" && (integer == 0 || integer == 1));
    return fits ? std::optional<Value>(integer) : std::nullopt;
}

void read_parameter(const Object& parameter, MeasuredSpace& space, Gatherer& gatherer) {
    static const std::set<std::string> types = {"int", "uint", "float", "bool", "string"};
    std::string name = parameter.text("Name"), type = parameter.text("Type");
    if (!types.contains(type)) parameter.fail("Type", "expected int, uint, float, bool or string");
    size_t before = space.space.tunables.size();
    gatherer.declare(name);
    if (space.space.tunables.size() == before) parameter.fail("Name", fmt::format("'{}' appears twice", name));
    for (const Value& value : listed_values(parameter)) {
        std::optional<Value> converted = typed(value, type);
        if (!converted) parameter.fail("Values", fmt::format("{} is no {}", to_string(value), type));
        gatherer.note({name, *converted, type == "bool"});
    }
    if (space.space.tunables.back().values.empty()) parameter.fail("Values", "expected a list of values");
}

Expression read_condition(const Object& condition, const MeasuredSpace& space) {
    std::string text = condition.text("Expression");
    Expression expression;
    try {
        expression = Expression::parse(text);
    } catch (const UsageError& error) {
        condition.fail("Expression", error.what());
    }
    std::set<std::string> unknown = expression.symbols();
    for (const Tunable& tunable : space.space.tunables) unknown.erase(tunable.name);
    if (!unknown.empty()) condition.fail("Expression", fmt::format("'{}' is no tunable", *unknown.begin()));
    return expression;
}

const char* type_of(const MeasuredSpace& space, const Tunable& tunable) {
    if (space.booleans.contains(tunable.name)) return "bool";
    bool text = false, real = false;
    for (const Value& value : tunable.values) {
        text = text || std::holds_alternative<std::string>(value);
        real = real || std::holds_alternative<double>(value);
    }
    return text ? "string" : real ? "float" : "int";
}

Json written(const Value& value, const std::string& type) {
    if (type == "string") return to_string(value);
    if (type == "bool") return to_double(value) != 0;
    if (const auto* integer = std::get_if<int64_t>(&value)) return *integer;
    return std::get<double>(value);
}

}  // namespace

std::string write_t1(const MeasuredSpace& space) {
    Json parameters = Json::array(), conditions = Json::array();
    for (const Tunable& tunable : space.space.tunables) {
        const std::string type = type_of(space, tunable);
        Json values = Json::array();
        for (const Value& value : tunable.values) values.push_back(written(value, type));
        parameters.push_back({{"Name", tunable.name}, {"Type", type}, {"Values", values}});
    }
    for (const Expression& constraint : space.space.constraints)
        conditions.push_back({{"Expression", constraint.text()}, {"Parameters", constraint.symbols()}});
    Json specification = {{"KernelName", space.kernel}};
    if (!space.problem_size.empty()) specification["ProblemSize"] = space.problem_size;
    const Json document = {{"General", {{"BenchmarkName", space.kernel}, {"FormatVersion", 1}}},
                           {"ConfigurationSpace", {{"TuningParameters", parameters}, {"Conditions", conditions}}},
                           {"KernelSpecification", specification}};
    return document.dump(1) + "\n";
}

MeasuredSpace read_t1(const std::string& text, const std::string& file) {
    Json json = parse(text, file);
    Object root(json, file);
    MeasuredSpace space;
    if (root.find("General")) space.kernel = root.object("General").text("BenchmarkName", "");
    if (root.find("KernelSpecification")) {
        Object kernel = root.object("KernelSpecification");
        space.kernel = kernel.text("KernelName", space.kernel);
        space.problem_size = kernel.sizes("ProblemSize");
    }
    Object configurations = root.object("ConfigurationSpace");
    Gatherer gatherer(space);
    for (const Object& parameter : configurations.objects("TuningParameters"))
        read_parameter(parameter, space, gatherer);
    gatherer.finish();
    if (configurations.find("Conditions"))
        for (const Object& condition : configurations.objects("Conditions"))
            space.space.constraints.push_back(read_condition(condition, space));
    return space;
}

}  // namespace strop::exchange
