#include "problem/trace.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "problem/cpp_reference.h"
#include "problem/framework.h"
#include "problem/python_script.h"

namespace strop {

namespace {

using Json = nlohmann::json;

constexpr Seconds numpy_limit{20}, pytorch_limit{60};  // importing PyTorch takes long on a busy machine

Json specification(const Problem& problem) {
    Json inputs = Json::array(), parameters = Json::array();
    for (const Tensor& input : problem.inputs) {
        Json shape = Json::array();
        for (const Expression& extent : input.shape) shape.push_back(extent.text());
        inputs.push_back({{"name", input.name},
                          {"dtype", name_of(computed_in(input.dtype))},
                          {"stored", name_of(input.dtype)},
                          {"shape", shape}});
    }
    for (const Parameter& parameter : problem.parameters) {
        Json value = parameter.value;
        if (!is_floating(parameter.dtype)) value = static_cast<int64_t>(parameter.value);
        parameters.push_back({{"name", parameter.name}, {"dtype", name_of(parameter.dtype)}, {"value", value}});
    }
    Json points = Json::array();
    for (const ShapePoint& point : problem.points) points.push_back(point.dims);
    return {{"reference", problem.reference.string()},
            {"function", problem.function},
            {"framework", framework_of(problem.reference)},
            {"points", points},
            {"inputs", inputs},
            {"parameters", parameters}};
}

std::string untraceable(const std::string& why) {
    // A reference may print bytes that are no UTF-8.
    return Json{{"untraceable", why}}.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace

std::string trace_reference(const Problem& problem) {
    if (is_cpp(problem.reference))
        return untraceable(fmt::format(
            "{} is not in Python. The playbook needs that; kernels of yours (--kernel FILE), models (--model NAME) and "
            "tunables in the file do not",
            problem.reference.filename().string()));
    const Seconds limit = framework_of(problem.reference) == "pytorch" ? pytorch_limit : numpy_limit;
    sandbox::Finished finished = run_script("trace.py", {"-"}, specification(problem).dump(), problem.folder, limit);
    if (finished.timed_out) return untraceable(fmt::format("the tracer did not finish within {:.0f} s", limit.count()));
    if (!finished.ok())
        return untraceable(fmt::format("the tracer ended: {}: {}", finished.describe(), last_line(finished.err)));
    std::string document = last_document(finished.out);
    Json parsed = Json::parse(document, nullptr, false);
    if (!parsed.is_object()) return untraceable("the tracer wrote no graph");
    return document;
}

}  // namespace strop
