#include "backend/cuda.h"

#include <vector>

#include <fmt/format.h>

#include "base/lines.h"
#include "base/strings.h"
#include "schedule/graph_terms.h"

namespace strop::backend {

using schedule::Schedule;

namespace {

std::string type_in_cuda(DType dtype) { return c_type(dtype); }

Dialect cuda_dialect() {
    Dialect dialect;
    dialect.kernel = "static __global__ void";
    dialect.shared = "__shared__ ";
    dialect.restrict_word = "__restrict__";
    dialect.device_function = "static __device__ inline";
    dialect.thread = "threadIdx.x";
    dialect.block = "(int64_t)blockIdx.x";
    dialect.barrier = "__syncthreads();";
    dialect.infinity = "INFINITY";
    dialect.nan = "NAN";
    dialect.type = type_in_cuda;
    return dialect;
}

// Words that a tensor, a parameter or a dimension cannot be called, beside those of C++.
const std::set<std::string>& reserved_words() {
    static const std::set<std::string> words = {
        "threadIdx", "blockIdx", "blockDim", "gridDim", "warpSize", "stream", "exp",  "exp2",     "expm1", "log",
        "log2",      "log1p",    "sqrt",     "rsqrt",   "tanh",     "erf",    "atan", "lgamma",   "sin",   "cos",
        "floor",     "ceil",     "fabs",     "rint",    "pow",      "fmod",   "abs",  "INFINITY", "NAN"};
    return words;
}

std::string function_head(const Problem& problem) {
    std::vector<std::string> arguments;
    for (const Tensor& input : problem.inputs)
        arguments.push_back(fmt::format("const {}* {}", c_type(input.dtype), input.name));
    for (const Tensor& output : problem.outputs)
        arguments.push_back(fmt::format("{}* {}", c_type(output.dtype), output.name));
    for (const Parameter& parameter : problem.parameters)
        arguments.push_back(c_type(parameter.dtype) + " " + parameter.name);
    for (const std::string& dimension : problem.dimensions) arguments.push_back("int64_t " + dimension);
    arguments.push_back("cudaStream_t stream");
    return fmt::format("extern \"C\" void {}({})", problem.name, join(arguments, ", "));
}

std::string elements_of(const schedule::Buffer& buffer) { return schedule::product_of(buffer.shape).cpp(); }

std::string launching_function(const Problem& problem, const Schedule& schedule, const BlockProgram& program) {
    Lines lines;
    lines.add(function_head(problem) + " {");
    for (const schedule::Buffer& buffer : schedule.buffers) {
        lines.add(fmt::format("{}* {} = nullptr;", c_type(buffer.dtype), buffer.name));
        lines.add(fmt::format("cudaMallocAsync((void**)&{}, sizeof({}) * ({}), stream);", buffer.name,
                              c_type(buffer.dtype), elements_of(buffer)));
    }
    for (const BlockKernel& kernel : program.kernels) {
        std::vector<std::string> arguments = kernel.arguments.tensors;
        arguments.insert(arguments.end(), kernel.arguments.parameters.begin(), kernel.arguments.parameters.end());
        arguments.insert(arguments.end(), kernel.arguments.dimensions.begin(), kernel.arguments.dimensions.end());
        lines.add(fmt::format("launch({}, {}, {}, stream, {});", kernel.name, kernel.blocks.cpp(), kernel.threads.cpp(),
                              join(arguments, ", ")));
    }
    for (const schedule::Buffer& buffer : schedule.buffers)
        lines.add(fmt::format("cudaFreeAsync({}, stream);", buffer.name));
    lines.add("}");
    return lines.text();
}

constexpr const char* launch_text = R"(
// Nothing is launched where there is nothing to do.
template <class Kernel, class... Arguments>
static void launch(Kernel kernel, int64_t blocks, int64_t threads, cudaStream_t stream, Arguments... arguments) {
    if (blocks > 0) kernel<<<(unsigned)blocks, (unsigned)threads, 0, stream>>>(arguments...);
}
)";

}  // namespace

SourceText write_cuda(const Problem& problem, const Schedule& schedule) {
    if (std::string name = reserved_name(problem, reserved_words()); !name.empty())
        return {"", fmt::format("the name '{}', which is a word of CUDA", name)};
    const BlockProgram program = write_blocks(problem, schedule, cuda_dialect());
    if (!program.lacks.empty()) return {"", program.lacks};
    std::string text = head_comments(problem, schedule, program);
    text += "#include <math.h>\n#include <stdint.h>\n" + tile_macros(program) + "\n" + program.helpers;
    for (const BlockKernel& kernel : program.kernels) text += kernel.text + "\n";
    return {text + (launch_text + 1) + "\n" + launching_function(problem, schedule, program), ""};
}

}  // namespace strop::backend
