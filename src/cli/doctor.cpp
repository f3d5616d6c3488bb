// strop doctor: what this machine has, what it can do, and what is missing.
#include <unistd.h>

#include <fmt/format.h>

#include "base/error.h"
#include "base/strings.h"
#include "cli/commands.h"
#include "cli/doctor_judge.h"
#include "cli/doctor_workers.h"
#include "cli/table.h"
#include "core/json.h"
#include "device/cuda.h"
#include "device/machine.h"
#include "device/opencl.h"
#include "language/sanitizer.h"
#include "sandbox/process.h"

namespace strop::cli {

namespace {

struct Baseline {
    std::string name, version, how;  // version: empty when it is not installed
};

struct Findings {
    Machine machine;
    std::string unmeasured;  // why there are no ceilings
    std::vector<Compiler> compilers;
    std::string python, python_problem, python_hint;
    std::vector<Baseline> baselines;
    std::vector<Baseline> modules;  // what Python modules of `strop write` need where they are called
    std::vector<Sanitizer> sanitizers;
    std::vector<OpenClDevice> opencl;
    std::string no_opencl;  // why there is no device
    std::vector<CudaDevice> cuda;
    std::string no_cuda;
    std::vector<std::string> weaker;

    bool usable() const { return !compilers.empty() && !python.empty(); }
};

sandbox::Finished run_tool(const std::vector<std::string>& argv, const std::string& input = {}) {
    sandbox::Command command;
    command.argv = argv;
    command.trust = sandbox::Trust::tool;
    command.limits.wall = Seconds(20);
    return sandbox::run(command, input);
}

// From the package's metadata: importing PyTorch takes seconds.
std::string python_package(const std::string& python, const std::string& package) {
    if (python.empty()) return {};
    sandbox::Finished asked =
        run_tool({python, "-c", "import importlib.metadata as m, sys; print(m.version(sys.argv[1]))", package});
    return asked.ok() ? std::string(trim(asked.out)) : std::string();
}

// Baselines in C++ are compiled like kernels, so the compiler is who must find the library.
std::string onednn_version(const std::vector<Compiler>& compilers) {
    if (compilers.empty()) return {};
    sandbox::Finished expanded =
        run_tool({compilers.front().path, "-x", "c++", "-E", "-P", "-"},
                 "#include <oneapi/dnnl/dnnl_version.h>\nDNNL_VERSION_MAJOR.DNNL_VERSION_MINOR.DNNL_VERSION_PATCH\n");
    return expanded.ok() ? replace_all(std::string(trim(expanded.out)), " ", "") : std::string();
}

void examine_machine(Findings& findings, bool fresh) {
    findings.machine = detect_machine();
    try {
        if (fresh) forget_ceilings(findings.machine);
        findings.machine = measured_machine();
    } catch (const EnvironmentError& error) {
        findings.unmeasured = error.what();
    }
}

Findings examine(bool fresh) {
    Findings findings;
    findings.compilers = kernel_compilers();
    examine_machine(findings, fresh);
    try {
        findings.python = reference_python();
    } catch (const EnvironmentError& error) {
        findings.python_problem = error.what();
        findings.python_hint = error.hint();
    }
    findings.baselines = {
        {"numpy", python_package(findings.python, "numpy"), "./strop setup"},
        {"pytorch", python_package(findings.python, "torch"), "./strop setup torch"},
        {"jax", python_package(findings.python, "jax"), "./strop setup jax"},
        {"onednn", onednn_version(findings.compilers), "apt-get install libdnnl-dev, or ./strop setup"}};
    findings.modules = {{"triton", python_package(findings.python, "triton"), "pip install triton"},
                        {"tilelang", python_package(findings.python, "tilelang"), "./strop setup tilelang"}};
    if (!findings.python.empty()) findings.opencl = opencl_devices(findings.no_opencl);
    findings.cuda = cuda_devices(findings.no_cuda);
    if (!findings.compilers.empty()) findings.sanitizers = sanitizers_of(findings.compilers.front());
    findings.weaker = sandbox::weaker_protections();
    return findings;
}

Json to_document(const std::vector<Baseline>& baselines) {
    Json document = Json::array();
    for (const Baseline& baseline : baselines) {
        Json entry = {{"name", baseline.name}, {"installed", !baseline.version.empty()}};
        if (baseline.version.empty()) entry["how"] = baseline.how;
        else entry["version"] = baseline.version;
        document.push_back(entry);
    }
    return document;
}

Json to_document(const Findings& findings) {
    Json compilers = Json::array();
    for (const Compiler& compiler : findings.compilers)
        compilers.push_back({{"name", compiler.name}, {"path", compiler.path}, {"version", compiler.version}});
    Json sanitizers = Json::array();
    for (const Sanitizer& sanitizer : findings.sanitizers)
        sanitizers.push_back(
            {{"name", sanitizer.name}, {"usable", sanitizer.missing.empty()}, {"missing", sanitizer.missing}});
    Json cuda = Json::array();
    for (const CudaDevice& device : findings.cuda)
        cuda.push_back({{"name", device.name},
                        {"architecture", device.architecture},
                        {"driver", device.driver},
                        {"multiprocessors", device.multiprocessors},
                        {"l2_bytes", device.l2_bytes},
                        {"memory_bytes", device.memory_bytes}});
    Json opencl = Json::array();
    for (const OpenClDevice& device : findings.opencl)
        opencl.push_back({{"platform", device.platform},
                          {"name", device.name},
                          {"version", device.version},
                          {"units", device.units},
                          {"local_bytes", device.local_bytes},
                          {"global_bytes", device.global_bytes}});
    Json document = {{"strop", STROP_VERSION},
                     {"usable", findings.usable()},
                     {"machine", findings.machine},
                     {"compilers", compilers},
                     {"python", findings.python},
                     {"baselines", to_document(findings.baselines)},
                     {"modules", to_document(findings.modules)},
                     {"sanitizers", sanitizers},
                     {"opencl", opencl},
                     {"cuda", cuda},
                     {"nvcc", cuda_compiler() ? cuda_compiler()->version : ""},
                     {"weaker_protections", findings.weaker}};
    if (!findings.unmeasured.empty()) document["unmeasured"] = findings.unmeasured;
    if (!findings.python_problem.empty()) document["python_problem"] = findings.python_problem;
    return document;
}

std::string gigabytes(double bytes_per_second) { return fmt::format("{:.1f} GB/s", bytes_per_second / 1e9); }

std::vector<std::vector<std::string>> machine_rows(const Findings& findings) {
    const Machine& machine = findings.machine;
    std::vector<std::vector<std::string>> rows = {
        {"processor",
         fmt::format("{}, {}, {}, {}", machine.cpu, counted(machine.cores, "core"), machine.architecture, machine.isa)},
        {"memory", human_bytes(static_cast<double>(machine.memory_bytes))}};
    for (const CacheLevel& cache : machine.caches)
        rows.push_back({fmt::format("cache L{}", cache.level),
                        fmt::format("{} for {}, read {} in all", human_bytes(static_cast<double>(cache.bytes)),
                                    counted(cache.shared_by, "core"), gigabytes(cache.read_bytes_per_second))});
    const Ceilings& ceilings = machine.ceilings;
    if (!findings.unmeasured.empty()) {
        rows.push_back({"ceilings", "not measured: " + findings.unmeasured});
        return rows;
    }
    rows.push_back({"arithmetic", fmt::format("{:.1f} GFLOP/s on one core, {:.1f} on all (float32)",
                                              ceilings.fma_flops_one_core / 1e9, ceilings.fma_flops_all_cores / 1e9)});
    rows.push_back(
        {"bandwidth", fmt::format("read {}, copy {}, copy on one core {}", gigabytes(ceilings.memory_read),
                                  gigabytes(ceilings.memory_copy), gigabytes(ceilings.memory_copy_one_core))});
    return rows;
}

std::string to_text(const Findings& findings) {
    std::vector<std::vector<std::string>> rows = machine_rows(findings);
    for (const Compiler& compiler : findings.compilers)
        rows.push_back({"compiler", fmt::format("{} {} ({})", compiler.name, compiler.version, compiler.path)});
    if (findings.compilers.empty())
        rows.push_back({"compiler", "missing; install clang-19 or g++, or run ./strop setup"});
    rows.push_back({"python", findings.python.empty() ? "missing: " + findings.python_problem : findings.python});
    for (const auto& [kind, all] : {std::pair("baseline", findings.baselines), std::pair("module", findings.modules)})
        for (const Baseline& one : all)
            rows.push_back({kind, one.version.empty()
                                      ? fmt::format("{} is not installed; get it with {}", one.name, one.how)
                                      : fmt::format("{} {}", one.name, one.version)});
    for (const Sanitizer& sanitizer : findings.sanitizers)
        rows.push_back(
            {"sanitizer", sanitizer.missing.empty() ? sanitizer.name : sanitizer.name + ": " + sanitizer.missing});
    for (size_t i = 0; i < findings.opencl.size(); ++i)
        rows.push_back({"opencl", fmt::format("{}, {}, {}{}", findings.opencl[i].name, findings.opencl[i].version,
                                              human_bytes(static_cast<double>(findings.opencl[i].global_bytes)),
                                              i == 0 ? "; --device opencl uses it" : "")});
    if (!findings.no_opencl.empty()) rows.push_back({"opencl", "no device: " + findings.no_opencl});
    for (const CudaDevice& device : findings.cuda)
        rows.push_back({"cuda", fmt::format("{} ({}), {}, CUDA {}{}", device.name, device.architecture,
                                            human_bytes(static_cast<double>(device.memory_bytes)), device.driver,
                                            device.number == 0 ? "; --device cuda uses it" : "")});
    if (!findings.no_cuda.empty()) rows.push_back({"cuda", "no device: " + findings.no_cuda});
    if (const Compiler* compiler = cuda_compiler()) rows.push_back({"cuda compiler", "nvcc " + compiler->version});
    else if (!findings.cuda.empty()) rows.push_back({"cuda compiler", "nvcc is not installed"});
    for (const std::string& protection : findings.weaker) rows.push_back({"weaker", protection});
    if (findings.weaker.empty()) rows.push_back({"sandbox", "all protections hold"});
    return table(rows);
}

}  // namespace

int command_doctor(const Arguments& arguments) {
    if (arguments.has("--worker")) return look_at_workers(arguments);
    if (arguments.has("--judge")) return judge_the_judge(arguments);
    if (isatty(STDERR_FILENO)) fmt::print(stderr, "looking at this machine (a few seconds the first time)\n");
    Findings findings = examine(arguments.has("--fresh"));
    fmt::print("{}", arguments.has("--json") ? to_document(findings).dump(2) + "\n" : to_text(findings));
    if (findings.usable()) return 0;
    if (findings.compilers.empty())
        throw EnvironmentError("no kernel compiler was found", "install clang-19 or g++, or run ./strop setup");
    throw EnvironmentError(findings.python_problem, findings.python_hint);
}

}  // namespace strop::cli
