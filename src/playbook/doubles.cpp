#include "playbook/doubles.h"

#include <algorithm>
#include <cctype>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "base/strings.h"
#include "playbook/double_helpers.h"
#include "playbook/vector_code.h"

namespace strop::playbook {

namespace {

// Functions of float32 among plain_helpers, and what takes their place; some have one of float64 beside them.
constexpr std::pair<const char*, const char*> single_only[] = {{"exp_of", ""},
                                                               {"expm1_of", ""},
                                                               {"log_of", ""},
                                                               {"tanh_of", ""},
                                                               {"sincos_of", ""},
                                                               {"erf_of", "std::erf(x)"},
                                                               {"sin_of", "std::sin(x)"},
                                                               {"cos_of", "std::cos(x)"}};

std::string with_functions_of_doubles(std::string source) {
    for (const auto& [name, call] : single_only) {
        const size_t at = source.find(fmt::format("static inline float {}(float x", name));
        if (at == std::string::npos) continue;
        size_t begin = at;  // with its comment
        for (size_t line = begin; line > 1; begin = line) {
            line = source.rfind('\n', line - 2) + 1;
            if (source.compare(line, 2, "//") != 0) break;
        }
        const size_t line_end = source.find('\n', at);
        const bool one_line = source[line_end - 1] == '}';
        const size_t end = one_line ? line_end + 1 : source.find("\n}\n", at) + 3;
        const std::string text =
            *call ? fmt::format("static inline double {}(double x) {{ return {}; }}\n", name, call) : "";
        source.replace(begin, end - begin, text);
    }
    return source;
}

std::string wider_word(const std::string& word) {
    static const std::map<std::string, std::string> words = {{"float", "double"},
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

// Every number but constants. Asked for each stage that is thought of, so nothing is copied for it.
bool is_of_doubles(const Problem& problem, const Graph& graph) {
    bool any = false;
    const auto may_be = [&](DType dtype) {
        any = any || dtype == DType::float64;
        return !is_floating(dtype) || dtype == DType::float64;
    };
    const auto has_others = [&](const auto& numbers) {
        return std::any_of(numbers.begin(), numbers.end(), [&](const auto& one) { return !may_be(one.dtype); });
    };
    if (has_others(problem.inputs) || has_others(problem.outputs) || has_others(problem.parameters)) return false;
    const std::function<bool(const Graph&)> fits = [&](const Graph& part) {
        return std::all_of(part.nodes.begin(), part.nodes.end(), [&](const Node& node) {
            return (node.family == Family::constant || may_be(node.dtype)) && (!node.loop || fits(node.loop->body));
        });
    };
    return fits(graph) && any;
}

DType narrow(DType dtype) { return dtype == DType::float64 ? DType::float32 : dtype; }

void narrow(Graph& graph) {
    for (Node& node : graph.nodes)
        if (node.family != Family::constant) node.dtype = narrow(node.dtype);
    change_loops(graph, [](Repeat loop) {
        narrow(loop.body);
        return loop;
    });
}

}  // namespace

std::string widened(std::string source) {
    if (source.find(vector_helper("vpow")) != std::string::npos) return {};
    source = with_functions_of_doubles(std::move(source));
    source = replace_all(source, "vector_size(4 * VL)", "vector_size(8 * VL)");
    source = replace_all(source, "aligned(4)", "aligned(8)");
    for (const auto& [name, text] : double_helpers()) source = replace_all(source, vector_helper(name), text);
    return with_wider_words(source);
}

std::optional<StageProblem> in_single(const Problem& problem, const Graph& graph) {
    if (!is_of_doubles(problem, graph)) return std::nullopt;
    StageProblem stage{problem, graph};
    for (std::vector<Tensor>* tensors : {&stage.problem.inputs, &stage.problem.outputs})
        for (Tensor& tensor : *tensors) tensor.dtype = narrow(tensor.dtype);
    for (Parameter& parameter : stage.problem.parameters) parameter.dtype = narrow(parameter.dtype);
    narrow(stage.graph);
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
