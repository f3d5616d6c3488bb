#include "language/reference_kernel.h"

#include <algorithm>
#include <cctype>
#include <map>

#include <fmt/format.h>

#include "base/strings.h"
#include "language/contract.h"
#include "language/cpp_source.h"

namespace strop {

namespace {

constexpr const char* real = "STROP_REAL";

// Functions of <math.h> that end in f for float32, without it.
const char* functions_of_float =
    " acos acosh asin asinh atan atan2 atanh cbrt ceil copysign cos cosh erf erfc exp exp2 expm1 fabs fdim floor fma"
    " fmax fmin fmod frexp hypot ilogb ldexp lgamma llrint llround log log10 log1p log2 logb lrint lround modf"
    " nearbyint nextafter pow remainder remquo rint round scalbln scalbn sin sinh sqrt tan tanh tgamma trunc ";

// What a name of float32 is called in float64; empty: it stays.
std::string wide_name(const std::string& name) {
    static const std::map<std::string, std::string> names = {{"float", "double"},
                                                             {"float_t", "double_t"},
                                                             {"strtof", "strtod"},
                                                             {"stof", "stod"},
                                                             {"HUGE_VALF", "HUGE_VAL"}};
    if (auto found = names.find(name); found != names.end()) return found->second;
    if (name.starts_with("FLT_") && name != "FLT_RADIX" && name != "FLT_EVAL_METHOD" && name != "FLT_ROUNDS")
        return "DBL_" + name.substr(4);
    if (!name.ends_with('f')) return {};
    const std::string stem = name.substr(0, name.size() - 1);
    return std::string_view(functions_of_float).find(" " + stem + " ") == std::string_view::npos ? "" : stem;
}

// A literal of float32 without its f: "0.5f", "1e-3F", "0x1p-3f".
std::string wide_literal(const std::string& literal) {
    if (!literal.ends_with('f') && !literal.ends_with('F')) return {};
    const bool hexadecimal = literal.starts_with("0x") || literal.starts_with("0X");
    const bool is_real = literal.find_first_of(hexadecimal ? ".pP" : ".eE") != std::string::npos;
    return is_real ? literal.substr(0, literal.size() - 1) : "";
}

// Where a number of C++ ends that begins there: its exponent may have a sign.
size_t end_of_number(const std::string& code, size_t at) {
    size_t end = at;
    while (end < code.size()) {
        const char c = code[end];
        const bool sign =
            (c == '+' || c == '-') && end > at && std::string("eEpP").find(code[end - 1]) != std::string::npos;
        if (!is_word(c) && c != '.' && c != '\'' && !sign) break;
        if (sign && code.compare(at, 2, "0x") == 0 && std::tolower(code[end - 1]) == 'e') break;
        ++end;
    }
    return end;
}

bool is_digit(char c) { return std::isdigit(static_cast<unsigned char>(c)); }

std::string widened(const std::string& source) {
    const std::string code = code_only(source);
    std::string text;
    for (size_t at = 0; at < code.size();) {
        const bool number = is_digit(code[at]) || (code[at] == '.' && at + 1 < code.size() && is_digit(code[at + 1]));
        size_t end = at + 1;
        std::string wide;
        if (number) {
            end = end_of_number(code, at);
            wide = wide_literal(code.substr(at, end - at));
        } else if (is_word(code[at])) {
            while (end < code.size() && is_word(code[end])) ++end;
            wide = wide_name(code.substr(at, end - at));
        }
        text += wide.empty() ? source.substr(at, end - at) : wide;
        at = end;
    }
    return text;
}

std::string with_linkage(const Problem& problem, const std::string& source, const std::string& defined) {
    std::string head = "#include <stdint.h>\n", tail;
    if (code_only(source).find("restrict") != std::string::npos && problem.reference.extension() == ".c")
        head += "#define restrict __restrict__\n";
    if (mentions(code_only(source), real)) head += fmt::format("#define {} {}\n", real, defined);
    head += fmt::format("extern \"C\" void {}({});\n", problem.function, parameter_list(problem));
    if (problem.function != problem.name)
        tail = fmt::format("\n{} {{ {}({}); }}\n", signature(problem), problem.function, argument_list(problem));
    return head + source + tail;
}

bool is_float32(const Tensor& tensor) { return tensor.dtype == DType::float32; }

}  // namespace

std::string reference_as_kernel(const Problem& problem, const std::string& source) {
    return with_linkage(problem, source, "float");
}

bool has_float64_form(const Problem& problem) {
    return std::any_of(problem.inputs.begin(), problem.inputs.end(), is_float32) ||
           std::any_of(problem.outputs.begin(), problem.outputs.end(), is_float32);
}

Problem problem_in_float64(Problem problem) {
    for (std::vector<Tensor>* tensors : {&problem.inputs, &problem.outputs})
        for (Tensor& tensor : *tensors)
            if (is_float32(tensor)) tensor.dtype = DType::float64;
    for (Parameter& parameter : problem.parameters)
        if (parameter.dtype == DType::float32) parameter.dtype = DType::float64;
    return problem;
}

std::string reference_in_float64(const Problem& problem, const std::string& source) {
    const bool generic = mentions(code_only(source), real);
    return with_linkage(problem_in_float64(problem), generic ? source : widened(source), "double");
}

std::string reference_watch() {
    return R"watch(// How a reference ends, in words.
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <initializer_list>
#include <unistd.h>

extern "C" void strop_call(void* const*, const double*, const int64_t*);

namespace {

struct Watched {
    const char* name;
    int64_t is_input, begin, end;  // addresses of the tensor
    int64_t mapped, unmapped;      // of its pages and the forbidden ones around them
};

const Watched* watched = nullptr;
int64_t count = 0;
constexpr int said_why = 71;

void say(const char* text, const char* name = nullptr) {
    char line[300];
    int length = name ? std::snprintf(line, sizeof line, "%s '%s'\n", text, name)
                      : std::snprintf(line, sizeof line, "%s\n", text);
    if (length > 0 && ::write(2, line, static_cast<size_t>(length)) < 0) std::_Exit(said_why);
    std::_Exit(said_why);
}

void on_signal(int signal, siginfo_t* info, void*) {
    const int64_t at = reinterpret_cast<int64_t>(info->si_addr);
    for (int64_t i = 0; signal != SIGABRT && signal != SIGFPE && signal != SIGILL && i < count; ++i) {
        const Watched& tensor = watched[i];
        if (at < tensor.mapped || at >= tensor.unmapped) continue;
        if (at >= tensor.end) say("reads or writes behind the end of", tensor.name);
        if (at < tensor.begin && !tensor.is_input) say("reads or writes before the begin of", tensor.name);
        if (at < tensor.begin) say("reads or writes before the begin of its input", tensor.name);
        say("writes to its input", tensor.name);
    }
    switch (signal) {
        case SIGABRT: say("called abort()");
    case SIGFPE: say("divides by zero (SIGFPE)");
    case SIGILL: say("was killed by SIGILL");
    default: say("crashed: an access outside of its tensors, or a stack that is too small (SIGSEGV)");
}
}

}  // namespace

extern "C" void strop_watch(const Watched* tensors, int64_t how_many) {
    static char stack[1 << 16];
    stack_t other = {};
    other.ss_sp = stack;
    other.ss_size = sizeof stack;
    ::sigaltstack(&other, nullptr);
    struct sigaction action = {};
    action.sa_sigaction = on_signal;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK;
    for (int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT}) ::sigaction(signal, &action, nullptr);
    watched = tensors;
    count = how_many;
}

// 0, or 1 and what was thrown in `said`.
extern "C" int strop_watched(void* const* tensors, const double* parameters, const int64_t* dimensions, char* said,
                             int64_t room) {
    try {
        strop_call(tensors, parameters, dimensions);
        return 0;
    } catch (const std::exception& error) {
        std::snprintf(said, static_cast<size_t>(room), "throws %s", error.what());
    } catch (...) {
        std::snprintf(said, static_cast<size_t>(room), "throws something");
    }
    return 1;
}
)watch";
}

}  // namespace strop
