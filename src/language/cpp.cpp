#include "language/cpp.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/file.h"
#include "base/strings.h"
#include "language/contract.h"
#include "sandbox/process.h"

namespace strop {

namespace {

constexpr double compile_limit_seconds = 60;
constexpr size_t message_lines = 20;

Compiler preferred_compiler() {
    std::vector<Compiler> compilers = kernel_compilers();
    if (compilers.empty())
        throw EnvironmentError("no C++ compiler for kernels was found",
                               "install one: apt-get install clang-19 libomp-19-dev lld-19 (or g++)");
    return compilers.front();
}

std::vector<std::string> usual_flags(const Compiler& compiler, const Machine& machine) {
    std::vector<std::string> flags = {"-std=c++17", "-O3", "-march=native", "-fopenmp", "-ffp-contract=fast",
                                      "-fno-math-errno"};
    if (machine.vector_bytes == 64) flags.push_back("-mprefer-vector-width=512");
    (void)compiler;
    return flags;
}

std::vector<std::string> words(const std::string& text) {
    std::vector<std::string> result;
    for (const std::string& word : split(text, ' '))
        if (!trim(word).empty()) result.emplace_back(trim(word));
    return result;
}

std::vector<std::string> configuration_flags(const Build& build) {
    std::vector<std::string> flags;
    for (const Tunable& tunable : build.space.tunables) {
        auto chosen = build.configuration.find(tunable.name);
        const Value& value = chosen == build.configuration.end() ? tunable.values.at(0) : chosen->second;
        if (!tunable.is_flags) {
            flags.push_back(fmt::format("-D{}={}", tunable.name, to_string(value)));
            continue;
        }
        for (const std::string& word : words(to_string(value))) flags.push_back(word);
    }
    return flags;
}

std::vector<std::string> link_flags(const std::string& source) {
    std::vector<std::string> flags;
    for (const std::string& line : split(source, '\n'))
        if (size_t at = line.find("// strop:link "); at == 0)
            for (const std::string& word : words(line.substr(14))) flags.push_back(word);
    return flags;
}

// The first lines that say something, without the folder of ours.
std::string shorten(const std::string& text, const fs::path& folder) {
    std::vector<std::string> kept;
    for (const std::string& line : split(replace_all(text, folder.string() + "/", ""), '\n'))
        if (!trim(line).empty() && kept.size() < message_lines) kept.push_back(line.substr(0, 300));
    return join(kept, "\n");
}

}  // namespace

std::string call_adapter(const Problem& problem) {
    std::vector<std::string> arguments;
    size_t tensor = 0;
    for (const Tensor& input : problem.inputs)
        arguments.push_back(fmt::format("static_cast<const {}*>(tensors[{}])", c_type(input.dtype), tensor++));
    for (const Tensor& output : problem.outputs)
        arguments.push_back(fmt::format("static_cast<{}*>(tensors[{}])", c_type(output.dtype), tensor++));
    for (size_t i = 0; i < problem.parameters.size(); ++i)
        arguments.push_back(
            fmt::format("static_cast<{}>(parameters[{}])", c_type(problem.parameters[i].dtype), i));
    for (size_t i = 0; i < problem.dimensions.size(); ++i) arguments.push_back(fmt::format("dimensions[{}]", i));
    return fmt::format(
        "#include <stdint.h>\n\n{};\n\n"
        "extern \"C\" void {}(void* const* tensors, const double* parameters, const int64_t* dimensions) {{\n"
        "    (void)parameters;\n    (void)dimensions;\n    {}({});\n}}\n",
        signature(problem), kernel_entry_name, problem.name, join(arguments, ",\n        "));
}

CppToolchain::CppToolchain(const Machine& machine) : CppToolchain(preferred_compiler(), machine) {}

CppToolchain::CppToolchain(const Compiler& compiler, const Machine& machine)
    : compiler_(compiler), flags_(usual_flags(compiler, machine)) {
    description_ = fmt::format("{} {} {}", compiler_.name, compiler_.version, join(flags_, " "));
}

// The adapter is the same for every kernel of a problem: compiled once.
fs::path CppToolchain::build_adapter(const Problem& problem, const fs::path& folder) const {
    fs::path source = folder / "call.cpp", object = folder / "call.o";
    if (fs::exists(object)) return object;
    write_file(source, call_adapter(problem));
    sandbox::Command command;
    command.argv = {compiler_.path, "-std=c++17", "-O2", "-fPIC", "-w", "-c", "-o", object.string(), source.string()};
    command.limits.wall = Seconds(compile_limit_seconds);
    command.scratch = folder.string();
    sandbox::Finished finished = sandbox::run(command);
    if (!finished.ok())
        throw EnvironmentError(fmt::format("{}: cannot compile: {} {}", compiler_.path, finished.describe(),
                                           shorten(finished.err, folder)),
                               "strop doctor says what is installed");
    return object;
}

std::vector<Built> CppToolchain::build(const Problem& problem, const std::vector<Build>& builds,
                                       const fs::path& folder, int parallel) {
    Clock::time_point start = Clock::now();
    fs::path adapter = build_adapter(problem, folder);
    std::vector<sandbox::Command> commands;
    std::vector<Built> results;
    for (const Build& build : builds) {
        std::string stem = fmt::format("kernel{}", next_++);
        fs::path source = folder / (stem + ".cpp");
        write_file(source, build.source);
        Built result;
        result.library = folder / (stem + ".so");
        sandbox::Command command;
        command.argv = {compiler_.path};
        // A library that is only called brings its own threads: a second OpenMP runtime would fight with them.
        bool calls_only = build.trusted_links && build.source.find("#pragma omp") == std::string::npos;
        for (const std::string& flag : flags_)
            if (flag != "-fopenmp" || !calls_only) command.argv.push_back(flag);
        for (const std::string& flag : configuration_flags(build)) command.argv.push_back(flag);
        for (const std::string& flag : build.flags) command.argv.push_back(flag);
        // Warnings about a kernel are its author's business: printing them costs more than compiling it.
        for (const char* flag : {"-w", "-shared", "-fPIC", "-o"}) command.argv.push_back(flag);
        command.argv.push_back(result.library.string());
        command.argv.push_back(source.string());
        command.argv.push_back(adapter.string());
        if (compiler_.name == "clang") command.argv.push_back("-fuse-ld=lld");
        if (build.trusted_links)
            for (const std::string& flag : link_flags(build.source)) command.argv.push_back(flag);
        command.limits.wall = Seconds(compile_limit_seconds);
        command.limits.output_bytes = 1 << 16;
        command.scratch = folder.string();
        commands.push_back(std::move(command));
        results.push_back(std::move(result));
    }
    std::vector<sandbox::Finished> finished = sandbox::run_all(commands, parallel);
    double share = seconds_since(start) / std::max<size_t>(1, builds.size());
    for (size_t i = 0; i < results.size(); ++i) {
        results[i].ok = finished[i].ok();
        results[i].seconds = share;
        if (results[i].ok) continue;
        results[i].message = finished[i].not_found ? compiler_.path + " could not be started"
                             : finished[i].timed_out
                                 ? finished[i].describe()
                                 : shorten(finished[i].err, folder);
        if (results[i].message.empty()) results[i].message = "the compiler said nothing: " + finished[i].describe();
    }
    return results;
}

}  // namespace strop
