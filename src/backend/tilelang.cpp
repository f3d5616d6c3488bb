#include "backend/tilelang.h"

#include <algorithm>

#include <fmt/format.h>

#include "backend/python_lines.h"
#include "backend/python_module.h"
#include "backend/tilelang_kernel.h"
#include "base/strings.h"

namespace strop::backend {

using schedule::Schedule;

namespace {

constexpr int64_t shared_bytes = 227 << 10;  // that a block of an H100 may have
constexpr const char* ceildiv = "ceildiv";

std::string reserved_name(const Problem& problem, const Schedule& schedule) {
    return name_in_module(problem, schedule,
                          {"tl", "torch", "tilelang", "functools", "compiled", "ceildiv", "range", "float", "min",
                           "max", "abs", tilelang_threads, tilelang_block, tilelang_chunk, tilelang_stages,
                           tilelang_row, schedule::tile_m, schedule::tile_n, schedule::tile_k});
}

TunableSpace space_of(const Schedule& schedule, const std::vector<TileLangKernel>& kernels) {
    TunableSpace space = schedule.space;
    auto used = [&](const char* name) {
        return std::any_of(kernels.begin(), kernels.end(), [&](const TileLangKernel& kernel) {
            return std::find(kernel.constants.begin(), kernel.constants.end(), name) != kernel.constants.end();
        });
    };
    auto add = [&](const char* name, const std::vector<int64_t>& values) {
        if (used(name)) space.tunables.push_back({name, {values.begin(), values.end()}, Tunable::Kind::constant});
    };
    add(tilelang_block, {1024, 512, 2048});
    add(tilelang_chunk, {1024, 512, 2048, 4096});
    add(schedule::tile_m, {64, 32, 128});
    add(schedule::tile_n, {64, 32, 128});
    add(schedule::tile_k, {32, 16, 64});
    add(tilelang_stages, {2, 1, 3});
    add(tilelang_threads, {128, 256});
    int64_t bytes = 0;
    for (const TileLangKernel& kernel : kernels) bytes = std::max(bytes, kernel.piece_bytes);
    if (bytes > 0)
        space.constraints.push_back(
            Expression::parse(fmt::format("({} + {}) * {} * {} * {} <= {}", schedule::tile_m, schedule::tile_n,
                                          schedule::tile_k, tilelang_stages, bytes, shared_bytes)));
    return space;
}

bool is_integer(const Problem& problem, const std::string& parameter) {
    for (const Parameter& one : problem.parameters)
        if (one.name == parameter) return !is_floating(one.dtype);
    return false;
}

std::string launch(const Problem& problem, const schedule::Launch& launch, const TileLangKernel& kernel) {
    const LaunchArguments& arguments = kernel.arguments;
    std::vector<std::string> known = arguments.dimensions, passed;
    for (const std::string& tensor : arguments.tensors) passed.push_back(tensor + ".view(-1)");
    for (const std::string& parameter : arguments.parameters)
        (is_integer(problem, parameter) ? known : passed).push_back(parameter);
    known.insert(known.end(), kernel.constants.begin(), kernel.constants.end());
    return in_lines(launch.name + "(" + join(known, ", ") + ")(", passed, ")", 1);
}

constexpr const char* common = R"(

def ceildiv(a, b):
    return (a + b - 1) // b


def compiled(kernel, *elements):
    """For these extents; positions have 32 bits where that is enough. Kernels watch the ends of tensors themselves."""
    return tilelang.compile(kernel, pass_configs={
        "tl.disable_safe_memory_legalize": True,
        "tl.config_index_bitwidth": 32 if max(elements) < 2**30 else 64,
    })
)";

}  // namespace

SourceText write_tilelang(const Problem& problem, const Schedule& schedule) {
    if (std::string name = reserved_name(problem, schedule); !name.empty())
        return {"", fmt::format("the name '{}', which a TileLang module has for something else", name)};
    if (problem.inputs.empty()) return {"", "a computation without inputs"};
    std::string lacks;
    std::vector<TileLangKernel> kernels;
    for (const schedule::Launch& one : schedule.launches)
        kernels.push_back(write_tilelang_kernel(problem, schedule, one, lacks));
    if (!lacks.empty()) return {"", lacks};
    Schedule tuned = schedule;
    tuned.space = space_of(schedule, kernels);
    std::string text = module_head(problem, tuned, tuned.space.tunables);
    text += "import functools\n\nimport tilelang\nimport tilelang.language as tl\nimport torch\n\n";
    text += module_constants(tuned.space.tunables) + common;
    for (const TileLangKernel& kernel : kernels) text += "\n\n" + kernel.text;
    Lines lines;
    begin_module_function(problem, schedule, ceildiv, lines);
    for (size_t k = 0; k < kernels.size(); ++k) lines.pragma(launch(problem, schedule.launches[k], kernels[k]));
    lines.add("return " + join(names_of(problem.outputs), ", "));
    return {text + "\n\n" + lines.text(), ""};
}

}  // namespace strop::backend
