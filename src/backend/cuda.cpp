#include "backend/cuda.h"

#include <algorithm>
#include <cctype>
#include <set>
#include <vector>

#include <fmt/format.h>

#include "base/lines.h"
#include "base/strings.h"
#include "language/contract.h"
#include "language/cpp_source.h"
#include "schedule/graph_terms.h"

namespace strop::backend {

using schedule::Schedule;

namespace {

std::string type_in_cuda(DType dtype) { return c_type(dtype); }

std::string cuda_from_half(DType dtype) {
    if (dtype == DType::float16) return "uint16_t bits) {\n    return __half2float(__ushort_as_half(bits));\n}\n";
    return "uint16_t bits) {\n    return __uint_as_float((uint32_t)bits << 16);\n}\n";
}

std::string cuda_to_half(DType dtype) {
    if (dtype == DType::float16) return "float value) {\n    return __half_as_ushort(__float2half_rn(value));\n}\n";
    return "float value) {  // to nearest, halves to even\n"
           "    const uint32_t bits = __float_as_uint(value);\n"
           "    return value != value ? 0x7fff : (bits + 0x7fff + (bits >> 16 & 1)) >> 16;\n}\n";
}

Dialect cuda_dialect() {
    Dialect dialect;
    dialect.kernel = "template <class Index>\nstatic __global__ void";
    dialect.shared = "__shared__ ";
    dialect.restrict_word = "__restrict__";
    dialect.device_function = "static __device__ inline";
    dialect.thread = "threadIdx.x";
    dialect.block = "(Index)blockIdx.x";
    dialect.barrier = "__syncthreads();";
    dialect.infinity = "INFINITY";
    dialect.nan = "NAN";
    dialect.type = type_in_cuda;
    dialect.index = "Index";
    dialect.from_half = cuda_from_half;
    dialect.to_half = cuda_to_half;
    dialect.dynamic_shared = "extern __shared__ __align__(16) unsigned char kept_room[];";
    dialect.unroll = "#pragma unroll";
    dialect.block_sizes = {128, 256, 512, 1024, 64};
    return dialect;
}

// Words that a tensor, a parameter or a dimension cannot be called, beside those of C++.
const std::set<std::string>& reserved_words() {
    static const std::set<std::string> words = {
        "threadIdx", "blockIdx", "blockDim", "gridDim", "warpSize", "stream",   "Index", "kept_room",
        "exp",       "exp2",     "expm1",    "log",     "log2",     "log1p",    "sqrt",  "rsqrt",
        "tanh",      "erf",      "atan",     "lgamma",  "sin",      "cos",      "floor", "ceil",
        "fabs",      "rint",     "pow",      "fmod",    "abs",      "INFINITY", "NAN"};
    return words;
}

// What CUDA's headers define beside C++'s own: a function of that name would be a second one.
bool is_defined_by_cuda(const std::string& name) {
    static const std::set<std::string> names = {
        "half",     "half2",    "rsqrt",  "warpSize", "dim3",   "cbrt",   "rcbrt",   "sinpi",   "cospi",
        "sincos",   "sincospi", "exp10",  "erfc",     "erfcx",  "erfinv", "erfcinv", "normcdf", "normcdfinv",
        "tgamma",   "hypot",    "rhypot", "norm",     "rnorm",  "norm3d", "rnorm3d", "norm4d",  "rnorm4d",
        "fdividef", "fdim",     "fma",    "fmax",     "fmin",   "max",    "min",     "round",   "trunc",
        "logb",     "ilogb",    "j0",     "j1",       "jn",     "y0",     "y1",      "yn",      "sinh",
        "cosh",     "asin",     "acos",   "tan",      "asinh",  "acosh",  "atanh",   "atan2",   "log10",
        "umin",     "umax",     "clock",  "clock64",  "float2", "float4", "int2",    "int4"};
    return names.contains(name) || name.starts_with("cuda");
}

std::string elements_of(const schedule::Buffer& buffer) { return schedule::product_of(buffer.shape).cpp(); }

// Factors, where it is a product of names and nothing else.
std::multiset<std::string> factors_of(const std::string& text) {
    std::multiset<std::string> factors;
    for (const std::string& factor : split(replace_all(text, " ", ""), '*')) {
        if (factor.empty() || !std::all_of(factor.begin(), factor.end(), is_word)) return {};
        factors.insert(factor);
    }
    return factors;
}

// Positions that a launch goes through, and elements of its tensors: what has to fit in its Index. Without those that
// are part of another product.
std::vector<std::string> counts_of(const Problem& problem, const Schedule& schedule, size_t launch,
                                   const BlockKernel& kernel) {
    std::vector<std::string> counts;
    const auto add = [&](const std::vector<Expression>& extents) {
        const std::string text = schedule::product_of(extents).cpp();
        const bool number = std::all_of(text.begin(), text.end(), [](char c) { return std::isdigit(c) != 0; });
        if (!number && std::find(counts.begin(), counts.end(), text) == counts.end()) counts.push_back(text);
    };
    const auto add_axes = [&](const std::vector<schedule::Axis>& axes) {
        std::vector<Expression> extents;
        for (const schedule::Axis& axis : axes) extents.push_back(axis.extent);
        add(extents);
    };
    const Shapes shapes = shapes_of(problem, schedule);
    for (const std::string& tensor : kernel.arguments.tensors) add(shapes.at(tensor));
    add_axes(schedule.launches[launch].grid);
    for (const schedule::Step& step : schedule.launches[launch].steps) add_axes(step.axes);
    std::vector<std::string> kept;
    for (const std::string& count : counts) {
        const std::multiset<std::string> factors = factors_of(count);
        const bool part = std::any_of(counts.begin(), counts.end(), [&](const std::string& other) {
            const std::multiset<std::string> others = factors_of(other);
            return !factors.empty() && others.size() > factors.size() &&
                   std::includes(others.begin(), others.end(), factors.begin(), factors.end());
        });
        if (!part) kept.push_back(count);
    }
    return kept;
}

std::string launching_function(const Problem& problem, const Schedule& schedule, const BlockProgram& program) {
    Lines lines;
    lines.add(cuda_signature(problem) + " {");
    for (const schedule::Buffer& buffer : schedule.buffers) {
        lines.add(fmt::format("{}* {} = nullptr;", c_type(buffer.dtype), buffer.name));
        lines.add(fmt::format("cudaMallocAsync((void**)&{}, sizeof({}) * ({}), stream);", buffer.name,
                              c_type(buffer.dtype), elements_of(buffer)));
    }
    for (size_t k = 0; k < program.kernels.size(); ++k) {
        const BlockKernel& kernel = program.kernels[k];
        std::vector<std::string> arguments = kernel.arguments.tensors;
        arguments.insert(arguments.end(), kernel.arguments.parameters.begin(), kernel.arguments.parameters.end());
        arguments.insert(arguments.end(), kernel.arguments.dimensions.begin(), kernel.arguments.dimensions.end());
        std::vector<std::string> fits;
        for (const std::string& count : counts_of(problem, schedule, k, kernel))
            fits.push_back(fmt::format("{} < most_of_int", count));
        const std::string launched = fmt::format("{}, {}, {}, stream, {});", kernel.blocks.cpp(), kernel.threads.cpp(),
                                                 kernel.shared_bytes.cpp(), join(arguments, ", "));
        if (!fits.empty()) lines.add(fmt::format("if ({})", join(fits, " && ")));
        lines.add(fmt::format("{}launch({}<int>, {}", fits.empty() ? "" : "    ", kernel.name, launched));
        if (fits.empty()) continue;
        lines.add("else");
        lines.add(fmt::format("    launch({}<int64_t>, {}", kernel.name, launched));
    }
    for (const schedule::Buffer& buffer : schedule.buffers)
        lines.add(fmt::format("cudaFreeAsync({}, stream);", buffer.name));
    lines.add("}");
    return lines.text();
}

constexpr const char* launch_text = R"(
// Positions up to here have 32 bits, with room for those of a last block that is not full.
constexpr int64_t most_of_int = 1 << 30;

// Nothing is launched where there is nothing to do.
template <class Kernel, class... Arguments>
static void launch(Kernel kernel, int64_t blocks, int64_t threads, int64_t shared_bytes, cudaStream_t stream,
                   Arguments... arguments) {
    if (shared_bytes > 48 << 10)  // beyond that a kernel has to ask for it
        cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)shared_bytes);
    if (blocks > 0) kernel<<<(unsigned)blocks, (unsigned)threads, (size_t)shared_bytes, stream>>>(arguments...);
}
)";

}  // namespace

SourceText write_cuda(const Problem& problem, const Schedule& schedule) {
    if (is_defined_by_cuda(problem.name))
        return {"", fmt::format("the problem's name '{}', which CUDA's headers define", problem.name)};
    if (std::string name = reserved_name(problem, reserved_words()); !name.empty())
        return {"", fmt::format("the name '{}', which is a word of CUDA", name)};
    const BlockProgram program = write_blocks(problem, schedule, cuda_dialect());
    if (!program.lacks.empty()) return {"", program.lacks};
    std::string text = head_comments(problem, schedule, program);
    if (program.helpers.find("__half") != std::string::npos) text += "#include <cuda_fp16.h>\n";
    text += "#include <math.h>\n#include <stdint.h>\n" + tile_macros(program) + "\n" + program.helpers;
    for (const BlockKernel& kernel : program.kernels) text += kernel.text + "\n";
    return {text + (launch_text + 1) + "\n" + launching_function(problem, schedule, program), ""};
}

}  // namespace strop::backend
