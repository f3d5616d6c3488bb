#include "backend/opencl.h"

#include <set>

#include <fmt/format.h>

#include "base/strings.h"
#include "language/opencl.h"
#include "schedule/graph_terms.h"

namespace strop::backend {

using schedule::Schedule;

namespace {

// OpenCL without extensions knows halves in memory only.
std::string opencl_from_half(DType dtype) {
    if (dtype == DType::float16) return "ushort bits) {\n    return vload_half(0, (const half*)&bits);\n}\n";
    return "ushort bits) {\n    return as_float((uint)bits << 16);\n}\n";
}

std::string opencl_to_half(DType dtype) {
    if (dtype == DType::float16)
        return "float value) {\n    ushort bits;\n    vstore_half_rte(value, 0, (half*)&bits);\n    return bits;\n}\n";
    return "float value) {  // to nearest, halves to even\n"
           "    const uint bits = as_uint(value);\n"
           "    return value != value ? 0x7fff : (bits + 0x7fff + (bits >> 16 & 1)) >> 16;\n}\n";
}

Dialect opencl_dialect() {
    Dialect dialect;
    dialect.kernel = "__kernel void";
    dialect.global = "__global ";
    dialect.shared = dialect.shared_pointer = "__local ";
    dialect.restrict_word = "restrict";
    dialect.device_function = "static inline";
    dialect.thread = "get_local_id(0)";
    dialect.block = "get_group_id(0)";
    dialect.barrier = "barrier(CLK_LOCAL_MEM_FENCE);";
    dialect.infinity = "INFINITY";
    dialect.nan = "NAN";
    dialect.type = opencl_type;
    dialect.index = "long";
    dialect.from_half = opencl_from_half;
    dialect.to_half = opencl_to_half;
    return dialect;
}

// Words that a tensor, a parameter or a dimension cannot be called in a program.
const std::set<std::string>& reserved_words() {
    static const std::set<std::string> words = {
        "kernel",  "global", "local", "constant", "private",  "half",     "image1d_t", "image2d_t",  "sampler_t",
        "event_t", "uchar",  "uint",  "ulong",    "ushort",   "restrict", "read_only", "write_only", "read_write",
        "barrier", "exp",    "exp2",  "expm1",    "log",      "log2",     "log1p",     "sqrt",       "rsqrt",
        "tanh",    "erf",    "atan",  "lgamma",   "sin",      "cos",      "floor",     "ceil",       "fabs",
        "rint",    "pow",    "fmod",  "abs",      "INFINITY", "NAN",      "uniform",   "pipe"};
    return words;
}

std::string launch_line(const BlockKernel& kernel) {
    return fmt::format("// strop:launch {} global {} local {}\n", kernel.name, (kernel.blocks * kernel.threads).text(),
                       kernel.threads.text());
}

std::string buffer_line(const schedule::Buffer& buffer) {
    return fmt::format("// strop:buffer {} {} {}\n", buffer.name, opencl_type(buffer.dtype),
                       schedule::product_of(buffer.shape).text());
}

}  // namespace

SourceText write_opencl(const Problem& problem, const Schedule& schedule) {
    if (std::string name = reserved_name(problem, reserved_words()); !name.empty())
        return {"", fmt::format("the name '{}', which is a word of OpenCL", name)};
    const BlockProgram program = write_blocks(problem, schedule, opencl_dialect());
    if (!program.lacks.empty()) return {"", program.lacks};
    std::string text = head_comments(problem, schedule, program);
    for (const schedule::Buffer& buffer : schedule.buffers) text += buffer_line(buffer);
    for (const BlockKernel& kernel : program.kernels) text += launch_line(kernel);
    text += tile_macros(program) + "\n" + program.helpers;
    for (size_t i = 0; i < program.kernels.size(); ++i) text += (i > 0 ? "\n" : "") + program.kernels[i].text;
    return {text, ""};
}

}  // namespace strop::backend
