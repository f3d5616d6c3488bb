#include "backend/tilelang_terms.h"

#include <cmath>
#include <limits>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "backend/python_module.h"
#include "base/strings.h"
#include "graph/operations.h"

namespace strop::backend {

using schedule::Law;
using schedule::Term;

namespace {

const std::map<std::string, const char*>& signs() {
    static const std::map<std::string, const char*> signs = {
        {"add", "+"},         {"subtract", "-"},    {"multiply", "*"},   {"divide", "/"},         {"less", "<"},
        {"equal", "=="},      {"less_equal", "<="}, {"greater", ">"},    {"greater_equal", ">="}, {"not_equal", "!="},
        {"bitwise_and", "&"}, {"bitwise_or", "|"},  {"bitwise_xor", "^"}};
    return signs;
}

// Functions that TileLang has none for: those of the device's C.
std::string external(const std::string& name, DType dtype, const std::string& operand) {
    return fmt::format("tl.call_extern({}, \"{}{}\", {})", tilelang_type(dtype), name,
                       dtype == DType::float32 ? "f" : "", operand);
}

}  // namespace

std::string tilelang_text(const Expression& expression) {
    std::string text = in_python(expression, "ceildiv");
    for (const char* function : {"min(", "max("}) text = replace_all(text, function, std::string("tl.") + function);
    return text;
}

std::string tilelang_type(DType dtype) {
    return "\"" + (dtype == DType::boolean ? std::string("bool") : name_of(dtype)) + "\"";
}

std::string tilelang_literal(double value, DType dtype) {
    if (is_floating(dtype) && std::isinf(value))
        return fmt::format("{}tl.infinity({})", value < 0 ? "-" : "", tilelang_type(dtype));
    const std::string type = dtype == DType::boolean ? "bool" : name_of(dtype);
    // The shortest text of the largest float32 is beyond it as a number of 64 bits.
    const bool largest = dtype == DType::float32 && std::abs(value) >= std::numeric_limits<float>::max();
    return fmt::format("tl.{}({})", type, python_literal(value, largest ? DType::float64 : dtype));
}

std::string TileLangTerms::element(const std::string& tensor, const std::vector<Expression>& at) const {
    return fmt::format("{}[{}]", tensor, tilelang_text(offset_of(at, context_.shapes.at(tensor))));
}

TileLangTerms::Text TileLangTerms::spelled(int id) {
    const Term& term = at(id);
    switch (term.kind) {
        case Term::Kind::number: {
            const std::string number = tilelang_literal(term.value, term.dtype);
            return {number[0] == '-' ? "(" + number + ")" : number, true};
        }
        case Term::Kind::index:
            return {fmt::format("tl.cast({}, {})", tilelang_text(term.at[0]), tilelang_type(term.dtype)), true};
        case Term::Kind::parameter:
            // Those that are integers are known when a kernel is made.
            return {is_floating(term.dtype) ? term.name
                                            : fmt::format("tl.cast({}, {})", term.name, tilelang_type(term.dtype)),
                    true};
        case Term::Kind::load: return {element(term.name, term.at), true};
        case Term::Kind::result: {
            const std::string* known = result(term.name);
            return known ? Text{*known, true} : missing(fmt::format("result '{}'", term.name));
        }
        case Term::Kind::guarded: {
            Lines* const before = std::exchange(lines_, nullptr);  // no statement computes what is behind a condition
            Text text = chosen(tilelang_text(term.at[0]), term.operands[0], term.operands[1]);
            lines_ = before;
            return text;
        }
        case Term::Kind::pointwise: return pointwise(term);
    }
    return missing("a term");
}

// Only the operand that is chosen is evaluated.
TileLangTerms::Text TileLangTerms::chosen(const std::string& condition, int inside, int outside) {
    return {fmt::format("tl.if_then_else({}, {}, {})", condition, inlined(inside).text, inlined(outside).text), true};
}

std::string TileLangTerms::truth(int operand) {
    const Text text = inlined(operand);
    return at(operand).dtype == DType::boolean ? text.text : text.grouped() + " != 0";
}

// The text, or a name for it where it would be computed twice.
std::string TileLangTerms::repeated(const Text& text, const std::string& word) {
    const bool plain = text.text.find_first_of("([") == std::string::npos && text.atomic;
    if (plain) return text.text;
    const int key = -1 - repeated_.emplace(text.text, static_cast<int>(repeated_.size())).first->second;
    if (auto known = named_.find(key); known != named_.end()) return known->second;
    if (!lines_) return text.grouped();
    const std::string name = names_.fresh(word);
    lines_->add(name + " = " + text.text);
    return named_[key] = name;
}

TileLangTerms::Text TileLangTerms::pointwise(const Term& term) {
    const std::string& op = term.name;
    if (op == "logical_and" || op == "logical_or")
        return {fmt::format("tl.{}({}, {})", op == "logical_or" ? "Or" : "And", truth(term.operands[0]),
                            truth(term.operands[1])),
                true};
    if (op == "where") return chosen(truth(term.operands[0]), term.operands[1], term.operands[2]);
    std::vector<Text> operands;
    for (int id : term.operands) operands.push_back(inlined(id));
    const Text& a = operands[0];
    if (operands.size() == 1) return one_operand(term, a);
    const Text& b = operands[1];
    if (auto sign = signs().find(op); sign != signs().end())
        return {fmt::format("{} {} {}", a.grouped(), sign->second, b.grouped()), false};
    const bool floating = is_floating(term.dtype);
    if (op == "maximum" || op == "minimum") {
        const std::string first = repeated(a, "first_of"), second = repeated(b, "second_of");
        const std::string better = fmt::format("{} {} {}", first, op == "maximum" ? ">" : "<", second);
        if (!floating) return {fmt::format("tl.if_then_else({}, {}, {})", better, first, second), true};
        return {fmt::format("tl.if_then_else(tl.Or({}, tl.isnan({})), {}, {})", better, first, first, second), true};
    }
    if (op == "floor_divide" && floating) return float_quotient(term, a, b);
    if (op == "floor_divide") return {fmt::format("{} // {}", a.grouped(), b.grouped()), false};
    if (op == "remainder" && !floating) return {fmt::format("{} % {}", a.grouped(), b.grouped()), false};
    if (op == "remainder") return float_remainder(term, a, b);
    if (op == "left_shift" || op == "right_shift") return shifted(term, a, b);
    if (op == "power" && floating) return {fmt::format("tl.pow({}, {})", a.text, b.text), true};
    return missing(fmt::format("pointwise '{}' of {}", op, name_of(term.dtype)));
}

// With the divisor's sign.
TileLangTerms::Text TileLangTerms::float_remainder(const Term& term, const Text& a, const Text& b) {
    const std::string divisor = repeated(b, "divisor");
    const std::string rest = repeated({fmt::format("tl.fmod({}, {})", a.text, divisor), true}, "rest");
    return {fmt::format("tl.if_then_else(tl.And({0} != {2}, tl.Or(tl.And({0} < {2}, {1} > {2}), tl.And({0} > {2}, "
                        "{1} < {2}))), {0} + {1}, {0})",
                        rest, divisor, tilelang_literal(0, term.dtype)),
            true};
}

// Rounded down, as in Python: 1 // 0.1 is 9, because 0.1 is a little more than a tenth.
TileLangTerms::Text TileLangTerms::float_quotient(const Term& term, const Text& a, const Text& b) {
    const std::string divisor = repeated(b, "divisor");
    const std::string rest = repeated(float_remainder(term, a, b), "left_over");
    const std::string zero = tilelang_literal(0, term.dtype), down = tilelang_literal(-1, term.dtype);
    const std::string whole = external("rint", term.dtype, fmt::format("({} - {}) / {}", a.grouped(), rest, divisor));
    const std::string by_infinity =
        fmt::format("tl.if_then_else({0} == {1}, {2}, {3} * {0})", rest, divisor, down, zero);
    return {fmt::format("tl.if_then_else({0} == {1}, {2} / {0}, tl.if_then_else({0} + {0} == {0}, {3}, {4}))", divisor,
                        zero, a.grouped(), by_infinity, whole),
            true};
}

// By more bits than there are, nothing is left.
TileLangTerms::Text TileLangTerms::shifted(const Term& term, const Text& a, const Text& b) {
    if (const std::optional<Text> plain = shifted_by_number(term, a, b)) return *plain;
    const bool left = term.name == "left_shift";
    const int64_t bits = 8 * static_cast<int64_t>(size_of(term.dtype));
    const std::string far = fmt::format("tl.Or({0} < 0, {0} >= {1})", b.grouped(), bits);
    const std::string zero = tilelang_literal(0, term.dtype), most = tilelang_literal(bits - 1, term.dtype);
    if (left) return {fmt::format("tl.if_then_else({}, {}, {} << {})", far, zero, a.grouped(), b.grouped()), true};
    return {fmt::format("{} >> tl.if_then_else({}, {}, {})", a.grouped(), far, most, b.text), false};
}

TileLangTerms::Text TileLangTerms::one_operand(const Term& term, const Text& a) {
    const std::string& op = term.name;
    const DType operand = at(term.operands[0]).dtype;
    const std::string zero = tilelang_literal(0, term.dtype), one = tilelang_literal(1, term.dtype);
    if (op == "negative") return {"-" + a.grouped(), false};
    if (op == "reciprocal") return {fmt::format("{} / {}", one, a.grouped()), false};
    if (op == "logical_not") return {fmt::format("tl.Not({})", truth(term.operands[0])), true};
    if (op == "isnan") return {fmt::format("tl.isnan({})", a.text), true};
    if (op == "cast" && term.dtype == operand) return a;
    if (op == "cast" && term.dtype == DType::boolean) return {fmt::format("{} != 0", a.grouped()), false};
    if (op == "cast") return {fmt::format("tl.cast({}, {})", a.text, tilelang_type(term.dtype)), true};
    if (op == "sign") {
        const std::string value = repeated(a, "of_sign");
        return {fmt::format("tl.if_then_else({0} > {1}, {2}, tl.if_then_else({0} < {1}, -{2}, {0}))", value, zero, one),
                true};
    }
    if (op == "square") {
        const std::string value = repeated(a, "root");
        return {fmt::format("{0} * {0}", value), false};
    }
    if (op == "absolute") return {fmt::format("tl.abs({})", a.text), true};
    if (!is_floating(term.dtype)) return missing(fmt::format("pointwise '{}' of {}", op, name_of(term.dtype)));
    if (op == "sigmoid") return {fmt::format("{} / ({} + tl.exp(-{}))", one, one, a.grouped()), false};
    if (op == "expm1") return {external("expm1", term.dtype, a.text), true};
    if (op == "atan" || op == "lgamma") return {external(op, term.dtype, a.text), true};
    if (op == "round") return {external("rint", term.dtype, a.text), true};
    static const std::set<std::string> functions = {"exp",  "exp2", "log", "log2", "log1p", "sqrt", "rsqrt",
                                                    "tanh", "erf",  "sin", "cos",  "floor", "ceil"};
    if (!functions.contains(op)) return missing(fmt::format("pointwise '{}'", op));
    return {fmt::format("tl.{}({})", op, a.text), true};
}

void merge_states(const Law& law, const std::vector<std::string>& into, const std::vector<std::string>& from,
                  TermText::Context context, Names& names, Lines& lines) {
    if (law.name == "sum") return lines.add(fmt::format("{0} = {0} + {1}", into[0], from[0]));
    TileLangTerms terms({law.terms, context.shapes, context.lacks}, names);
    for (size_t k = 0; k < into.size(); ++k) {
        std::string before = into[k], more = from[k];
        for (std::string* one : {&before, &more}) {
            if (is_identifier(*one)) continue;
            const std::string name = names.fresh((one == &before ? "old_" : "new_") + law.parts[k].name);
            lines.add(name + " = " + *one);
            *one = name;
        }
        terms.set_result("a_" + law.parts[k].name, before);
        terms.set_result("b_" + law.parts[k].name, more);
    }
    terms.prepare(law.merged, lines);
    std::vector<std::string> merged;
    for (int term : law.merged) merged.push_back(terms.text_of(term));
    // Parts depend on each other's old values.
    for (size_t k = 0; k + 1 < merged.size(); ++k) {
        const std::string name = names.fresh("merged_" + law.parts[k].name);
        lines.add(name + " = " + merged[k]);
        merged[k] = name;
    }
    for (size_t k = merged.size(); k-- > 0;) lines.add(fmt::format("{} = {}", into[k], merged[k]));
}

std::string merge_of_states(const Law& law, const std::string& a, std::string b, TermText::Context context,
                            Names& names, Lines& lines) {
    if (law.name == "sum") return fmt::format("{} + {}", a, b);
    if (!is_identifier(b)) {
        const std::string name = names.fresh("new_" + law.parts[0].name);
        lines.add(name + " = " + b);
        b = name;
    }
    TileLangTerms terms({law.terms, context.shapes, context.lacks}, names);
    terms.set_result("a_" + law.parts[0].name, a);
    terms.set_result("b_" + law.parts[0].name, b);
    terms.prepare(law.merged, lines);
    return terms.text_of(law.merged[0]);
}

}  // namespace strop::backend
