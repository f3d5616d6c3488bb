#include "playbook/doubles.h"

#include <algorithm>
#include <cctype>
#include <map>
#include <set>
#include <string>

#include "base/strings.h"
#include "playbook/vector_code.h"

namespace strop::playbook {

namespace {

// What vector_prelude() says in another way for float64.
const std::map<std::string, std::string>& double_helpers() {
    static const std::map<std::string, std::string> texts = {
        {"vabs", R"(
static inline vec vabs(vec v) { return (vec)((vmask)v & 0x7fffffffffffffff); }
static inline double vabs(double s) { return __builtin_fabs(s); }
)"},
        {"twice_exp", R"(
// 2 exp(r) for |r| <= ln(2) / 2, by Taylor's polynomial.
static inline vec twice_exp(vec r) {
    vec p = fma(r, splat(3.2118087673643227e-10), splat(4.17535139757362e-09));
    p = fma(p, r, splat(5.010421677088344e-08));
    p = fma(p, r, splat(5.511463844797178e-07));
    p = fma(p, r, splat(5.5114638447971785e-06));
    p = fma(p, r, splat(4.96031746031746e-05));
    p = fma(p, r, splat(0.0003968253968253968));
    p = fma(p, r, splat(0.002777777777777778));
    p = fma(p, r, splat(0.016666666666666666));
    p = fma(p, r, splat(0.08333333333333333));
    p = fma(p, r, splat(0.3333333333333333));
    p = fma(p, r, splat(1.0));
    p = fma(p, r, splat(2.0));
    return fma(p, r, splat(2.0));
}
)"},
        {"vexp", R"(
// exp within 1.5 ulp; results below 2.3e-308 are 0. x = n ln 2 + r, exp(r) times 2^n; adding 1.5 * 2^52 rounds to a
// whole number and leaves n + 1022 in the low bits, ready to become an exponent. With twice exp(r), n = -1022 gives a
// scale of 0 and n = 1024 overflows only where it should.
static inline vec vexp(vec x) {
    x = select(splat(710.0) < x, splat(710.0), x);
    x = select(splat(-708.4) > x, splat(-708.4), x);
    vec shifted = fma(x, splat(1.4426950408889634), splat(6755399441056766.0));
    vec n = shifted - 6755399441056766.0;
    vec r = fma(n, splat(-6.93147180369123816e-1), x);
    r = fma(n, splat(-1.90821492927058770e-10), r);
    return twice_exp(r) * (vec)((vmask)shifted << 52);
}
static inline double vexp(double s) { return vexp(splat(s))[0]; }
)"},
        {"vexp_nonpositive", R"(
// exp of what is not positive, as vexp without its upper bound.
static inline vec vexp_nonpositive(vec x) {
    x = select(splat(-708.4) > x, splat(-708.4), x);
    vec shifted = fma(x, splat(1.4426950408889634), splat(6755399441056766.0));
    vec n = shifted - 6755399441056766.0;
    vec r = fma(n, splat(-6.93147180369123816e-1), x);
    r = fma(n, splat(-1.90821492927058770e-10), r);
    return twice_exp(r) * (vec)((vmask)shifted << 52);
}
static inline double vexp_nonpositive(double s) { return vexp_nonpositive(splat(s))[0]; }
)"}};
    return texts;
}

// Polynomials and bits that are those of float32, of vectors and (plain_helpers) of single numbers.
constexpr const char* single_only[] = {"vexp2", "vexpm1", "vlog", "vlog1p", "vtanh", "verf", "vatan", "vsincos", "vpow"};
constexpr const char* single_only_functions[] = {"exp_of(float", "expm1_of(float", "log_of(float", "erf_of(float", "sincos_of(float"};

std::string wider_word(const std::string& word) {
    static const std::map<std::string, std::string> words = {
        {"float", "double"},
        {"int32_t", "int64_t"},
        {"__builtin_inff", "__builtin_inf"},
        {"__builtin_nanf", "__builtin_nan"},
        {"__builtin_fabsf", "__builtin_fabs"},
        {"__builtin_sqrtf", "__builtin_sqrt"},
        {"__builtin_floorf", "__builtin_floor"},
        {"__builtin_nearbyintf", "__builtin_nearbyint"}};
    const auto found = words.find(word);
    return found == words.end() ? word : found->second;
}

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; }

// "1.5e-3f" ends with what makes it a float.
std::string wider_number(const std::string& number) {
    const bool is_hexadecimal = number.starts_with("0x");
    return !is_hexadecimal && number.ends_with('f') ? number.substr(0, number.size() - 1) : number;
}

std::string with_wider_words(const std::string& text) {
    std::string result;
    for (size_t i = 0, end = 0; i < text.size(); i = end) {
        end = i + 1;
        if (!is_word(text[i])) {
            result += text[i];
            continue;
        }
        const bool is_number = std::isdigit(static_cast<unsigned char>(text[i]));
        const auto goes_on = [&](size_t at) {
            const bool is_sign_of_exponent = (text[at] == '-' || text[at] == '+') && text[at - 1] == 'e';
            return is_word(text[at]) || (is_number && (text[at] == '.' || is_sign_of_exponent));
        };
        while (end < text.size() && goes_on(end)) ++end;
        const std::string word = text.substr(i, end - i);
        result += is_number ? wider_number(word) : wider_word(word);
    }
    return result;
}

std::string widened(std::string source) {
    for (const char* name : single_only)
        if (source.find(vector_helper(name)) != std::string::npos) return {};
    for (const char* name : single_only_functions)
        if (source.find(name) != std::string::npos) return {};
    source = replace_all(source, "vector_size(4 * VL)", "vector_size(8 * VL)");
    source = replace_all(source, "aligned(4)", "aligned(8)");
    for (const auto& [name, text] : double_helpers()) source = replace_all(source, vector_helper(name), text);
    return with_wider_words(source);
}

}  // namespace

std::optional<StageProblem> in_single(const Problem& problem, const Graph& graph) {
    StageProblem stage{problem, graph};
    bool any = false, other = false;
    const auto narrow = [&](DType& dtype) {
        any = any || dtype == DType::float64;
        other = other || (is_floating(dtype) && dtype != DType::float64);
        if (dtype == DType::float64) dtype = DType::float32;
    };
    for (std::vector<Tensor>* tensors : {&stage.problem.inputs, &stage.problem.outputs})
        for (Tensor& tensor : *tensors) narrow(tensor.dtype);
    for (Parameter& parameter : stage.problem.parameters) narrow(parameter.dtype);
    for (Node& node : stage.graph.nodes)
        if (node.family != Family::constant) narrow(node.dtype);
    if (!any || other) return std::nullopt;
    return stage;
}

Machine in_doubles(const Machine& machine) {
    Machine result = machine;
    result.vector_bytes = std::max(16, machine.vector_bytes / 2);
    for (CacheLevel& cache : result.caches) cache.bytes /= 2;
    return result;
}

void widen(Recipe& recipe) {
    recipe.source = widened(recipe.source);
    for (Recipe& variant : recipe.variants) widen(variant);
}

}  // namespace strop::playbook
