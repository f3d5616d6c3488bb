#include "cli/kernel_file.h"

#include <map>
#include <regex>

#include <fmt/format.h>

#include "base/error.h"
#include "base/file.h"
#include "base/strings.h"
#include "cli/problem_argument.h"
#include "language/contract.h"
#include "language/cuda_source.h"
#include "language/opencl_host.h"
#include "language/reference_kernel.h"
#include "problem/cpp_reference.h"
#include "problem/framework.h"

namespace strop::cli {

namespace {

bool is_python(const std::string& given) { return fs::path(given).extension() == ".py"; }

// Before anything is loaded, for what is no kernel whatever it holds.
void check_ending(const std::string& given) {
    if (fs::is_directory(given))
        throw UsageError(fmt::format("{}: is a folder, not a kernel", given),
                         "a problem is named by --problem " + given);
}

void check_is_compiled(const std::string& given) {
    if (is_python(given))
        throw UsageError(
            fmt::format("{}: kernels in Python are judged, and nothing else", given),
            "`strop judge` takes it; a kernel in C++ (.cpp) or OpenCL (.cl) can be tuned, profiled and optimized");
}

// A tunable is a macro, which an argument of its name would not survive.
void take_directives(Kernel& kernel, const Problem& problem, const std::string& given) {
    read_directives(kernel, problem, given);
    for (const std::string& argument : split(argument_list(problem), ','))
        for (const Tunable& tunable : kernel.space.tunables)
            if (tunable.name == trim(argument))
                throw UsageError(fmt::format("{}: tunable '{}' has the name of an argument", given, tunable.name),
                                 "rename the tunable");
}

// Without its tunables.
Kernel kernel_in(const std::string& given, const std::string& hint) {
    fs::path file = fs::absolute(given);
    check_ending(given);
    if (!fs::is_regular_file(file)) throw UsageError(fmt::format("{}: there is no such kernel", given), hint);
    check_source_size(fs::file_size(file), given);
    Kernel kernel;
    kernel.source = without_byte_order_mark(read_file(file));
    kernel.id = kernel.strategy = file.stem().string();
    kernel.author = "a person";
    return kernel;
}

}  // namespace

Kernel read_kernel(const std::string& given, const Problem& problem, const std::string& hint) {
    check_is_compiled(given);
    Kernel kernel = kernel_in(given, hint);
    const std::string ending = fs::path(given).extension();
    if (ending == ".cu")
        throw UsageError(fmt::format("{}: CUDA kernels need a device", given),
                         "use `strop judge --device cuda`, or --device emulated where there is no GPU");
    if (ending == ".cl") {
        kernel.source = opencl_host(problem, read_opencl(kernel.source, problem, given));
        kernel.language = Language::opencl;
    }
    std::error_code failed;  // what a reference may leave out a kernel may not
    if (is_cpp(given) && fs::equivalent(given, problem.reference, failed))
        kernel.source = reference_as_kernel(problem, read_cpp_reference(problem.reference).source);
    take_directives(kernel, problem, given);
    return kernel;
}

std::vector<std::string> shapes_of_kernel(const std::string& file, const Kernel& kernel, const Problem& problem) {
    std::vector<std::string> left_out, callable;
    for (const ShapePoint& point : problem.points)
        (may_be_called(kernel, bindings_of(problem, point.dims)) ? callable : left_out).push_back(point.label);
    if (!left_out.empty())
        fmt::print(stderr, "! {} is for {}: not called at {}\n", file, kernel.condition->text(), join(left_out, ", "));
    return callable;
}

Kernel read_cuda_kernel(const std::string& given, const Problem& problem, const std::string& device) {
    const char* hint =
        "give a CUDA file (.cu): extern \"C\" void NAME(inputs..., outputs..., dimensions..., cudaStream_t)";
    Kernel kernel = kernel_in(given, hint);
    if (fs::path(given).extension() != ".cu")
        throw UsageError(fmt::format("{}: --device {} is for CUDA kernels", given, device), hint);
    kernel.language = Language::cuda;
    take_directives(kernel, problem, given);
    if (device == "emulated") kernel.source = emulated_cuda(kernel.source, given);
    return kernel;
}

Kernel read_judged_kernel(const std::string& given, const Problem& problem, const std::string& device) {
    if (!is_python(given))
        return device.empty() ? read_kernel(given, problem, kernel_file_hint)
                              : read_cuda_kernel(given, problem, device);
    Kernel kernel = kernel_in(given, kernel_file_hint);
    if (device.empty() && imports(kernel.source, "triton"))
        throw UsageError(fmt::format("{}: kernels in Triton need a device", given),
                         "--device emulated runs them in Triton's interpreter: they are checked, and not timed");
    if (!device.empty() && device != "emulated")
        throw UsageError(fmt::format("{}: kernels in Python are judged on the processor only", given),
                         "leave --device out; --device emulated checks one in Triton");
    kernel.language = Language::python;
    take_directives(kernel, problem, given);
    return kernel;
}

Configuration configuration_of(const Kernel& kernel, const Arguments& arguments) {
    const std::vector<std::string> assignments = arguments.all("--set");
    std::map<std::string, std::string> values;
    for (const std::string& assignment : assignments) {
        size_t equals = assignment.find('=');
        const std::string name = assignment.substr(0, equals);
        if (!values.emplace(name, assignment.substr(equals + 1)).second)
            throw UsageError(fmt::format("--set {}: '{}' was given 2 times", assignment, name), "give it once");
    }
    try {
        return chosen_configuration(kernel.space, values);
    } catch (const UsageError& error) {
        const std::string place = assignments.empty() ? kernel.id : "--set " + join(assignments, " ");
        throw UsageError(fmt::format("{}: {}", place, error.what()), error.hint());
    }
}

std::string with_file_name(const std::string& evidence, const std::string& file) {
    static const std::regex copy("kernel[0-9]+\\.(cpp|cu|py):");
    const std::string name = fs::path(file).filename();
    return std::regex_replace(evidence, copy, replace_all(name, "$", "$$") + ":");
}

Problem problem_of_judged(const Arguments& arguments) {
    for (const std::string& file : arguments.all("KERNEL")) check_ending(file);
    return problem_of_kernel(arguments);
}

Problem problem_of_compiled(const Arguments& arguments) {
    for (const std::string& file : arguments.all("KERNEL")) check_is_compiled(file);
    return problem_of_judged(arguments);
}

Problem problem_of_kernel(const Arguments& arguments) {
    const std::string folder = arguments.text("--problem"), kernel = arguments.text("KERNEL");
    if (!folder.empty()) return problem_argument(folder);
    if (!fs::exists(kernel))
        throw UsageError(fmt::format("{}: there is no such kernel", kernel),
                         "name a file; its problem is the folder that it lies in, unless --problem names another");
    return problem_argument(fs::absolute(kernel).parent_path().string());
}

}  // namespace strop::cli
