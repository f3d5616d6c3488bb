#include "playbook/pointwise.h"

#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "graph/decisions.h"
#include "graph/operations.h"

namespace strop::playbook {

namespace {

// C++ precedence, as far as it matters here: higher binds tighter.
enum Strength { comparing = 1, adding = 2, multiplying = 3, prefixing = 4, atomic = 5 };

struct Term {
    std::string text;
    Strength strength = atomic;
    bool uniform = false;  // a float (or bool) that is the same in every lane
    bool truth = false;    // of comparisons: vmask, or bool when uniform
};

constexpr size_t longest_inline = 60;

std::string literal(double value, DType dtype) {
    if (std::isnan(value)) return "__builtin_nanf(\"\")";
    if (std::isinf(value)) return value > 0 ? "__builtin_inff()" : "-__builtin_inff()";
    std::string text =
        dtype == DType::float64 ? fmt::format("{}", value) : fmt::format("{}", static_cast<float>(value));
    if (text.find_first_of(".e") == std::string::npos) text += ".0";
    return text + "f";
}

const std::map<std::string, std::string>& helper_calls() {
    static const std::map<std::string, std::string> calls = {
        {"exp", "vexp"},        {"exp_nonpositive", "vexp_nonpositive"},
        {"exp2", "vexp2"},      {"expm1", "vexpm1"},
        {"log", "vlog"},        {"log1p", "vlog1p"},
        {"tanh", "vtanh"},      {"erf", "verf"},
        {"atan", "vatan"},      {"sin", "vsin"},
        {"cos", "vcos"},        {"round", "vround"},
        {"sqrt", "vsqrt"},      {"sign", "vsign"},
        {"floor", "vfloor"},    {"absolute", "vabs"},
        {"sigmoid", "vsigmoid"}};
    return calls;
}

const std::map<std::string, std::string>& comparison_signs() {
    static const std::map<std::string, std::string> signs = {{"less", "<"},    {"less_equal", "<="},
                                                             {"greater", ">"}, {"greater_equal", ">="},
                                                             {"equal", "=="},  {"not_equal", "!="}};
    return signs;
}

class Writer {
public:
    Writer(const Graph& graph, const std::map<int, std::string>& known, std::string prefix, bool scalar,
           const std::set<int>& uniform)
        : graph_(graph),
          known_(known),
          prefix_(std::move(prefix)),
          scalar_(scalar),
          uniform_(uniform) {}

    PointwiseCode write(int id) {
        count_uses(id);
        Term term = value(id);
        bool truth = graph_.at(id).dtype == DType::boolean;
        code_.result = truth ? mask_text(as_truth(term)) : vector_text(as_number(term));
        return std::move(code_);
    }

private:
    void count_uses(int id) {
        if (uses_[id]++ > 0 || known_.contains(id)) return;
        const Node& node = graph_.at(id);
        for (int operand : node.operands) {
            count_uses(operand);
            if (node.op == "square") ++uses_[operand];  // its text appears twice
        }
    }

    Term lacking(const std::string& what) {
        if (code_.lacks.empty()) code_.lacks = what;
        return {"0.0f", atomic, true, false};
    }

    Term value(int id) {
        if (done_.contains(id)) return done_.at(id);
        const Node& node = graph_.at(id);
        if (known_.contains(id)) {
            const std::string& text = known_.at(id);
            bool uniform = scalar_ || uniform_.contains(id);
            return done_[id] = {text, strength_of(text), uniform, node.dtype == DType::boolean};
        }
        Term term = fresh(node);
        bool leaf = node.family != Family::pointwise;
        if (!leaf && (uses_[id] > 1 || term.text.size() > longest_inline)) term = name(term, node.op);
        return done_[id] = term;
    }

    Term fresh(const Node& node) {
        switch (node.family) {
            case Family::constant: return constant(node);
            case Family::parameter:
                if (node.dtype == DType::float32) return {node.op, atomic, true, false};
                if (node.dtype == DType::boolean) return {node.op, atomic, true, true};
                return {fmt::format("(float){}", node.op), prefixing, true, false};
            case Family::pointwise: return pointwise(node);
            default: return lacking(name_of(node.family) + " '" + node.op + "' inside a pointwise expression");
        }
    }

    Term constant(const Node& node) {
        if (!node.dim) {
            if (node.dtype == DType::boolean) return {node.value != 0 ? "true" : "false", atomic, true, true};
            std::string text = literal(node.value, node.dtype);
            return {text, text[0] == '-' ? prefixing : atomic, true, false};
        }
        std::string text = node.dim->cpp();
        if (text.find("std::") != std::string::npos) return lacking("a constant with min or max");
        return {fmt::format("(float)({})", text), prefixing, true, false};
    }

