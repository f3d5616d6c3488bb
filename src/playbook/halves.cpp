#include "playbook/halves.h"

#include <vector>

#include <fmt/format.h>

#include "base/strings.h"
#include "language/contract.h"
#include "playbook/vector_code.h"

namespace strop::playbook {

namespace {

const char* const bfloat16_type = R"(
// The upper half of a float: widened where it is read, rounded where it is written, to nearest and halves to even.
struct bfloat16 {
    uint16_t bits;
    operator float() const {
        const uint32_t wide = (uint32_t)bits << 16;
        float value;
        __builtin_memcpy(&value, &wide, sizeof value);
        return value;
    }
    bfloat16& operator=(float value) {
        uint32_t wide;
        __builtin_memcpy(&wide, &value, sizeof wide);
        const uint32_t rounded = (wide + 0x7fff + (wide >> 16 & 1)) >> 16;
        bits = (uint16_t)(value == value ? rounded : wide >> 16 | 0x40);
        return *this;
    }
};
)";

const char* const float16_type = R"(
// IEEE 754's 16 bits: widened where they are read, rounded where they are written.
struct float16 {
    uint16_t bits;
    operator float() const {
        _Float16 narrow;
        __builtin_memcpy(&narrow, &bits, sizeof narrow);
        return (float)narrow;
    }
    float16& operator=(float value) {
        const _Float16 narrow = (_Float16)value;
        __builtin_memcpy(&bits, &narrow, sizeof bits);
        return *this;
    }
};
)";

const char* const vector_types = R"(
typedef uint16_t halves __attribute__((vector_size(2 * VL)));
typedef uint16_t halves_unaligned __attribute__((vector_size(2 * VL), aligned(2), may_alias));
typedef uint32_t words __attribute__((vector_size(4 * VL)));
)";

const char* const bfloat16_vectors = R"(
static inline vec load(const bfloat16* p) {
    return (vec)(__builtin_convertvector(*(const halves_unaligned*)p, words) << 16);
}
static inline halves bits_of(const bfloat16*, vec v) {
    const words wide = (words)v, upper = wide >> 16;
    return __builtin_convertvector(v == v ? (wide + 0x7fff + (upper & 1)) >> 16 : upper | 0x40, halves);
}
)";

// g++ converts vectors of _Float16 one element at a time.
const char* const float16_vectors = R"(
#ifdef __clang__
typedef _Float16 float16s __attribute__((vector_size(2 * VL)));

static inline vec load(const float16* p) {
    return __builtin_convertvector((float16s)*(const halves_unaligned*)p, vec);
}
static inline halves bits_of(const float16*, vec v) { return (halves)__builtin_convertvector(v, float16s); }
#else
// A factor moves the exponent, subnormal numbers too; infinities and NaNs keep theirs at the end.
static inline vec load(const float16* p) {
    const words wide = __builtin_convertvector(*(const halves_unaligned*)p, words), magnitude = (wide & 0x7fff) << 13;
    const words finite = (words)((vec)magnitude * 0x1p112f);
    return (vec)((wide & 0x8000) << 16 | (magnitude < 0x0f800000 ? finite : magnitude | 0x7f800000));
}
// Of small numbers adding a half rounds the fraction.
static inline halves bits_of(const float16*, vec v) {
    const words wide = (words)v, sign = wide >> 16 & 0x8000, magnitude = wide & 0x7fffffff;
    const words small = (words)((vec)magnitude + 0.5f) - 0x3f000000;
    const words normal = (magnitude + 0xfff + (magnitude >> 13 & 1) >> 13) - (112u << 10);
    words rounded = magnitude < 0x38800000 ? small : normal;
    rounded = magnitude >= 0x477ff000 ? words{} + 0x7c00 : rounded;
    rounded = magnitude > 0x7f800000 ? words{} + 0x7e00 : rounded;
    return __builtin_convertvector(rounded | sign, halves);
}
#endif
)";

const char* const store_text = R"(
static inline void store(@type@* p, vec v) { *(halves_unaligned*)p = bits_of(p, v); }
)";

const char* const stream_text = R"(
static inline void stream(@type@* p, vec v) {
#if __has_builtin(__builtin_nontemporal_store)
    __builtin_nontemporal_store(bits_of(p, v), (halves*)p);
#else
    *(halves*)p = bits_of(p, v);
#endif
}
)";

