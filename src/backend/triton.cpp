#include "backend/triton.h"

#include <algorithm>

#include <fmt/format.h>

#include "backend/python_lines.h"
#include "backend/python_module.h"
#include "backend/triton_kernel.h"
#include "backend/triton_terms.h"
#include "base/strings.h"

namespace strop::backend {

using schedule::Buffer;
using schedule::Launch;
using schedule::Schedule;

namespace {

constexpr const char* warps = "NUM_WARPS";    // of 32 threads, that a program has
constexpr const char* stages = "NUM_STAGES";  // how far loads of a loop run ahead

std::string reserved_name(const Problem& problem, const Schedule& schedule) {
    std::set<std::string> words = triton_helper_names();
    words.merge(std::set<std::string>{"tl", "torch", "triton", "range", "float", "min", "max", "abs", "INDEX", "index",
                                      "device", block_lanes, chunk_lanes, row_lanes, warps, stages, schedule::tile_m,
                                      schedule::tile_n, schedule::tile_k});
    return name_in_module(problem, schedule, std::move(words));
}

std::vector<Tunable> tunables_of(const Schedule& schedule, const std::vector<TritonKernel>& kernels) {
    std::vector<Tunable> tunables = schedule.space.tunables;
    auto used = [&](const char* name) {
        return std::any_of(kernels.begin(), kernels.end(), [&](const TritonKernel& kernel) {
            return std::find(kernel.constants.begin(), kernel.constants.end(), name) != kernel.constants.end();
        });
    };
    auto add = [&](const char* name, const std::vector<int64_t>& values) {
        tunables.push_back({name, {values.begin(), values.end()}, Tunable::Kind::constant});
    };
    if (used(block_lanes)) add(block_lanes, {256, 128, 512, 1024});
    if (used(chunk_lanes)) add(chunk_lanes, {1024, 512, 2048, 4096});
    if (used(schedule::tile_m)) {
        add(schedule::tile_m, {64, 32, 128});
        add(schedule::tile_n, {64, 32, 128});
        add(schedule::tile_k, {32, 16, 64});
    }
    add(warps, {4, 2, 8});
    add(stages, {2, 3, 4});
    return tunables;
}

constexpr const char* ceildiv = "triton.cdiv";

void launch(const Launch& launch, const TritonKernel& kernel, Lines& lines) {
    std::vector<std::string> arguments;
    for (const auto* names : {&kernel.arguments.tensors, &kernel.arguments.parameters, &kernel.arguments.dimensions})
        arguments.insert(arguments.end(), names->begin(), names->end());
    arguments.push_back("INDEX=index");
    for (const std::string& name : kernel.constants) {
        const std::string value =
            name == row_lanes ? fmt::format("triton.next_power_of_2({})", in_python(*kernel.row, ceildiv)) : name;
        arguments.push_back(name + "=" + value);
    }
    for (const auto& [name, value] : {std::pair("num_warps", warps), std::pair("num_stages", stages)})
        arguments.push_back(fmt::format("{}={}", name, value));
    const std::string call = fmt::format("{}[({},)](", launch.name, in_python(kernel.programs, ceildiv));
    lines.pragma(in_lines(call, arguments, ")", 1));
}

// What a caller calls: it reads the dimensions, allocates and launches.
std::string wrapper(const Problem& problem, const Schedule& schedule, const std::vector<TritonKernel>& kernels) {
    Lines lines;
    begin_module_function(problem, schedule, ceildiv, lines);
    std::vector<std::string> tensors = names_of(problem.inputs);
    for (const Tensor& output : problem.outputs) tensors.push_back(output.name);
    for (const Buffer& buffer : schedule.buffers) tensors.push_back(buffer.name);
    lines.add(fmt::format("index = index_type({})", join(tensors, ", ")));
    for (size_t k = 0; k < kernels.size(); ++k) launch(schedule.launches[k], kernels[k], lines);
    lines.add("return " + join(names_of(problem.outputs), ", "));
    return lines.text();
}

constexpr const char* index_type = R"(
def index_type(*tensors):
    """Positions have 32 bits where all of them fit."""
    return tl.int32 if max(tensor.numel() for tensor in tensors) < 2**30 else tl.int64
)";

}  // namespace

SourceText write_triton(const Problem& problem, const Schedule& schedule) {
    if (std::string name = reserved_name(problem, schedule); !name.empty())
        return {"", fmt::format("the name '{}', which a Triton module has for something else", name)};
    if (problem.inputs.empty()) return {"", "a computation without inputs"};
    std::string lacks;
    Helpers helpers;
    std::vector<TritonKernel> kernels;
    for (const Launch& launch : schedule.launches)
        kernels.push_back(write_triton_kernel(problem, schedule, launch, helpers, lacks));
    if (!lacks.empty()) return {"", lacks};
    const std::vector<Tunable> tunables = tunables_of(schedule, kernels);
    std::string text = module_head(problem, schedule, tunables);
    text += "import torch\nimport triton\nimport triton.language as tl\n\n";
    text += module_constants(tunables);
    text += "\n" + helpers.text();
    for (const TritonKernel& kernel : kernels) text += "\n" + kernel.text + "\n";
    text += std::string(index_type) + "\n\n" + wrapper(problem, schedule, kernels);
    return {text, ""};
}

}  // namespace strop::backend