    // A statement for the value, so that its text is written once.
    Term name(const Term& term, const std::string& op) {
        std::string base = prefix_ + word_for(op), fresh_name = base;
        for (int i = 2; !unused(fresh_name); ++i) fresh_name = base + "_" + std::to_string(i);
        names_.insert(fresh_name);
        bool one = scalar_ || term.uniform;
        const char* type = term.truth ? (one ? "bool" : "vmask") : (one ? "float" : "vec");
        code_.statements.push_back(fmt::format("{} {} = {};", type, fresh_name, term.text));
        return {fresh_name, atomic, term.uniform, term.truth};
    }

    bool unused(const std::string& candidate) const {
        if (names_.contains(candidate)) return false;
        for (const Node& node : graph_.nodes)
            if ((node.family == Family::input || node.family == Family::parameter) && node.op == candidate)
                return false;
        for (const std::pair<const int, std::string>& entry : known_)
            if (entry.second == candidate) return false;
        return true;
    }

    static Strength strength_of(const std::string& text) {
        int depth = 0;
        for (char c : text) {
            depth += (c == '(' || c == '[') - (c == ')' || c == ']');
            if (depth == 0 && c == ' ') return comparing;  // an operator: needs parentheses
        }
        return !text.empty() && text[0] == '-' ? prefixing : atomic;
    }

    static std::string within(const Term& term, Strength needed) {
        return term.strength < needed ? "(" + term.text + ")" : term.text;
    }

    std::string vector_text(const Term& term) {
        if (scalar_ || !term.uniform) return term.text;
        code_.helpers.insert("splat");
        return "splat(" + term.text + ")";
    }

    std::string mask_text(const Term& term) {
        if (scalar_ || !term.uniform) return term.text;
        code_.helpers.insert("splat_mask");
        return "splat_mask(" + term.text + ")";
    }

    Term as_number(const Term& term) {
        if (!term.truth) return term;
        if (scalar_ || term.uniform)
            return {fmt::format("(float){}", within(term, prefixing)), prefixing, term.uniform, false};
        code_.helpers.insert({"select", "splat"});
        return {fmt::format("select({}, splat(1.0f), splat(0.0f))", term.text), atomic, false, false};
    }

    Term compared(const std::string& sign, const Term& a, const Term& b) {
        bool uniform = a.uniform && b.uniform;
        std::string text = within(a, adding) + " " + sign + " " + within(b, adding);
        return {text, comparing, uniform, true};
    }

    Term as_truth(const Term& term) { return term.truth ? term : compared("!=", term, {"0.0f", atomic, true, false}); }

    Term infix(const std::string& sign, Strength strength, const Term& a, const Term& b) {
        Strength right = static_cast<Strength>(strength + 1);  // a + (b - c) keeps its order of rounding
        std::string text = within(a, strength) + " " + sign + " " + within(b, right);
        return {text, strength, a.uniform && b.uniform, false};
    }

    // A helper needs one type for all its arguments: floats only when all of them are.
    Term call(const std::string& helper, const std::vector<Term>& arguments) {
        bool uniform = true;
        for (const Term& argument : arguments) uniform = uniform && argument.uniform;
        code_.helpers.insert(helper);
        std::string text;
        for (const Term& argument : arguments) {
            std::string one = uniform ? argument.text : argument.truth ? mask_text(argument) : vector_text(argument);
            text += (text.empty() ? "" : ", ") + one;
        }
        return {helper + "(" + text + ")", atomic, uniform, false};
    }

    Term pointwise(const Node& node) {
        std::vector<Term> terms;
        for (int operand : node.operands) terms.push_back(value(operand));
        if (terms.size() == 1) return unary(node, terms[0]);
        if (terms.size() == 2) return binary(node, terms[0], terms[1]);
        if (terms.size() == 3 && node.op == "where")
            return call("select", {as_truth(terms[0]), as_number(terms[1]), as_number(terms[2])});
        return lacking("pointwise '" + node.op + "'");
    }

