#include "backend/python_module.h"

#include <cmath>

#include <fmt/format.h>

#include "base/strings.h"
#include "language/call_plan.h"

namespace strop::backend {

using schedule::Buffer;
using schedule::Launch;
using schedule::Schedule;

namespace {

std::string shape_text(const std::vector<Expression>& shape, const std::string& ceildiv) {
    std::vector<std::string> extents;
    for (const Expression& extent : shape) extents.push_back(in_python(extent, ceildiv));
    return "(" + join(extents, ", ") + (extents.size() == 1 ? ",)" : ")");
}

std::string parameter_text(const Parameter& parameter) {
    return fmt::format("{}={}", parameter.name, python_literal(parameter.value, parameter.dtype));
}

std::string heading(const Problem& problem, const CallPlan& plan) {
    std::vector<std::string> arguments = names_of(problem.inputs);
    for (const std::string& dimension : plan.asked) arguments.push_back(dimension);
    for (const Tensor& output : problem.outputs) arguments.push_back(output.name + "=None");
    for (const Parameter& parameter : problem.parameters) arguments.push_back(parameter_text(parameter));
    return fmt::format("def {}({}):", problem.name, join(arguments, ", "));
}

std::string says(const Problem& problem, const Schedule& schedule, const std::string& ceildiv) {
    std::vector<std::string> outputs;
    for (const Tensor& output : problem.outputs)
        outputs.push_back(output.name + ", " + name_of(output.dtype) + " " + shape_text(output.shape, ceildiv));
    std::string text = "Gives " + join(outputs, "; ") + ", of contiguous tensors";
    if (schedule.condition) text += "; for " + schedule.condition->text();
    return text + ".";
}

void read_dimensions(const Problem& problem, const CallPlan& plan, const std::string& ceildiv, Lines& lines) {
    for (size_t input = 0; input < problem.inputs.size(); ++input) {
        const Tensor& tensor = problem.inputs[input];
        std::vector<std::string> names;
        bool any = false;
        for (size_t axis = 0; axis < tensor.shape.size(); ++axis) {
            const Reading* reading = plan.plain_at(input, axis);
            names.push_back(reading ? reading->dimension : "_");
            any = any || reading;
        }
        if (!any) continue;
        lines.add(fmt::format("{}{} = {}.shape", join(names, ", "), names.size() == 1 ? "," : "", tensor.name));
    }
    for (const Reading& reading : plan.readings) {
        if (!reading.inverse) continue;
        std::string extent = fmt::format("{}.shape[{}]", problem.inputs[reading.input].name, reading.axis);
        if (!reading.inverse->rest.is_literal(0))
            extent = fmt::format("({} - ({}))", extent, in_python(reading.inverse->rest, ceildiv));
        lines.add(fmt::format("{} = {} // {}", reading.dimension, extent, reading.inverse->factor));
    }
}

void allocate(const Problem& problem, const Schedule& schedule, const std::string& ceildiv, Lines& lines) {
    auto empty = [&](const std::string& name, const std::vector<Expression>& shape, DType dtype) {
        return fmt::format("{} = torch.empty({}, dtype={}, device={}.device)", name, shape_text(shape, ceildiv),
                           torch_type(dtype), problem.inputs[0].name);
    };
    for (const Tensor& output : problem.outputs) {
        lines.open(fmt::format("if {} is None:", output.name));
        lines.add(empty(output.name, output.shape, output.dtype));
        lines.close();
    }
    for (const Buffer& buffer : schedule.buffers) lines.add(empty(buffer.name, buffer.shape, buffer.dtype));
}

}  // namespace

std::string name_in_module(const Problem& problem, const Schedule& schedule, std::set<std::string> words) {
    words.insert(problem.name);
    for (const Tunable& tunable : schedule.space.tunables) words.insert(tunable.name);
    for (const Launch& launch : schedule.launches)
        if (!words.insert(launch.name).second) return launch.name;
    for (const auto* tensors : {&problem.inputs, &problem.outputs})
        for (const Tensor& tensor : *tensors)
            if (words.contains(tensor.name) || words.contains(tensor.name + "_ptr")) return tensor.name;
    for (const Parameter& parameter : problem.parameters)
        if (words.contains(parameter.name)) return parameter.name;
    for (const std::string& dimension : problem.dimensions)
        if (words.contains(dimension)) return dimension;
    return {};
}

std::string module_head(const Problem& problem, const Schedule& schedule, const std::vector<Tunable>& tunables) {
    std::string text = fmt::format("# {}: {}\n", problem.name, schedule.hypothesis);
    if (schedule.condition) text += fmt::format("# for {}\n", schedule.condition->text());
    for (const Tunable& tunable : tunables) {
        std::vector<std::string> values;
        for (const Value& value : tunable.values) values.push_back(to_string(value));
        text += fmt::format("# strop:tune {} = {}\n", tunable.name, join(values, " | "));
    }
    for (const Expression& constraint : schedule.space.constraints)
        text += fmt::format("# strop:require {}\n", constraint.text());
    return text;
}

std::string module_constants(const std::vector<Tunable>& tunables) {
    std::string text;
    for (const Tunable& tunable : tunables)
        text += fmt::format("{} = {}\n", tunable.name, to_string(tunable.values.front()));
    return text;
}

void begin_module_function(const Problem& problem, const Schedule& schedule, const std::string& ceildiv, Lines& lines) {
    const CallPlan plan = plan_call(problem);
    lines.open(heading(problem, plan));
    lines.add(fmt::format("\"\"\"{}\"\"\"", says(problem, schedule, ceildiv)));
    read_dimensions(problem, plan, ceildiv, lines);
    allocate(problem, schedule, ceildiv, lines);
}

std::string in_python(const Expression& expression, const std::string& ceildiv) {
    return replace_all(expression.text(), "ceildiv(", ceildiv + "(");
}

std::vector<std::string> names_of(const std::vector<Tensor>& tensors) {
    std::vector<std::string> names;
    for (const Tensor& tensor : tensors) names.push_back(tensor.name);
    return names;
}

std::string torch_type(DType dtype) { return "torch." + name_of(dtype); }

std::string python_literal(double value, DType dtype) {
    if (dtype == DType::boolean) return value != 0 ? "True" : "False";
    if (!is_floating(dtype)) return std::to_string(static_cast<int64_t>(value));
    if (std::isnan(value)) return "float(\"nan\")";
    if (std::isinf(value)) return value > 0 ? "float(\"inf\")" : "float(\"-inf\")";
    std::string text =
        dtype == DType::float32 ? fmt::format("{}", static_cast<float>(value)) : fmt::format("{}", value);
    return text.find_first_of(".e") == std::string::npos ? text + ".0" : text;
}

}  // namespace strop::backend
