// What instructions are, by their names and operands as llvm-objdump prints them.
#include <algorithm>
#include <initializer_list>
#include <string_view>

#include "language/assembly.h"

namespace strop {

namespace {

bool one_of(std::string_view name, std::initializer_list<std::string_view> names) {
    return std::find(names.begin(), names.end(), name) != names.end();
}

bool starts_with_any(std::string_view name, std::initializer_list<std::string_view> starts) {
    return std::any_of(starts.begin(), starts.end(), [&](std::string_view start) { return name.starts_with(start); });
}

bool has(std::string_view text, std::string_view part) { return text.find(part) != std::string_view::npos; }

// Floating-point arithmetic of one instruction.
struct Arithmetic {
    int vector_bytes = 0;  // 0: on one value
    int value_bytes = 4;
    bool fused = false, division = false;
};

void add_arithmetic(const Arithmetic& arithmetic, InstructionMix& mix) {
    if (arithmetic.vector_bytes == 0) ++mix.scalar;
    else ++mix.packed[arithmetic.vector_bytes];
    mix.fused += arithmetic.fused;
    mix.divisions += arithmetic.division;
    int values = arithmetic.vector_bytes == 0 ? 1 : arithmetic.vector_bytes / arithmetic.value_bytes;
    mix.flops += values * (arithmetic.fused ? 2 : 1);
}

// ---- x86-64, in Intel's syntax ----

// Names without the "v" that the same instruction has in AVX.

bool x86_shuffles(std::string_view name, bool from_memory) {
    if (starts_with_any(name, {"broadcast", "pbroadcast"})) return !from_memory;  // else a load does it
    return starts_with_any(
        name, {"shuf",     "pshuf",  "perm",      "unpck",    "punpck",   "insert",  "pinsr",   "extract", "pextr",
               "align",    "palign", "movddup",   "movshdup", "movsldup", "movhlps", "movlhps", "movhp",   "movlp",
               "compress", "expand", "pcompress", "pexpand",  "pslldq",   "psrldq",  "packss",  "packus"});
}

bool x86_converts(std::string_view name) { return starts_with_any(name, {"cvt", "pmovsx", "pmovzx"}); }

int x86_vector_bytes(std::string_view operands) { return has(operands, "zmm") ? 64 : has(operands, "ymm") ? 32 : 16; }

// "fmadd231ps" -> "fmadd231", of packed values of 4 bytes.
std::optional<Arithmetic> x86_arithmetic(std::string_view name, std::string_view operands) {
    if (name.size() < 4) return std::nullopt;
    std::string_view what = name.substr(0, name.size() - 2), kind = name.substr(name.size() - 2);
    if (!one_of(kind, {"ss", "sd", "sh", "ps", "pd", "ph"})) return std::nullopt;
    Arithmetic result;
    result.fused = starts_with_any(what, {"fmadd", "fmsub", "fnmadd", "fnmsub"}) || what == "dpbf16";
    result.division = one_of(what, {"div", "sqrt"});
    bool other = one_of(what, {"add",    "sub",    "mul",      "min",   "max",    "addsub",  "hadd",    "hsub",
                               "dp",     "rcp",    "rcp14",    "rcp28", "rsqrt",  "rsqrt14", "rsqrt28", "range",
                               "reduce", "scalef", "rndscale", "round", "getexp", "getmant", "exp2",    "fmulc"});
    if (!result.fused && !result.division && !other) return std::nullopt;
    if (kind[0] == 'p') result.vector_bytes = x86_vector_bytes(operands);
    result.value_bytes = kind[1] == 'd' ? 8 : kind[1] == 'h' || what == "dpbf16" ? 2 : 4;
    return result;
}

// An operand in memory comes first when it is written, but also in what only looks at it, or changes it.
void add_x86_memory(std::string_view name, std::string_view operands, bool keeps_frame, InstructionMix& mix) {
    size_t memory = operands.find('[');
    if (memory == std::string_view::npos || name == "lea" || name == "nop" || name.starts_with("prefetch")) return;
    bool first = memory < operands.find(',');
    bool another = has(operands.substr(memory + 1), "[");  // movs
    bool reads = one_of(
        name, {"cmp", "test", "bt", "push", "call", "jmp", "mul", "imul", "div", "idiv", "fld", "fild", "ldmxcsr"});
    bool changes =
        one_of(name, {"add", "adc", "sub", "sbb", "and",  "or",   "xor",  "inc",  "dec",     "neg", "not", "shl",
                      "shr", "sar", "rol", "ror", "shld", "shrd", "xchg", "xadd", "cmpxchg", "bts", "btr", "btc"});
    mix.loads += !first || reads || changes || another;
    mix.stores += first && !reads;
    mix.gathers += has(name, "gather") || has(name, "scatter");
    mix.stack += has(operands, "[rsp") || (keeps_frame && has(operands, "[rbp"));
}

void add_x86(const Instruction& instruction, bool keeps_frame, InstructionMix& mix) {
    std::string_view full = instruction.mnemonic, operands = instruction.operands;
    full = full.substr(full.rfind(' ') + 1);  // without prefixes: "lock", "rep"
    std::string_view name = full.starts_with('v') ? full.substr(1) : full;
    add_x86_memory(full, operands, keeps_frame, mix);
    mix.shuffles += x86_shuffles(name, has(operands, "["));
    mix.conversions += x86_converts(name);
    if (std::optional<Arithmetic> arithmetic = x86_arithmetic(name, operands)) add_arithmetic(*arithmetic, mix);
}

// rbp is a register like the others otherwise.
bool x86_keeps_frame(const Function& function) {
    return std::any_of(function.instructions.begin(), function.instructions.end(),
                       [](const Instruction& one) { return one.mnemonic == "mov" && one.operands == "rbp, rsp"; });
}

// ---- AArch64 ----

bool aarch64_shuffles(std::string_view name, std::string_view operands) {
    bool within = name == "mov" && has(operands, "[");  // mov v0.s[1], v1.s[0]; mov w0, v1.s[0]
    return within ||
           one_of(name, {"zip1", "zip2", "uzp1", "uzp2", "trn1", "trn2", "ext", "tbl", "tbx", "dup", "ins", "umov",
                         "smov"}) ||
           (name.starts_with("rev") && operands.starts_with('v'));
}

bool aarch64_converts(std::string_view name) {
    return starts_with_any(name, {"scvtf", "ucvtf", "fcvt", "bfcvt", "sshll", "ushll", "sxtl", "uxtl", "xtn"});
}

// Of the first operand: "v0.4s" is 4 values of 4 bytes, "s0" one. SVE's "z0.s" counts as 16 bytes, its least.
std::optional<Arithmetic> aarch64_arithmetic(std::string_view name, std::string_view operands) {
    Arithmetic result;
    result.fused = one_of(name, {"fmla", "fmls", "fmadd", "fmsub", "fnmadd", "fnmsub", "fmlal", "fmlal2", "fmlsl",
                                 "fmlsl2", "fcmla", "fmad", "fmsb", "fnmad", "fnmla", "fnmls", "fnmsb", "bfdot"});
    result.division = one_of(name, {"fdiv", "fdivr", "fsqrt"});
    bool other =
        one_of(name, {"fadd",  "faddp", "faddv",   "fadda",   "fsub",   "fsubr",  "fmul",    "fnmul",   "fmulx",
                      "fabd",  "fmax",  "fmin",    "fmaxnm",  "fminnm", "fmaxp",  "fminp",   "fmaxnmp", "fminnmp",
                      "fmaxv", "fminv", "fmaxnmv", "fminnmv", "frecpe", "frecps", "frsqrte", "frsqrts", "fcadd"}) ||
        name.starts_with("frint");
    if (!result.fused && !result.division && !other) return std::nullopt;
    std::string_view target = operands.substr(0, operands.find(','));
    size_t dot = target.find('.');
    if (dot == std::string_view::npos || dot + 1 == target.size()) return result;
    char letter = target.back();
    result.value_bytes = letter == 'd' ? 8 : letter == 'h' ? 2 : 4;
    int count = target[dot + 1] >= '1' && target[dot + 1] <= '8' ? target[dot + 1] - '0' : 16 / result.value_bytes;
    result.vector_bytes = count * result.value_bytes;
    if (name == "bfdot") result.value_bytes = 2;
    return result;
}

void add_aarch64(const Instruction& instruction, InstructionMix& mix) {
    std::string_view name = instruction.mnemonic, operands = instruction.operands;
    bool load = name.starts_with("ld"), store = name.starts_with("st");
    mix.loads += load;
    mix.stores += store;
    if (load || store) {
        std::string_view memory = operands.substr(std::min(operands.rfind('['), operands.size()));
        mix.gathers += has(memory, "[z") || has(memory, ", z");  // SVE
        mix.stack += has(operands, "[sp");
    }
    mix.shuffles += aarch64_shuffles(name, operands);
    mix.conversions += aarch64_converts(name);
    if (std::optional<Arithmetic> arithmetic = aarch64_arithmetic(name, operands)) add_arithmetic(*arithmetic, mix);
}

}  // namespace

InstructionMix mix_of(const Assembly& assembly, const Loop& loop) {
    const Function& function = assembly.functions[loop.function];
    const bool x86 = assembly.architecture == "x86_64", keeps_frame = x86 && x86_keeps_frame(function);
    InstructionMix mix;
    for (size_t i = loop.first; i <= loop.last; ++i) {
        const Instruction& instruction = function.instructions[i];
        Flow flow = flow_of(instruction);
        ++mix.total;
        mix.calls += flow == Flow::call;
        mix.branches += (flow == Flow::branch || flow == Flow::jump) && i != loop.last;
        if (x86) add_x86(instruction, keeps_frame, mix);
        else add_aarch64(instruction, mix);
    }
    return mix;
}

}  // namespace strop
