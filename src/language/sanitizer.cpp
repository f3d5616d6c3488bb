#include "language/sanitizer.h"

#include <algorithm>
#include <charconv>
#include <regex>

#include <fmt/format.h>
#include <sys/utsname.h>

#include "base/file.h"
#include "base/strings.h"
#include "language/assembly.h"
#include "sandbox/process.h"

namespace strop {

namespace {

const Seconds question_limit{20};
constexpr size_t told_accesses = 2;      // of a race
constexpr size_t read_of_a_line = 1000;  // characters: a kernel may write there too, and std::regex recurses

std::string machine_name() {
    utsname name = {};
    return ::uname(&name) == 0 ? name.machine : "";
}

// A file that belongs to the compiler; empty when it has none of that name.
std::string own_file(const Compiler& compiler, const std::string& name) {
    sandbox::Command command;
    command.argv = {compiler.path, "-print-file-name=" + name};
    command.limits.wall = question_limit;
    const sandbox::Finished finished = sandbox::run(command);
    std::error_code failed;
    const fs::path path = fs::canonical(std::string(trim(finished.out)), failed);
    return finished.ok() && !failed && path.is_absolute() ? path.string() : "";
}

std::string first_own_file(const Compiler& compiler, const std::vector<std::string>& names) {
    for (const std::string& name : names)
        if (std::string path = own_file(compiler, name); !path.empty()) return path;
    return {};
}

// Clang calls its run-times after the processor, in a folder of the system or of the target.
std::string run_time(const Compiler& compiler, const std::string& of) {
    if (compiler.name != "clang") return own_file(compiler, fmt::format("lib{}.so", of));
    return first_own_file(
        compiler, {fmt::format("libclang_rt.{}-{}.so", of, machine_name()), fmt::format("libclang_rt.{}.so", of)});
}

std::string options(const std::string& more) {
    return fmt::format("exitcode={}:symbolize=0:disable_coredump=0:handle_abort=0:{}", sanitizer_exit_code, more);
}

std::vector<std::string> flags_of(const Compiler& compiler, const std::string& kinds) {
    std::vector<std::string> flags = {"-O2", "-g", "-fno-omit-frame-pointer", "-fsanitize=" + kinds,
                                      "-fno-sanitize-recover=all"};
    if (compiler.name == "clang") flags.push_back("-shared-libsan");
    return flags;
}

Sanitizer addresses(const Compiler& compiler) {
    Sanitizer sanitizer{"AddressSanitizer with UndefinedBehaviorSanitizer", {}, {}, {}, Verdict::crashed, false, {}};
    std::vector<std::string> preloaded = {run_time(compiler, "asan")};
    if (compiler.name != "clang") preloaded.push_back(run_time(compiler, "ubsan"));
    if (std::count(preloaded.begin(), preloaded.end(), "") > 0) {
        sanitizer.missing = fmt::format("{} {} has no run-time of it", compiler.name, compiler.version);
        return sanitizer;
    }
    sanitizer.preloaded = std::move(preloaded);
    sanitizer.flags = flags_of(compiler, "address,undefined");
    const std::string how = options("detect_leaks=0:detect_odr_violation=0");
    sanitizer.environment = {{"ASAN_OPTIONS", how}, {"UBSAN_OPTIONS", how}};
    return sanitizer;
}

// Without Archer every barrier of OpenMP looks like a race.
Sanitizer races(const Compiler& compiler) {
    Sanitizer sanitizer{"ThreadSanitizer", {}, {}, {}, Verdict::nondeterministic, true, {}};
    if (compiler.name != "clang") {
        sanitizer.missing = fmt::format("{}'s OpenMP cannot tell it what its barriers order", compiler.name);
        return sanitizer;
    }
    const std::string library = run_time(compiler, "tsan"), archer = own_file(compiler, "libarcher.so");
    if (library.empty() || archer.empty()) {
        sanitizer.missing = fmt::format("{} {} has no {}", compiler.name, compiler.version,
                                        library.empty() ? "run-time of it" : "libarcher.so beside its OpenMP");
        return sanitizer;
    }
    sanitizer.preloaded = {library};
    sanitizer.flags = flags_of(compiler, "thread");
    sanitizer.environment = {{"TSAN_OPTIONS", options("halt_on_error=1:ignore_noninstrumented_modules=1")},
                             {"OMP_TOOL_LIBRARIES", archer}};
    return sanitizer;
}

// Of the last instruction up to an address.
int line_at(const std::optional<Assembly>& assembly, uint64_t address) {
    const Function* function = assembly ? assembly->function_at(address) : nullptr;
    int line = 0;
    if (!function) return 0;
    for (const Instruction& instruction : function->instructions)
        if (instruction.line > 0 && instruction.address <= address) line = instruction.line;
    return line;
}

uint64_t from_hexadecimal(const std::string& text) {
    uint64_t value = 0;
    std::from_chars(text.data(), text.data() + text.size(), value, 16);
    return value;
}

}  // namespace

std::vector<Sanitizer> sanitizers_of(const Compiler& compiler) { return {addresses(compiler), races(compiler)}; }

// "==12==ERROR: AddressSanitizer: stack-buffer-overflow on address 0x...", then "READ of size 4 at 0x... thread T0" and
// frames "    #0 0x7f... (/folder/kernel0.so+0x1234) (BuildId: ...)"; of undefined behaviour one line with its place.
std::string finding_in(const std::string& report, const fs::path& library) {
    static const std::regex undefined(R"(([^/\s]+:\d+):\d+: runtime error: (.*))"),
        headline(R"((\w+Sanitizer): ([^\n(]*?)( on (unknown )?address.*| \(pid.*)?$)"),
        access(R"(^\s*((Previous )?(atomic |Atomic )?(READ|WRITE|read|write|Read|Write) of size \d+))"),
        frame(R"(^\s*#\d+ .*\((.*)\+0x([0-9a-f]+)\))");
    const std::string source = library.stem().string() + ".cpp";
    std::optional<Assembly> assembly;
    std::string what;
    std::vector<std::string> accesses;
    bool placed = true;  // what was read last has its line
    for (const std::string& whole : split(report, '\n')) {
        const std::string line = whole.substr(0, read_of_a_line);
        std::smatch match;
        if (std::regex_search(line, match, undefined) && what.empty())
            return printable(fmt::format("UndefinedBehaviorSanitizer: {} at {}", match.str(2), match.str(1)));
        if (what.empty() && std::regex_search(line, match, headline)) {
            what = fmt::format("{}: {}", match.str(1), trim(match.str(2)));
            placed = false;
        } else if (!what.empty() && accesses.size() < told_accesses && std::regex_search(line, match, access)) {
            accesses.push_back(match.str(1));
            placed = false;
        } else if (!placed && std::regex_search(line, match, frame) &&
                   fs::path(match.str(1)).filename() == library.filename()) {
            if (!assembly) assembly = disassemble(library, source);
            if (const int number = line_at(assembly, from_hexadecimal(match.str(2))); number > 0)
                (accesses.empty() ? what : accesses.back()) += fmt::format(" at {}:{}", source, number);
            placed = true;
        }
    }
    if (what.empty()) return "a sanitizer ended it without a word";
    return printable(accesses.empty() ? what : what + ": " + join(accesses, ", "));
}

}  // namespace strop
