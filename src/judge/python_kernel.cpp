#include "judge/python_kernel.h"

#include <atomic>

#include <fmt/format.h>

#include "base/error.h"
#include "base/file.h"
#include "base/hash.h"
#include "core/json.h"
#include "device/machine.h"
#include "judge/programs.h"
#include "judge/python_spec.h"
#include "judge/runner.h"
#include "problem/cpp_reference.h"
#include "problem/framework.h"

namespace strop::judge {

namespace {

Json spec_of(const Built& built, const Problem& problem, const std::vector<Buffers*>& points) {
    Json spec = {{"file", built.library.filename().string()},
                 {"function", problem.name},
                 {"framework", framework_of_kernel(read_file(built.library), problem.reference)},
                 {"reference", is_cpp(problem.reference) ? Json() : Json(problem.reference.string())},
                 {"inputs", names_and_dtypes(problem.inputs)},
                 {"outputs", names_and_dtypes(problem.outputs)},
                 {"parameters", parameters_with_values(problem)},
                 {"dimensions", problem.dimensions},
                 {"tunables", configuration_to_json(built.tunables)},
                 {"points", Json::array()}};
    for (const Buffers* buffers : points) {
        Json shapes = Json::array();
        for (const auto* tensors : {&problem.inputs, &problem.outputs})
            for (const Tensor& tensor : *tensors) shapes.push_back(extents(problem, tensor, buffers->point().dims));
        spec["points"].push_back({{"shapes", shapes}});
    }
    return spec;
}

}  // namespace

Built python_kernel(const Kernel& kernel, const Configuration& configuration, const fs::path& folder) {
    static std::atomic<int> next = 0;
    Built built;
    built.ok = true;
    built.library = folder / fmt::format("kernel{}.py", next++);
    write_file(built.library, kernel.source);
    built.interpreter = reference_python();
    built.tunables = configuration;
    return built;
}

void run_python_kernel(const Built& built, const Problem& problem, const std::vector<Buffers*>& points, int threads,
                       int layout_fd, const fs::path& scratch, sandbox::Command& command) {
    const fs::path host = home_folder() / "python/strop/kernel_host.py", spec = scratch / "spec.json",
                   library = candidate_library();
    write_file(spec, spec_of(built, problem, points).dump());
    command.argv = {built.interpreter,         host.string(), library.string(), built.library.string(),
                    std::to_string(layout_fd), spec.string()};
    command.environment.merge(framework_environment(threads));
    command.environment["GLIBC_TUNABLES"] = kept_memory;
    for (const fs::path& path :
         {host, host.parent_path() / "interpreted.py", spec, library, problem.reference.parent_path()})
        command.readable.push_back(path.string());
    const std::vector<std::string>& folders = interpreter(built.interpreter).folders;
    command.readable.insert(command.readable.end(), folders.begin(), folders.end());
    command.reads_system = command.generates_code = true;  // of frameworks
    command.limits.resident_bytes = command.limits.memory_bytes;
    command.limits.memory_bytes = 0;  // a framework reserves far more address space than it uses
}

}  // namespace strop::judge
