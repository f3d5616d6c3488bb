#include <algorithm>
#include <map>
#include <sstream>

#include <unistd.h>

#include <fmt/format.h>

#include "base/error.h"
#include "base/file.h"
#include "base/strings.h"
#include "device/machine.h"
#include "device/probe.h"
#include "device/target.h"
#include "sandbox/process.h"

namespace strop {

namespace {

const char* const compiler_hint = "install clang-19 or g++, or run ./strop setup";

sandbox::Finished run_tool(const std::vector<std::string>& argv, double wall_seconds) {
    sandbox::Command command;
    command.argv = argv;
    command.trust = sandbox::Trust::tool;
    command.limits.wall = Seconds(wall_seconds);
    return sandbox::run(command);
}

// Compilers warn before they say why they failed.
std::string reason(const std::string& said) {
    for (const std::string& line : split(said, '\n'))
        if (!trim(line).empty() && line.find("warning") == std::string::npos) return line;
    return "it does not say why";
}

void compile_probe(const Machine& machine, const fs::path& program) {
    std::vector<Compiler> compilers = kernel_compilers();
    if (compilers.empty()) throw EnvironmentError("no C++ compiler was found", compiler_hint);
    const Compiler& compiler = compilers.front();
    // g++ has no portable store around the caches; its numbers for copies are those of ordinary stores.
    std::string store =
        compiler.name == "clang" ? "__builtin_nontemporal_store(value, pointer)" : "(*(pointer) = (value))";
    // Enough independent chains to hide the latency of a multiply-add, few enough to stay in registers.
    int chains = machine.vector_registers * 3 / 4;
    std::vector<std::string> argv = {compiler.path,
                                     "-std=c++17",
                                     "-O3",
                                     "-pthread",
                                     "-ffp-contract=fast",
                                     fmt::format("-DVECTOR_BYTES={}", machine.vector_bytes),
                                     fmt::format("-DCHAINS={}", chains),
                                     "-DSTREAM(value, pointer)=" + store,
                                     "-o",
                                     program.string(),
                                     (home_folder() / "src" / "device" / "ceilings_main.cpp").string()};
    for (std::string& flag : architecture_flags(machine)) argv.push_back(std::move(flag));
    sandbox::Finished compiled = run_tool(argv, 60);
    if (!compiled.ok())
        throw EnvironmentError(fmt::format("{}: cannot compile the program that measures this machine ({}): {}",
                                           compiler.path, compiled.describe(), reason(compiled.err)),
                               compiler_hint);
}

// For each core: inside the level and well outside the one below it.
int64_t working_set(const std::vector<CacheLevel>& caches, size_t index, int cores) {
    const CacheLevel& cache = caches[index];
    int64_t share = cache.bytes / std::max(1, std::min(cache.shared_by, cores));
    int64_t below = index > 0 ? caches[index - 1].bytes / std::max(1, caches[index - 1].shared_by) : 0;
    return std::max(share / 2, std::min(share * 9 / 10, below * 2));
}

std::map<std::string, double> parse_rates(const std::string& text) {
    std::map<std::string, double> rates;
    std::istringstream in(text);
    std::string name;
    for (double rate = 0; in >> name >> rate;) rates[name] = rate;
    return rates;
}

}  // namespace

void measure_ceilings(Machine& machine) {
    TemporaryFolder folder("strop-ceilings");
    fs::path program = folder.path() / "ceilings";
    compile_probe(machine, program);

    std::vector<std::string> cpus;
    for (int cpu : device::pinnable_cpus(machine)) cpus.push_back(std::to_string(cpu));
    int64_t last_cache = 0;
    for (const CacheLevel& cache : machine.caches)
        last_cache = std::max(last_cache, cache.bytes * std::max(1, machine.cores / cache.shared_by));
    int64_t memory = std::clamp<int64_t>(8 * last_cache, 256 << 20, int64_t{4} << 30);
    memory = std::min(memory, sysconf(_SC_AVPHYS_PAGES) * machine.page_bytes / 4);

    std::vector<std::string> argv = {program.string(), join(cpus, ","), std::to_string(memory)};
    for (size_t i = 0; i < machine.caches.size(); ++i)
        argv.push_back(std::to_string(working_set(machine.caches, i, machine.cores)));
    sandbox::Finished measured = run_tool(argv, 120);
    if (!measured.ok())
        throw EnvironmentError(fmt::format("the program that measures this machine failed: {} {}", measured.describe(),
                                           trim(measured.err)),
                               "free some memory, or report this with the output of `strop doctor --json`");

    std::map<std::string, double> rates = parse_rates(measured.out);
    double one_core = rates["fma_one_core"];
    double copy_one_core = std::max(rates["memory_copy_one_core"], rates["memory_copy_one_core_by_halves"]);
    // All cores can do what one does; beside busy neighbours the measurement may say less.
    machine.ceilings = {one_core, std::max(one_core, rates["fma_all_cores"]), rates["memory_read"],
                        std::max({copy_one_core, rates["memory_copy"], rates["memory_copy_by_halves"]}), copy_one_core};
    for (size_t i = 0; i < machine.caches.size(); ++i)
        machine.caches[i].read_bytes_per_second = rates[fmt::format("cache{}", i)];
}

}  // namespace strop
