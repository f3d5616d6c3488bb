#include "problem/python_script.h"

#include <cstdlib>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/file.h"
#include "base/strings.h"

namespace strop {

namespace {

constexpr const char* setup_hint = "run ./strop setup, or set STROP_PYTHON to a Python with NumPy";

// device/ chooses the judge's Python by the same rule but lies above this module.
std::string python_program() {
    if (const char* chosen = std::getenv("STROP_PYTHON"); chosen && *chosen) return chosen;
    fs::path own = home_folder() / ".venv" / "bin" / "python";
    return fs::exists(own) ? own.string() : "python3";
}

}  // namespace

sandbox::Finished run_script(const std::string& name, const std::vector<std::string>& arguments,
                             const std::string& input, const fs::path& folder, Seconds limit,
                             const std::function<bool()>& stop) {
    TemporaryFolder scratch("strop-script");
    sandbox::Command command;
    command.argv = {python_program(), (home_folder() / "python" / "strop" / name).string()};
    command.argv.insert(command.argv.end(), arguments.begin(), arguments.end());
    command.environment = {{"PYTHONDONTWRITEBYTECODE", "1"}, {"OPENBLAS_NUM_THREADS", "1"}};
    command.scratch = scratch.path();
    command.working_folder = folder;
    command.trust = sandbox::Trust::reference;
    command.limits.wall = limit;
    command.limits.output_bytes = 64 << 20;
    sandbox::Finished finished = sandbox::run(command, input, stop);
    if (finished.not_found) throw EnvironmentError(fmt::format("'{}': no such Python", command.argv[0]), setup_hint);
    for (const auto& [module, hint] : {std::pair("numpy", setup_hint), std::pair("torch", "run ./strop setup torch")})
        if (finished.err.find(fmt::format("No module named '{}'", module)) != std::string::npos)
            throw EnvironmentError(
                fmt::format("'{}' has no {}", command.argv[0], module == std::string("numpy") ? "NumPy" : "PyTorch"),
                hint);
    return finished;
}

std::string last_line(const std::string& text) {
    std::string_view rest = trim(text);
    return std::string(trim(rest.substr(rest.find_last_of('\n') + 1)));
}

std::string last_document(const std::string& out) {
    std::string line = last_line(out);
    return nlohmann::json::accept(line) ? line : out;
}

nlohmann::json answer_of(const sandbox::Finished& finished, const fs::path& file, const std::string& what,
                         const std::string& hint) {
    nlohmann::json document = nlohmann::json::parse(last_document(finished.out), nullptr, false);
    if (!finished.ok() || !document.is_object())
        throw UsageError(
            fmt::format("{}: {} ended: {}: {}", file.string(), what, finished.describe(), last_line(finished.err)),
            hint);
    if (document.contains("error"))
        throw UsageError(document["error"].get<std::string>(), document["hint"].get<std::string>());
    return document;
}

}  // namespace strop