    Term unary(const Node& node, const Term& operand) {
        const std::string& op = node.op;
        if (op == "cast") {
            if (node.dtype == DType::boolean) return as_truth(operand);
            return is_floating(node.dtype) ? as_number(operand) : lacking("cast to " + name_of(node.dtype));
        }
        if (op == "logical_not") {
            Term truth = as_truth(operand);
            const char* sign = scalar_ || truth.uniform ? "!" : "~";
            return {sign + within(truth, prefixing), prefixing, truth.uniform, true};
        }
        if (op == "isnan") {
            Term a = operand.strength == atomic ? operand : name(operand, "cast");
            return compared("!=", a, a);
        }
        Term a = as_number(operand);
        const Term one = {"1.0f", atomic, true, false};
        if (op == "negative") return {"-" + within(a, atomic), prefixing, a.uniform, false};
        if (op == "reciprocal") return infix("/", multiplying, one, a);
        if (op == "rsqrt") return infix("/", multiplying, one, call("vsqrt", {a}));
        if (op == "square") {
            Term named = a.strength == atomic ? a : name(a, "square_root_of");
            return infix("*", multiplying, named, named);
        }
        const Term log2_e = {literal(1.4426950408889634, DType::float64), atomic, true, false};
        if (op == "log2") return infix("*", multiplying, call("vlog", {a}), log2_e);
        if (op == "ceil") {
            Term negated = {"-" + within(a, atomic), prefixing, a.uniform, false};
            return {"-" + call("vfloor", {negated}).text, prefixing, a.uniform, false};
        }
        std::map<std::string, std::string>::const_iterator helper = helper_calls().find(op);
        return helper == helper_calls().end() ? lacking("pointwise '" + op + "'") : call(helper->second, {a});
    }

    Term binary(const Node& node, const Term& left, const Term& right) {
        const std::string& op = node.op;
        if (op == "logical_and" || op == "logical_or") {
            Term a = as_truth(left), b = as_truth(right);
            std::string sign = op == "logical_and" ? "&" : "|";
            std::string text = fmt::format("({}) {} ({})", pair_text(a, b), sign, pair_text(b, a));
            return {text, comparing, a.uniform && b.uniform, true};
        }
        Term a = as_number(left), b = as_number(right);
        std::map<std::string, std::string>::const_iterator sign = comparison_signs().find(op);
        if (sign != comparison_signs().end()) return compared(sign->second, a, b);
        if (op == "add" && b.text[0] == '-' && b.strength == prefixing)
            return infix("-", adding, a, {b.text.substr(1), atomic, b.uniform, false});
        if (op == "add") return infix("+", adding, a, b);
        if (op == "subtract") return infix("-", adding, a, b);
        if (op == "multiply") return infix("*", multiplying, a, b);
        if (op == "rounded_product") return call("rounded_product", {a, b});
        if (op == "divide") return infix("/", multiplying, a, b);
        if (op == "maximum") return call("vmax", {a, b});
        if (op == "minimum") return call("vmin", {a, b});
        if (op == "power") return power(node, a, b);
        // Of others the quotient may be rounded up to a whole number: plain loops take exact remainders.
        const bool rest = op == "floor_divide" || op == "remainder";
        if (rest && !divides_exactly(graph_.at(node.operands[1]))) return lacking("pointwise '" + op + "'");
        if (op == "floor_divide") return call("vfloor", {infix("/", multiplying, a, b)});
        if (op == "remainder") {
            Term named_a = a.strength == atomic ? a : name(a, "cast");
            Term named_b = b.strength == atomic ? b : name(b, "cast");
            Term whole = call("vfloor", {infix("/", multiplying, named_a, named_b)});
            return infix("-", adding, named_a, infix("*", multiplying, named_b, whole));
        }
        return lacking("pointwise '" + op + "'");
    }

    static bool divides_exactly(const Node& node) {
        return node.family == Family::constant && !node.dim && is_power_of_two(node.value);
    }

    // Both sides of & and | need one type.
    std::string pair_text(const Term& term, const Term& other) {
        return term.uniform && !other.uniform ? mask_text(term) : term.text;
    }

    Term power(const Node& node, const Term& a, const Term& b) {
        const Node& exponent = graph_.at(node.operands[1]);
        if (exponent.family == Family::constant && !exponent.dim) {
            if (exponent.value == 1) return a;
            if (exponent.value == 0.5) return call("vsqrt", {a});
            if (exponent.value == 2 || exponent.value == 3) {
                Term base = a.strength == atomic ? a : name(a, "cast");
                Term squared = infix("*", multiplying, base, base);
                return exponent.value == 2 ? squared : infix("*", multiplying, squared, base);
            }
        }
        return call("vpow", {a, b});
    }

    const Graph& graph_;
    const std::map<int, std::string>& known_;
    const std::string prefix_;
    const bool scalar_;
    const std::set<int>& uniform_;
    std::map<int, int> uses_;
    std::map<int, Term> done_;
    std::set<std::string> names_;
    PointwiseCode code_;
};

}  // namespace

PointwiseCode emit_pointwise(const Graph& graph, int id, const std::map<int, std::string>& known,
                             const std::string& prefix, bool scalar, const std::set<int>& uniform) {
    return Writer(graph, known, prefix, scalar, uniform).write(id);
}

}  // namespace strop::playbook
