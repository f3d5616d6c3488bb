#include "problem/trace.h"

#include <cstdlib>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/file.h"
#include "base/strings.h"
#include "sandbox/process.h"

namespace strop {

namespace {

using Json = nlohmann::json;

constexpr Seconds trace_limit{30};
constexpr const char* setup_hint = "run ./strop setup, or set STROP_PYTHON to a Python with NumPy";

// device/ chooses the judge's Python by the same rule but lies above this module.
std::string python_program() {
    if (const char* chosen = std::getenv("STROP_PYTHON"); chosen && *chosen) return chosen;
    fs::path own = home_folder() / ".venv" / "bin" / "python";
    return fs::exists(own) ? own.string() : "python3";
}

Json specification(const Problem& problem) {
    Json inputs = Json::array(), parameters = Json::array();
    for (const Tensor& input : problem.inputs) {
        Json shape = Json::array();
        for (const Expression& extent : input.shape) shape.push_back(extent.text());
        inputs.push_back({{"name", input.name}, {"dtype", name_of(input.dtype)}, {"shape", shape}});
    }
    for (const Parameter& parameter : problem.parameters) {
        Json value = parameter.value;
        if (!is_floating(parameter.dtype)) value = static_cast<int64_t>(parameter.value);
        parameters.push_back(
            {{"name", parameter.name}, {"dtype", name_of(parameter.dtype)}, {"value", value}});
    }
    return {{"reference", problem.reference.string()},
            {"function", problem.function},
            {"inputs", inputs},
            {"parameters", parameters}};
}

std::string untraceable(const std::string& why) {
    // A reference may print bytes that are no UTF-8.
    return Json{{"untraceable", why}}.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::string last_line(const std::string& text) {
    std::string_view rest = trim(text);
    return std::string(trim(rest.substr(rest.find_last_of('\n') + 1)));
}

std::string last_document(const std::string& out) {
    std::string line = last_line(out);  // a reference that prints does so before the document
    return Json::accept(line) ? line : out;
}

}  // namespace

std::string trace_reference(const Problem& problem) {
    TemporaryFolder scratch("strop-trace");
    sandbox::Command command;
    command.argv = {python_program(), (home_folder() / "python" / "strop" / "trace.py").string(), "-"};
    command.environment = {{"PYTHONDONTWRITEBYTECODE", "1"}, {"OPENBLAS_NUM_THREADS", "1"}};
    command.scratch = scratch.path();
    command.working_folder = problem.folder;
    command.trust = sandbox::Trust::reference;
    command.limits.wall = trace_limit;
    command.limits.output_bytes = 64 << 20;
    sandbox::Finished finished = sandbox::run(command, specification(problem).dump());
    if (finished.not_found)
        throw EnvironmentError(fmt::format("'{}': no such Python", command.argv[0]), setup_hint);
    if (finished.err.find("No module named 'numpy'") != std::string::npos)
        throw EnvironmentError(fmt::format("'{}' has no NumPy", command.argv[0]), setup_hint);
    if (finished.timed_out)
        return untraceable(fmt::format("the tracer did not finish within {:.0f} s", trace_limit.count()));
    if (!finished.ok())
        return untraceable(
            fmt::format("the tracer ended: {}: {}", finished.describe(), last_line(finished.err)));
    std::string document = last_document(finished.out);
    Json parsed = Json::parse(document, nullptr, false);
    if (!parsed.is_object()) return untraceable("the tracer wrote no graph");
    return document;
}

}  // namespace strop
