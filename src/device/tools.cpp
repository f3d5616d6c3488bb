// The programs that kernels and references need: compilers and a Python with NumPy.
#include <algorithm>
#include <cstdlib>
#include <map>
#include <mutex>
#include <optional>
#include <set>

#include <unistd.h>

#include <fmt/format.h>

#include "base/error.h"
#include "base/file.h"
#include "base/strings.h"
#include "device/machine.h"
#include "sandbox/process.h"

namespace strop {

namespace {

const char* const python_hint = "run ./strop setup, or set STROP_PYTHON to a Python that has NumPy";

std::optional<fs::path> find_in_path(const std::string& name) {
    const char* path = std::getenv("PATH");
    for (const std::string& folder : split(path ? path : "/usr/bin:/bin", ':')) {
        fs::path program = fs::path(folder.empty() ? "." : folder) / name;
        std::error_code failed;
        if (fs::is_regular_file(program, failed) && access(program.c_str(), X_OK) == 0) return fs::absolute(program);
    }
    return std::nullopt;
}

sandbox::Command tool(const std::vector<std::string>& argv) {
    sandbox::Command command;
    command.argv = argv;
    command.trust = sandbox::Trust::tool;
    command.limits.wall = Seconds(20);
    return command;
}

// find_spec does not import: milliseconds instead of a tenth of a second. A Python that was seen to have it keeps it.
bool has_numpy(const std::string& python) {
    static std::set<std::string> seen;
    static std::mutex alone;
    const std::lock_guard lock(alone);
    if (seen.contains(python)) return true;
    const char* question = "import sys, importlib.util as u; sys.exit(u.find_spec('numpy') is None)";
    const bool has = sandbox::run(tool({python, "-c", question})).ok();
    if (has) seen.insert(python);
    return has;
}

}  // namespace

std::vector<Compiler> kernel_compilers() {
    std::vector<Compiler> found;
    std::vector<fs::path> seen;
    for (const char* name : {"clang++-19", "clang++", "g++-12", "g++"}) {
        std::optional<fs::path> path = find_in_path(name);
        if (!path) continue;
        std::error_code failed;
        fs::path real = fs::canonical(*path, failed);
        if (std::find(seen.begin(), seen.end(), real) != seen.end()) continue;
        seen.push_back(real);
        bool clang = std::string(name).starts_with("clang");
        // GNU's linker starts in a sixth of the time that LLVM's takes.
        const std::string linker = !clang ? "" : find_in_path("ld.bfd") ? "bfd" : "lld";
        found.push_back({clang ? "clang" : "g++", path->string(), {}, linker});
    }
    std::vector<sandbox::Command> commands;
    for (const Compiler& compiler : found)
        commands.push_back(tool({compiler.path, compiler.name == "clang" ? "-dumpversion" : "-dumpfullversion"}));
    std::vector<sandbox::Finished> versions = sandbox::run_all(commands, static_cast<int>(commands.size()));
    std::vector<Compiler> working;
    for (size_t i = 0; i < found.size(); ++i) {
        if (!versions[i].ok()) continue;
        found[i].version = trim(versions[i].out);
        working.push_back(found[i]);
    }
    return working;
}

std::string reference_python() {
    if (const char* chosen = std::getenv("STROP_PYTHON"); chosen && *chosen) {
        std::optional<fs::path> path =
            std::string(chosen).find('/') == std::string::npos ? find_in_path(chosen) : fs::path(chosen);
        if (!path || access(path->c_str(), X_OK) != 0)
            throw EnvironmentError(fmt::format("STROP_PYTHON={}: is no program", chosen), python_hint);
        if (!has_numpy(path->string()))
            throw EnvironmentError(fmt::format("STROP_PYTHON={}: has no NumPy", chosen),
                                   fmt::format("install it with `{} -m pip install numpy`", chosen));
        return fs::absolute(*path).string();
    }
    fs::path own = home_folder() / ".venv" / "bin" / "python";
    if (access(own.c_str(), X_OK) == 0 && has_numpy(own.string())) return own.string();
    std::optional<fs::path> system = find_in_path("python3");
    if (system && has_numpy(system->string())) return system->string();
    throw EnvironmentError("no Python with NumPy was found", python_hint);
}

const Interpreter& interpreter(const std::string& python) {
    static std::map<std::string, Interpreter> known;
    static std::mutex alone;
    const std::lock_guard lock(alone);
    if (const auto found = known.find(python); found != known.end()) return found->second;
    const char* question =
        "import platform, sys\n"
        "from importlib.metadata import distributions\n"
        "there = {d.metadata['Name']: d.version for d in distributions()}\n"
        "print('Python ' + platform.python_version(),\n"
        "      *[f'{n} {there[n]}' for n in ('numpy', 'torch', 'triton') if n in there], sep=', ')\n"
        "print(*[n for n in ('numpy', 'torch', 'triton', 'jax') if n in there])\n"
        "print(sys.prefix, sys.base_prefix, *sys.path[1:], sep='\\n')\n";
    const sandbox::Finished said = sandbox::run(tool({python, "-c", question}));
    const std::vector<std::string> lines = split(said.out, '\n');
    Interpreter& found = known[python];
    if (lines.size() < 2) return found;
    found.description = lines[0];
    for (const std::string& package : split(lines[1], ' ')) found.packages.insert(package);
    for (size_t line = 2; line < lines.size(); ++line)
        if (lines[line].starts_with('/') && std::count(found.folders.begin(), found.folders.end(), lines[line]) == 0)
            found.folders.push_back(lines[line]);
    return found;
}

}  // namespace strop