std::vector<std::string> types_of(const Problem& problem) {
    std::set<std::string> types;
    for (const auto* tensors : {&problem.inputs, &problem.outputs})
        for (const Tensor& tensor : *tensors)
            if (is_half(tensor.dtype)) types.insert(element_type(tensor.dtype));
    return {types.begin(), types.end()};
}

// Without the comments, which stand above the first.
std::string retyped(const std::string& functions, const std::string& type) {
    std::string text;
    for (const std::string& line : split(functions, '\n'))
        if (!trim(line).starts_with("//")) text += line + "\n";
    text.pop_back();
    for (const auto& [from, to] :
         std::vector<std::pair<std::string, std::string>>{{"float*", type + "*"},
                                                          {"float lane", type + " lane"},
                                                          {"sizeof(float)", "sizeof(" + type + ")"},
                                                          {"sizeof(vec)", "sizeof(halves)"}})
        text = replace_all(text, from, to);
    return text;
}

std::string function_name(const Problem& problem) { return problem.name + "_typed"; }

}  // namespace

std::string element_type(DType dtype) { return is_half(dtype) ? name_of(dtype) : c_type(dtype); }

std::string element_type(const Problem& problem, const std::string& tensor) {
    for (const auto* tensors : {&problem.inputs, &problem.outputs})
        for (const Tensor& one : *tensors)
            if (one.name == tensor) return element_type(one.dtype);
    return "float";
}

std::string typed_parameters(const Problem& problem) {
    std::vector<std::string> parts;
    for (const Tensor& input : problem.inputs)
        parts.push_back(fmt::format("const {}* {}", element_type(input.dtype), input.name));
    for (const Tensor& output : problem.outputs)
        parts.push_back(fmt::format("{}* {}", element_type(output.dtype), output.name));
    for (const Parameter& parameter : problem.parameters)
        parts.push_back(fmt::format("{} {}", c_type(parameter.dtype), parameter.name));
    for (const std::string& dimension : problem.dimensions) parts.push_back("int64_t " + dimension);
    return join(parts, ", ");
}

std::string function_head(const Problem& problem) {
    if (!has_halves(problem)) return signature(problem);
    return fmt::format("static void {}({})", function_name(problem), typed_parameters(problem));
}

std::string typed_entry(const Problem& problem) {
    if (!has_halves(problem)) return {};
    std::vector<std::string> arguments;
    for (const Tensor& input : problem.inputs)
        arguments.push_back(is_half(input.dtype) ? fmt::format("(const {}*){}", element_type(input.dtype), input.name)
                                                 : input.name);
    for (const Tensor& output : problem.outputs)
        arguments.push_back(is_half(output.dtype) ? fmt::format("({}*){}", element_type(output.dtype), output.name)
                                                  : output.name);
    for (const Parameter& parameter : problem.parameters) arguments.push_back(parameter.name);
    arguments.insert(arguments.end(), problem.dimensions.begin(), problem.dimensions.end());
    return fmt::format("\n{} {{\n    {}({});\n}}\n", signature(problem), function_name(problem), join(arguments, ", "));
}

std::string half_types(const Problem& problem) {
    std::string text;
    for (const std::string& type : types_of(problem)) text += type == "float16" ? float16_type : bfloat16_type;
    return text;
}

std::string half_vectors(const Problem& problem, const std::set<std::string>& used) {
    if (!has_halves(problem)) return {};
    const std::set<std::string> all = vector_closure(used);
    std::string text = half_types(problem) + vector_types;
    for (const std::string& type : types_of(problem)) {
        text += type == "float16" ? float16_vectors : bfloat16_vectors;
        if (all.contains("store")) text += replace_all(store_text, "@type@", type);
        if (all.contains("stream")) text += replace_all(stream_text, "@type@", type);
        for (const char* name : {"load_tail", "load_end", "store_tail"})
            if (all.contains(name)) text += retyped(vector_helper(name), type);
    }
    return text;
}

std::string for_each_type(const Problem& problem, const std::string& functions) {
    std::string text = functions;
    for (const std::string& type : types_of(problem)) text += retyped(functions, type);
    return text;
}

const std::set<std::string>& half_words() {
    static const std::set<std::string> words = {"bfloat16", "float16", "halves", "words",
                                                "float16s", "bits_of", "Right"};
    return words;
}

}  // namespace strop::playbook
