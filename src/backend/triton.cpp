#include "backend/triton.h"

#include <algorithm>

#include <fmt/format.h>

#include "backend/python_lines.h"
#include "backend/triton_kernel.h"
#include "backend/triton_terms.h"
#include "base/strings.h"
#include "language/call_plan.h"

namespace strop::backend {

using schedule::Buffer;
using schedule::Launch;
using schedule::Schedule;

namespace {

constexpr const char* warps = "NUM_WARPS";    // of 32 threads, that a program has
constexpr const char* stages = "NUM_STAGES";  // how far loads of a loop run ahead

// Names that a module cannot give to a tensor, a parameter or a dimension.
std::string reserved_name(const Problem& problem, const Schedule& schedule) {
    std::set<std::string> words = triton_helper_names();
    words.merge(std::set<std::string>{
        "tl",  "torch", "triton",         "range",          "float",          "min",       "max",
        "abs", "INDEX", "index",          "device",         block_lanes,      chunk_lanes, row_lanes,
        warps, stages,  schedule::tile_m, schedule::tile_n, schedule::tile_k, problem.name});
    for (const Tunable& tunable : schedule.space.tunables) words.insert(tunable.name);
    for (const Launch& launch : schedule.launches)
        if (!words.insert(launch.name).second) return launch.name;
    for (const auto* tensors : {&problem.inputs, &problem.outputs})
        for (const Tensor& tensor : *tensors)
            if (words.contains(tensor.name) || words.contains(tensor.name + "_ptr")) return tensor.name;
    for (const Parameter& parameter : problem.parameters)
        if (words.contains(parameter.name)) return parameter.name;
    for (const std::string& dimension : problem.dimensions)
        if (words.contains(dimension)) return dimension;
    return {};
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

std::string in_python(const Expression& expression) {
    return replace_all(expression.text(), "ceildiv(", "triton.cdiv(");
}

std::string shape_text(const std::vector<Expression>& shape) {
    std::vector<std::string> extents;
    for (const Expression& extent : shape) extents.push_back(in_python(extent));
    return "(" + join(extents, ", ") + (extents.size() == 1 ? ",)" : ")");
}

std::string parameter_text(const Parameter& parameter) {
    const std::string value = triton_literal(parameter.value, parameter.dtype);
    return fmt::format("{}={}", parameter.name,
                       parameter.dtype == DType::float64 ? fmt::format("{}", parameter.value) : value);
}

// What a caller calls: it reads the dimensions, allocates and launches.
class Wrapper {
public:
    Wrapper(const Problem& problem, const Schedule& schedule, const std::vector<TritonKernel>& kernels)
        : problem_(problem),
          schedule_(schedule),
          kernels_(kernels),
          plan_(plan_call(problem)) {}

    std::string text() {
        Lines lines;
        lines.open(heading());
        lines.add(fmt::format("\"\"\"{}\"\"\"", says()));
        read_dimensions(lines);
        allocate(lines);
        std::vector<std::string> tensors;
        for (const auto* all : {&problem_.inputs, &problem_.outputs})
            for (const Tensor& tensor : *all) tensors.push_back(tensor.name);
        for (const Buffer& buffer : schedule_.buffers) tensors.push_back(buffer.name);
        lines.add(fmt::format("index = index_type({})", join(tensors, ", ")));
        for (size_t k = 0; k < kernels_.size(); ++k) launch(schedule_.launches[k], kernels_[k], lines);
        lines.add("return " + join(names_of(problem_.outputs), ", "));
        return lines.text();
    }

private:
    static std::vector<std::string> names_of(const std::vector<Tensor>& tensors) {
        std::vector<std::string> names;
        for (const Tensor& tensor : tensors) names.push_back(tensor.name);
        return names;
    }

    std::string heading() const {
        std::vector<std::string> arguments = names_of(problem_.inputs);
        for (const std::string& dimension : plan_.asked) arguments.push_back(dimension);
        for (const Tensor& output : problem_.outputs) arguments.push_back(output.name + "=None");
        for (const Parameter& parameter : problem_.parameters) arguments.push_back(parameter_text(parameter));
        return fmt::format("def {}({}):", problem_.name, join(arguments, ", "));
    }

    std::string says() const {
        std::vector<std::string> outputs;
        for (const Tensor& output : problem_.outputs)
            outputs.push_back(output.name + ", " + name_of(output.dtype) + " " + shape_text(output.shape));
        std::string text = "Gives " + join(outputs, "; ") + ", of contiguous tensors";
        if (schedule_.condition) text += "; for " + schedule_.condition->text();
        return text + ".";
    }

    void read_dimensions(Lines& lines) const {
        for (size_t input = 0; input < problem_.inputs.size(); ++input) {
            const Tensor& tensor = problem_.inputs[input];
            std::vector<std::string> names;
            bool any = false;
            for (size_t axis = 0; axis < tensor.shape.size(); ++axis) {
                const Reading* reading = plan_.plain_at(input, axis);
                names.push_back(reading ? reading->dimension : "_");
                any = any || reading;
            }
            if (!any) continue;
            lines.add(fmt::format("{}{} = {}.shape", join(names, ", "), names.size() == 1 ? "," : "", tensor.name));
        }
        for (const Reading& reading : plan_.readings) {
            if (!reading.inverse) continue;
            std::string extent = fmt::format("{}.shape[{}]", problem_.inputs[reading.input].name, reading.axis);
            if (!reading.inverse->rest.is_literal(0))
                extent = fmt::format("({} - ({}))", extent, in_python(reading.inverse->rest));
            lines.add(fmt::format("{} = {} // {}", reading.dimension, extent, reading.inverse->factor));
        }
    }

    void allocate(Lines& lines) const {
        auto empty = [&](const std::string& name, const std::vector<Expression>& shape, DType dtype) {
            return fmt::format("{} = torch.empty({}, dtype={}, device={}.device)", name, shape_text(shape),
                               torch_type(dtype), problem_.inputs[0].name);
        };
        for (const Tensor& output : problem_.outputs) {
            lines.open(fmt::format("if {} is None:", output.name));
            lines.add(empty(output.name, output.shape, output.dtype));
            lines.close();
        }
        for (const Buffer& buffer : schedule_.buffers) lines.add(empty(buffer.name, buffer.shape, buffer.dtype));
    }

    void launch(const Launch& launch, const TritonKernel& kernel, Lines& lines) const {
        std::vector<std::string> arguments;
        for (const auto* names :
             {&kernel.arguments.tensors, &kernel.arguments.parameters, &kernel.arguments.dimensions})
            arguments.insert(arguments.end(), names->begin(), names->end());
        arguments.push_back("INDEX=index");
        for (const std::string& name : kernel.constants) {
            const std::string value =
                name == row_lanes ? fmt::format("triton.next_power_of_2({})", in_python(*kernel.row)) : name;
            arguments.push_back(name + "=" + value);
        }
        for (const auto& [name, value] : {std::pair("num_warps", warps), std::pair("num_stages", stages)})
            arguments.push_back(fmt::format("{}={}", name, value));
        const std::string call = fmt::format("{}[({},)](", launch.name, in_python(kernel.programs));
        lines.pragma(in_lines(call, arguments, ")", 1));
    }

    const Problem& problem_;
    const Schedule& schedule_;
    const std::vector<TritonKernel>& kernels_;
    const CallPlan plan_;
};

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
    std::string text = fmt::format("# {}: {}\n", problem.name, schedule.hypothesis);
    if (schedule.condition) text += fmt::format("# for {}\n", schedule.condition->text());
    for (const Tunable& tunable : tunables) {
        std::vector<std::string> values;
        for (const Value& value : tunable.values) values.push_back(to_string(value));
        text += fmt::format("# strop:tune {} = {}\n", tunable.name, join(values, " | "));
    }
    for (const Expression& constraint : schedule.space.constraints)
        text += fmt::format("# strop:require {}\n", constraint.text());
    text += "import torch\nimport triton\nimport triton.language as tl\n\n";
    for (const Tunable& tunable : tunables)
        text += fmt::format("{} = {}\n", tunable.name, to_string(tunable.values.front()));
    text += "\n" + helpers.text();
    for (const TritonKernel& kernel : kernels) text += "\n" + kernel.text + "\n";
    text += std::string(index_type) + "\n\n" + Wrapper(problem, schedule, kernels).text();
    return {text, ""};
}

}  // namespace strop::backend
