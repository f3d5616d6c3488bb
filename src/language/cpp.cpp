#include "language/cpp.h"

#include <algorithm>
#include <limits>
#include <numeric>

#include <fmt/format.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/strings.h"
#include "device/cuda.h"
#include "device/target.h"
#include "language/contract.h"
#include "language/cpp_source.h"
#include "language/cuda_emulator.h"
#include "language/runtime_libraries.h"
#include "language/team_text.h"
#include "language/units.h"
#include "sandbox/process.h"

namespace strop {

namespace {

constexpr double compile_limit_seconds = 60;
constexpr int64_t compile_memory_bytes = int64_t{4} << 30, compiled_file_bytes = int64_t{256} << 20;
constexpr uintmax_t least_room = 4 << 20;  // bytes, for a compiler to work
constexpr size_t message_lines = 20;
constexpr size_t kept_libraries = 256;
constexpr const char* late_header = "late.h";
constexpr const char* team_header = "team.h";

std::vector<Compiler> installed_compilers() {
    std::vector<Compiler> compilers = kernel_compilers();
    if (compilers.empty())
        throw EnvironmentError("no C++ compiler for kernels was found",
                               "install one: apt-get install clang-19 lld-19 (or g++)");
    return compilers;
}

std::vector<std::string> usual_flags(const Machine& machine) {
    std::vector<std::string> flags = {"-std=c++17", "-O3"};
    for (std::string& flag : architecture_flags(machine)) flags.push_back(std::move(flag));
    for (const char* flag : {"-ffp-contract=fast", "-fno-math-errno"}) flags.emplace_back(flag);
    return flags;
}

std::vector<std::string> words(const std::string& text) {
    std::vector<std::string> result;
    for (const std::string& word : split(text, ' '))
        if (!trim(word).empty()) result.emplace_back(trim(word));
    return result;
}

const Value& chosen_value(const Build& build, const Tunable& tunable) {
    auto chosen = build.configuration.find(tunable.name);
    return chosen == build.configuration.end() ? tunable.values.at(0) : chosen->second;
}

// A late tunable is an element of an array that belongs to the adapter.
std::vector<std::string> configuration_flags(const Build& build) {
    std::vector<std::string> flags;
    size_t late = 0;
    for (const Tunable& tunable : build.space.tunables) {
        const std::string value = to_string(chosen_value(build, tunable));
        switch (tunable.kind) {
            case Tunable::Kind::constant: flags.push_back(fmt::format("-D{}={}", tunable.name, value)); break;
            case Tunable::Kind::late:
                flags.push_back(fmt::format("-D{}={}[{}]", tunable.name, late_values_name, late++));
                break;
            case Tunable::Kind::flags:
                for (const std::string& word : words(value)) flags.push_back(word);
                break;
            case Tunable::Kind::compiler: break;  // command()
        }
    }
    return flags;
}

std::vector<int64_t> late_values(const Build& build) {
    std::vector<int64_t> values;
    for (const Tunable& tunable : build.space.tunables)
        if (tunable.kind == Tunable::Kind::late) values.push_back(std::get<int64_t>(chosen_value(build, tunable)));
    return values;
}

std::vector<std::string> link_flags(const std::string& source) {
    std::vector<std::string> flags;
    for (const std::string& line : split(source, '\n'))
        if (size_t at = line.find("// strop:link "); at == 0)
            for (const std::string& word : words(line.substr(14))) flags.push_back(word);
    return flags;
}

// The folders that a compiler's own files lie in, by the paths that it is found under.
std::vector<std::string> toolchain_folders(const Compiler& compiler) {
    std::vector<std::string> folders = {"/etc/clang"};
    std::error_code failed;
    for (const fs::path& program : {fs::path(compiler.path), fs::canonical(compiler.path, failed)}) {
        fs::path prefix = program.parent_path().parent_path();
        for (const fs::directory_entry& entry : fs::directory_iterator(prefix, failed)) {
            std::string name = entry.path().filename();
            for (const char* usual : {"bin", "lib", "lib32", "lib64", "libexec", "include", "Cellar"})
                if (name == usual || name.find("-linux") != std::string::npos) {
                    folders.push_back(entry.path());
                    break;
                }
        }
    }
    return folders;
}

// What flags name: "-I/opt/include", "-Wl,-rpath,/opt/lib", "/opt/lib/libx.a".
std::vector<std::string> paths_in(const std::vector<std::string>& flags) {
    std::vector<std::string> paths;
    for (const std::string& flag : flags) {
        bool folder = flag.starts_with("-I") || flag.starts_with("-L") || flag.starts_with("-B");
        size_t start = folder ? 2 : flag.starts_with('-') ? flag.find('/') : 0;
        if (start < flag.size()) paths.push_back(fs::absolute(flag.substr(start)));
    }
    return paths;
}

void append(std::vector<std::string>& to, const std::vector<std::string>& more) {
    to.insert(to.end(), more.begin(), more.end());
}

bool says_only_where(std::string_view line) {
    return line.starts_with("In file included from") || trim(line).starts_with("from ");
}

// The first lines that say something, without the folder of ours.
std::string shorten(const std::string& text, const fs::path& folder) {
    std::vector<std::string> kept;
    const std::string ours = emulator_headers().string() + "/";
    for (const std::string& line : split(replace_all(replace_all(text, folder.string() + "/", ""), ours, ""), '\n'))
        if (!trim(line).empty() && !says_only_where(line) && kept.size() < message_lines)
            kept.push_back(line.substr(0, 300));
    return printable(join(kept, "\n"));
}

// Compilers that meet a limit of theirs report a bug of their own.
std::string limit_that_was_met(const sandbox::Finished& finished) {
    auto names = [&](const char* text) { return finished.err.find(text) != std::string::npos; };
    if (finished.over_memory || names("out of memory") || names("memory exhausted") || names("bad_alloc") ||
        names("annot allocate memory"))
        return fmt::format("the compiler needs more than the {} of memory that it may have",
                           human_bytes(static_cast<double>(compile_memory_bytes)));
    if (names("ile size limit exceeded") || names("File too large"))
        return fmt::format("the compiler writes a file of more than {}",
                           human_bytes(static_cast<double>(compiled_file_bytes)));
    return {};
}

// A kernel is not to blame for a disk without room. Asked of the system: a source can make a compiler say anything.
void check_disk(const fs::path& folder) {
    std::error_code failed;
    if (const fs::space_info space = fs::space(folder, failed); !failed && space.available < least_room)
        throw EnvironmentError(fmt::format("{}: nothing can be compiled there: its disk is full", folder.string()),
                               "free some disk space there, or set TMPDIR to a folder with more");
}

// Why a compiler made no library.
std::string message_of(const Compiler& compiler, const sandbox::Finished& finished, const fs::path& folder) {
    std::string message = finished.not_found   ? fmt::format("{}: could not be started", compiler.path)
                          : finished.timed_out ? "the compiler " + finished.describe()
                                               : limit_that_was_met(finished);
    if (message.empty()) message = shorten(finished.err, folder);
    return message.empty() ? "the compiler said nothing: " + finished.describe() : message;
}

}  // namespace

namespace {

std::vector<std::string> adapted_arguments(const Problem& problem) {
    std::vector<std::string> arguments;
    size_t tensor = 0;
    for (const Tensor& input : problem.inputs)
        arguments.push_back(fmt::format("static_cast<const {}*>(tensors[{}])", c_type(input.dtype), tensor++));
    for (const Tensor& output : problem.outputs)
        arguments.push_back(fmt::format("static_cast<{}*>(tensors[{}])", c_type(output.dtype), tensor++));
    for (size_t i = 0; i < problem.parameters.size(); ++i)
        arguments.push_back(fmt::format("static_cast<{}>(parameters[{}])", c_type(problem.parameters[i].dtype), i));
    for (size_t i = 0; i < problem.dimensions.size(); ++i) arguments.push_back(fmt::format("dimensions[{}]", i));
    return arguments;
}

// `declaration`: of the kernel, without a semicolon.
std::string adapter_text(const Problem& problem, const std::string& declaration,
                         const std::vector<std::string>& arguments) {
    return fmt::format(
        "#include <stdint.h>\n\n{};\n\n"
        "extern \"C\" int64_t {}[{}];\nint64_t {}[{}];\n\n"
        "extern \"C\" void {}(void* const* tensors, const double* parameters, const int64_t* dimensions) {{\n"
        "    (void)parameters;\n    (void)dimensions;\n    {}({});\n}}\n",
        declaration, late_values_name, most_late_tunables, late_values_name, most_late_tunables, kernel_entry_name,
        problem.name, join(arguments, ",\n        "));
}

}  // namespace

std::string call_adapter(const Problem& problem) {
    return adapter_text(problem, signature(problem), adapted_arguments(problem));
}

std::string cuda_call_adapter(const Problem& problem) {
    std::vector<std::string> arguments = adapted_arguments(problem);
    arguments.emplace_back(stream_name);
    return fmt::format(
               "extern \"C\" void* {0};\nvoid* {0};\n\n"
               "extern \"C\" int cudaGetLastError();\n"
               "extern \"C\" const char* cudaGetErrorString(int error);\n\n"
               "extern \"C\" const char* {1}() {{\n"
               "    const int error = cudaGetLastError();\n"
               "    return error ? cudaGetErrorString(error) : nullptr;\n}}\n\n",
               stream_name, launch_error_name) +
           adapter_text(problem, with_stream(signature(problem), "void*"), arguments);
}

CppToolchain::CppToolchain(const Machine& machine) : CppToolchain(installed_compilers(), machine) {}

CppToolchain::CppToolchain(std::vector<Compiler> compilers, const Machine& machine)
    : compilers_(std::move(compilers)),
      target_(machine.target),
      flags_(usual_flags(machine)) {
    for (const Compiler& compiler : compilers_) append(folders_, toolchain_folders(compiler));
}

std::string CppToolchain::describe(const Compiler& compiler) const {
    return fmt::format("{} {} {}", compiler.name, compiler.version, join(flags_, " "));
}

const Compiler* CppToolchain::find(const std::string& name) const {
    for (const Compiler& compiler : compilers_)
        if (name.empty() || compiler.name == name) return &compiler;
    return nullptr;
}

std::map<std::string, std::string> CppToolchain::descriptions() const {
    std::map<std::string, std::string> all;
    for (const Compiler& compiler : compilers_) all.emplace(compiler.name, describe(compiler));
    return all;
}

// The adapter is the same for every kernel of a problem: compiled once.
fs::path CppToolchain::build_adapter(const Problem& problem, const Build& build, const fs::path& folder) const {
    const bool emulated = build.emulated;
    const std::string stem = emulated ? "call_emulated" : build.cuda.empty() ? "call" : "call_cuda";
    fs::path source = folder / (stem + ".cpp"), object = folder / (stem + ".o");
    if (fs::exists(object)) return object;
    write_file(source, emulated             ? emulated_call_adapter(problem)
                       : build.cuda.empty() ? call_adapter(problem)
                                            : cuda_call_adapter(problem));
    write_file(folder / late_header, fmt::format("#include <stdint.h>\nextern \"C\" int64_t {}[{}];\n",
                                                 late_values_name, most_late_tunables));
    compile_object(compilers_.front(), emulated ? emulator_flags() : std::vector<std::string>{}, source, object);
    return object;
}

std::vector<fs::path> CppToolchain::build_emulator(const Compiler& compiler, const fs::path& folder) const {
    std::vector<fs::path> objects;
    for (const fs::path& from : emulator_sources()) {
        const fs::path source = folder / ("emulator_" + from.filename().string());
        objects.push_back(fs::path(source).replace_extension(".o"));
        if (fs::exists(objects.back())) continue;
        write_file(source, read_file(from));
        compile_object(compiler, emulator_flags(), source, objects.back());
    }
    return objects;
}

// The threads that a kernel asks for, once for each set of flags that may have to be those of the whole library.
fs::path CppToolchain::build_team(const Build& build, const Compiler& compiler, const fs::path& folder) const {
    const std::string key = content_hash(compiler.path + " " + join(build.flags, " "));
    fs::path source = folder / "team.cpp", object = folder / fmt::format("team-{}.o", key);
    if (fs::exists(object)) return object;
    write_file(folder / team_header, team_interface());
    write_file(source, team_source());
    compile_object(compiler, build.flags, source, object);
    return object;
}

// Each with flags of its own alone. One that does not compile is missing when the library is linked.
std::vector<fs::path> CppToolchain::build_units(const Build& build, const Compiler& compiler,
                                                const fs::path& folder) const {
    std::vector<fs::path> objects;
    for (const Unit& unit : units_of(build.source).units) {
        const fs::path source = folder / fmt::format("unit{}.cpp", objects.size());
        objects.push_back(fs::path(source).replace_extension(".o"));
        write_file(source, unit.source);
        sandbox::Command command = confined(folder);
        command.argv = {compiler.path};
        append(command.argv, unit.flags);
        append(command.argv, build.flags);
        append(command.readable, paths_in(build.flags));
        if (uses_openmp(unit.source)) command.argv.push_back("-fopenmp");
        append(command.argv, {"-w", "-fPIC", "-c", "-o", objects.back().string(), source.string()});
        sandbox::run(command);
    }
    return objects;
}

void CppToolchain::compile_object(const Compiler& compiler, const std::vector<std::string>& flags,
                                  const fs::path& source, const fs::path& object) const {
    sandbox::Command command = confined(source.parent_path());
    command.argv = {compiler.path, "-std=c++17", "-O2", "-fPIC", "-w"};
    append(command.argv, flags);
    append(command.argv, {"-c", "-o", object.string(), source.string()});
    append(command.readable, paths_in(flags));
    sandbox::Finished finished = sandbox::run(command);
    if (!finished.ok())
        throw EnvironmentError(fmt::format("{}: cannot compile: {} {}", compiler.path, finished.describe(),
                                           shorten(finished.err, source.parent_path())),
                               "strop doctor says what is installed");
}

// What reads a stranger's source.
sandbox::Command CppToolchain::confined(const fs::path& folder) const {
    sandbox::Command command;
    command.trust = sandbox::Trust::compiler;
    command.scratch = folder.string();
    command.readable = folders_;
    command.limits.wall = Seconds(compile_limit_seconds);
    command.limits.processor = Seconds(2 * compile_limit_seconds);  // of several threads
    command.limits.memory_bytes = command.limits.resident_bytes = compile_memory_bytes;
    command.limits.file_bytes = compiled_file_bytes;
    command.limits.output_bytes = 1 << 16;
    return command;
}

namespace {

// A source names no library to link with (#pragma comment(lib, ...)): LLVM's linker is told so, GNU's does not know
// how. What is compiled at link time needs the former.
std::vector<std::string> linker_flags(const Compiler& compiler, const std::vector<std::string>& flags) {
    if (compiler.linker.empty()) return {};
    const bool late =
        std::any_of(flags.begin(), flags.end(), [](const auto& flag) { return flag.starts_with("-flto"); });
    if (compiler.linker == "bfd" && !late) return {"-fuse-ld=bfd"};
    return {"-fuse-ld=lld", "-Wl,--no-dependent-libraries"};
}

}  // namespace

// Those of the compiler, those that only its compiling or only its linking needs, and what it reads.
struct CppToolchain::Words {
    std::vector<std::string> flags, defines, includes, objects, linking, readable;
};

struct CppToolchain::Steps {
    sandbox::Command compile;
    std::optional<sandbox::Command> link;  // absent: the first links too
};

CppToolchain::Words CppToolchain::words_of(const Build& build, const Compiler& compiler, const fs::path& library,
                                           const fs::path& adapter) const {
    const fs::path folder = adapter.parent_path();  // of all builds, which reads what is named only
    Words words{flags_, {}, {}, {}, build.linked, {}};
    const auto include = [&](const char* header) {
        append(words.includes, {"-include", (folder / header).string()});
        words.readable.push_back(words.includes.back());
    };
    if (uses_openmp(build.source)) words.flags.emplace_back("-fopenmp");
    for (const std::string& flag : configuration_flags(build))
        (flag.starts_with("-D") ? words.defines : words.flags).push_back(flag);
    append(words.flags, build.flags);
    for (const fs::path& object : build_units(build, compiler, library.parent_path()))
        words.objects.push_back(object.string());
    if (!late_values(build).empty()) include(late_header);
    if (asks_for_team(build.source)) {
        include(team_header);
        words.objects.push_back(build_team(build, compiler, folder).string());
    }
    if (build.emulated) {
        append(words.flags, emulated_flags());
        for (const fs::path& object : build_emulator(compiler, folder)) words.objects.push_back(object.string());
    }
    words.objects.push_back(adapter.string());
    append(words.linking, linker_flags(compiler, words.flags));
    if (build.trusted_links) append(words.linking, link_flags(build.source));
    append(words.readable, words.objects);
    append(words.readable, paths_in(words.flags));
    append(words.readable, paths_in(words.linking));
    return words;
}

// nullopt where the compiler does not say it.
const std::optional<LinkCommand>& CppToolchain::link_command(const Compiler& compiler, const Words& words,
                                                             const fs::path& adapter) {
    sandbox::Command question = confined(adapter.parent_path());
    question.argv = {compiler.path};
    append(question.argv, words.flags);
    append(question.argv, words.linking);
    const auto [known, is_new] = link_commands_.try_emplace(join(question.argv, " "));
    if (!is_new) return known->second;
    const std::string library = (adapter.parent_path() / "library.so").string();
    // To load the C++ library takes the kernel's process longer than all else that it does before the first call.
    append(question.argv, {"-w", "-shared", "-fPIC", "-Wl,--as-needed", "-o", library, adapter.string(), "-###"});
    append(question.readable, words.readable);
    const sandbox::Finished said = sandbox::run(question);
    if (said.ok()) known->second = read_link_command(said.err, library, adapter.string());
    return known->second;
}

// `library`: beside its source, in a folder that holds nothing else. Warnings about a kernel are its author's business:
// printing them costs more than compiling it.
CppToolchain::Steps CppToolchain::steps(const Build& build, const Compiler& compiler, const fs::path& library,
                                        const fs::path& adapter) {
    const Words words = words_of(build, compiler, library, adapter);
    const fs::path source = fs::path(library).replace_extension(".cpp"),
                   object = fs::path(library).replace_extension(".o");
    Steps steps{confined(library.parent_path()), std::nullopt};
    append(steps.compile.readable, words.readable);
    steps.compile.argv = {compiler.path};
    for (const auto* more : {&words.flags, &words.defines, &words.includes}) append(steps.compile.argv, *more);
    append(steps.compile.argv, {"-w", "-fPIC"});
    const bool apart = compiler.name == "clang" && build.linked.empty() && !build.trusted_links;
    if (const auto link = apart ? link_command(compiler, words, adapter) : std::nullopt) {
        append(steps.compile.argv, {"-c", "-o", object.string(), source.string()});
        std::vector<std::string> objects = {object.string()};
        append(objects, words.objects);
        steps.link = confined(library.parent_path());
        steps.link->readable = words.readable;
        steps.link->argv = link->linking(library.string(), objects);
    } else {
        append(steps.compile.argv, {"-shared", "-o", library.string(), source.string()});
        append(steps.compile.argv, words.objects);
        append(steps.compile.argv, words.linking);
    }
    return steps;
}

namespace {

std::vector<std::string> cuda_flags(const std::string& architecture) {
    return {"-O3", "-std=c++17", "-arch=" + architecture};
}

}  // namespace

std::string describe_cuda(const Compiler& compiler, const std::string& architecture) {
    return fmt::format("{} {} {}", compiler.name, compiler.version, join(cuda_flags(architecture), " "));
}

// nvcc takes the host's compiler that it finds; of its own files it reads what lies around it.
sandbox::Command CppToolchain::cuda_command(const Build& build, const Compiler& compiler, const fs::path& library,
                                            const fs::path& adapter) const {
    sandbox::Command command = confined(library.parent_path());
    append(command.readable, toolchain_folders(compiler));
    command.readable.push_back(adapter.string());
    command.limits.memory_bytes = 0;  // it maps far more than it uses
    command.argv = {compiler.path};
    append(command.argv, cuda_flags(build.cuda));
    append(command.argv, configuration_flags(build));
    append(command.argv, build.flags);
    if (!late_values(build).empty()) {
        const std::string header = (adapter.parent_path() / late_header).string();
        append(command.argv, {"-include", header});
        command.readable.push_back(header);
    }
    append(command.argv, {"-w", "-shared", "-Xcompiler", "-fPIC", "-o", library.string(),
                          fs::path(library).replace_extension(".cu").string(), adapter.string()});
    return command;
}

void CppToolchain::forget_oldest(const std::set<std::string>& needed) {
    for (size_t i = 0; order_.size() > kept_libraries && i < order_.size();) {
        if (needed.count(order_[i])) {
            ++i;
            continue;
        }
        std::error_code ignored;
        fs::remove_all(libraries_[order_[i]].built.library.parent_path(), ignored);
        libraries_.erase(order_[i]);
        order_.erase(order_.begin() + static_cast<long>(i));
    }
}

// As long as those of the same source took on average that it shares most flags with. Without any it is endless: who
// knows nothing begins early.
double CppToolchain::expected_seconds(const Library& library) const {
    size_t most_shared = 0;
    std::vector<double> seconds;
    for (const auto& [key, other] : libraries_) {
        if (other.seconds <= 0 || other.source_hash != library.source_hash) continue;
        size_t shared = 0;
        for (const std::string& flag : library.flags)
            shared += std::find(other.flags.begin(), other.flags.end(), flag) != other.flags.end();
        if (shared < most_shared) continue;
        if (shared > most_shared) seconds.clear();
        most_shared = shared;
        seconds.push_back(other.seconds);
    }
    if (seconds.empty()) return std::numeric_limits<double>::infinity();
    return std::accumulate(seconds.begin(), seconds.end(), 0.0) / static_cast<double>(seconds.size());
}

struct CppToolchain::Pending {
    std::string key;
    const Compiler* compiler;
    double expected_seconds;
    Steps steps;
};

const std::vector<std::string>& CppToolchain::libraries_of_kernels() {
    if (runtime_libraries_.empty()) runtime_libraries_ = runtime_libraries(folders_);
    return runtime_libraries_;
}

void CppToolchain::compile(std::vector<Pending> pending, int parallel) {
    std::stable_sort(pending.begin(), pending.end(),
                     [](const Pending& a, const Pending& b) { return a.expected_seconds > b.expected_seconds; });
    std::vector<sandbox::Command> commands, links;
    for (const Pending& one : pending) commands.push_back(one.steps.compile);
    std::vector<sandbox::Finished> finished = sandbox::run_all(commands, parallel);
    std::vector<size_t> compiled;
    for (size_t i = 0; i < pending.size(); ++i) {
        if (!finished[i].ok() || !pending[i].steps.link) continue;
        compiled.push_back(i);
        links.push_back(*pending[i].steps.link);
    }
    const std::vector<sandbox::Finished> linked = sandbox::run_all(links, parallel);
    for (size_t k = 0; k < compiled.size(); ++k) {
        const double before = finished[compiled[k]].seconds;
        finished[compiled[k]] = linked[k];
        finished[compiled[k]].seconds += before;
    }
    for (size_t i = 0; i < pending.size(); ++i) {
        Library& library = libraries_[pending[i].key];
        Built& built = library.built;
        built.ok = finished[i].ok();
        if (!built.ok) check_disk(built.library.parent_path());
        if (!built.ok) built.message = message_of(*pending[i].compiler, finished[i], built.library.parent_path());
        else built.needed = built.trusted ? needed_libraries(built.library) : libraries_of_kernels();
        library.seconds = finished[i].seconds;
    }
}

std::vector<Built> CppToolchain::build(const Problem& problem, const std::vector<Build>& builds, const fs::path& folder,
                                       int parallel) {
    Clock::time_point start = Clock::now();
    std::vector<std::string> keys;
    std::vector<Pending> pending;
    std::set<std::string> unpaid;
    for (const Build& build : builds) {
        const std::string wanted = build.emulated       ? emulator_compiler
                                   : build.cuda.empty() ? compiler_of(build.space, build.configuration)
                                                        : "nvcc";
        Library library{{}, content_hash(build.source), configuration_flags(build)};
        const std::string key = content_hash(join(
            {library.source_hash, join(library.flags, " "), join(build.flags, " "), join(build.linked, " "), wanted,
             folder.string(), build.trusted_links ? "trusted" : "", build.emulated ? "emulated" : "", build.cuda},
            "\n"));
        keys.push_back(key);
        if (libraries_.count(key)) continue;
        order_.push_back(key);
        if (const Compiler* compiler = build.cuda.empty() ? find(wanted) : cuda_compiler()) {
            const std::string stem = fmt::format("kernel{}", next_++);
            const fs::path own = folder / stem;
            const Units units = units_of(build.source);
            const bool is_cuda = !build.cuda.empty() || build.emulated;
            write_file(own / (stem + (build.cuda.empty() ? ".cpp" : ".cu")),
                       units.chooser + (is_cuda ? "" : signature_check(problem)));
            if (!units.units.empty() && !target_.empty())
                library.built.environment[target_variable(problem.name)] = target_;
            library.built.library = own / (stem + ".so");
            library.built.trusted = build.trusted_links;
            const fs::path adapter = build_adapter(problem, build, folder);
            pending.push_back({key, compiler, expected_seconds(library),
                               build.cuda.empty()
                                   ? steps(build, *compiler, library.built.library, adapter)
                                   : Steps{cuda_command(build, *compiler, library.built.library, adapter), {}}});
            unpaid.insert(key);
        } else {
            library.built.message = wanted + " is not installed";
        }
        libraries_.emplace(key, std::move(library));
    }
    compile(std::move(pending), parallel);
    const double share = seconds_since(start) / static_cast<double>(std::max<size_t>(1, unpaid.size()));
    std::vector<Built> results;
    for (size_t i = 0; i < builds.size(); ++i) {
        results.push_back(libraries_[keys[i]].built);
        if (std::string& message = results.back().message;
            message.find(std::string(declared_signature) + ":1:") != std::string::npos)
            message = fmt::format("its function has to be {}\n{}", signature(problem), message);
        else if (const auto missing = builds[i].emulated ? missing_in_emulator(message) : std::nullopt)
            message = fmt::format("the emulator does not have {}\n{}", *missing, message);
        results.back().late_values = late_values(builds[i]);
        if (unpaid.erase(keys[i])) results.back().seconds = share;
    }
    forget_oldest({keys.begin(), keys.end()});
    return results;
}

}  // namespace strop
