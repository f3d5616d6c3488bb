#include "backend/c_terms.h"

#include <cmath>
#include <map>

#include <fmt/format.h>

#include "backend/launch_parts.h"
#include "base/strings.h"
#include "graph/operations.h"

namespace strop::backend {

using schedule::Term;

namespace {

const std::map<std::string, const char*>& signs() {
    static const std::map<std::string, const char*> signs = {
        {"add", "+"},         {"subtract", "-"},    {"multiply", "*"},     {"divide", "/"},
        {"less", "<"},        {"less_equal", "<="}, {"greater", ">"},      {"greater_equal", ">="},
        {"equal", "=="},      {"not_equal", "!="},  {"logical_and", "&&"}, {"logical_or", "||"},
        {"bitwise_and", "&"}, {"bitwise_or", "|"},  {"bitwise_xor", "^"}};
    return signs;
}

// Bodies of functions whose meaning is not one of the language's, over @TYPE@.
const std::map<std::string, const char*>& helper_bodies() {
    static const std::map<std::string, const char*> bodies = {
        {"larger", "@TYPE@ a, @TYPE@ b) {\n    return a > b || a != a ? a : b;  // a NaN stays\n}\n"},
        {"smaller", "@TYPE@ a, @TYPE@ b) {\n    return a < b || a != a ? a : b;  // a NaN stays\n}\n"},
        {"sign_of", "@TYPE@ a) {\n    return a != a ? a : (@TYPE@)(a > 0) - (@TYPE@)(a < 0);\n}\n"},
        {"square_of", "@TYPE@ a) {\n    return a * a;\n}\n"},
        {"floor_quotient", "@TYPE@ a, @TYPE@ b) {\n    return a / b - (a % b != 0 && (a < 0) != (b < 0));\n}\n"},
        {"floor_remainder",
         "@TYPE@ a, @TYPE@ b) {\n    const @TYPE@ rest = a % b;\n"
         "    return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;\n}\n"},
        {"shifted_left",
         "@TYPE@ a, @TYPE@ by) {\n    return by < 0 || by >= (@TYPE@)(8 * sizeof(@TYPE@)) ? 0 : a << by;\n}\n"},
        {"shifted_right",
         "@TYPE@ a, @TYPE@ by) {\n    const @TYPE@ most = 8 * sizeof(@TYPE@) - 1;\n"
         "    return a >> (by < 0 || by > most ? most : by);\n}\n"},
        {"float_remainder",
         "@TYPE@ a, @TYPE@ b) {\n    const @TYPE@ rest = fmod(a, b);\n"
         "    return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;\n}\n"},
        {"float_quotient",
         "@TYPE@ a, @TYPE@ b) {\n    if (b == 0) return a / b;\n    @TYPE@ rest = fmod(a, b);\n"
         "    if (rest != 0 && (rest < 0) != (b < 0)) rest += b;\n"
         "    if (b + b == b) return rest == b ? -1 : 0 * rest;  // an infinity\n"
         "    return rint((a - rest) / b);\n}\n"}};
    return bodies;
}

}  // namespace

std::string literal(double value, DType dtype, const Dialect& dialect) {
    if (!is_floating(dtype)) return std::to_string(static_cast<int64_t>(value));
    if (std::isnan(value)) return dialect.nan;
    if (std::isinf(value)) return value > 0 ? dialect.infinity : "-" + dialect.infinity;
    std::string text =
        dtype == DType::float32 ? fmt::format("{}", static_cast<float>(value)) : fmt::format("{}", value);
    if (text.find_first_of(".e") == std::string::npos) text += ".0";
    return dtype == DType::float32 ? text + "f" : text;
}

std::string index_text(const Expression& expression, std::string& lacks) {
    std::string text = expression.cpp();
    if (text.find("std::") != std::string::npos && lacks.empty())
        lacks = fmt::format("the extent '{}'", expression.text());
    return text;
}

std::string CTerms::statement(DType dtype, const std::string& name, const std::string& text) const {
    return fmt::format("const {} {} = {};", dialect_.type(dtype), name, text);
}

CTerms::Text CTerms::spelled(int id) {
    const Term& term = at(id);
    switch (term.kind) {
        case Term::Kind::number: {
            std::string text = literal(term.value, term.dtype, dialect_);
            const bool negative = text[0] == '-';
            return {negative ? "(" + text + ")" : text, true};
        }
        case Term::Kind::index: {
            std::string text = index_text(term.at[0], context_.lacks);
            const bool same = dialect_.type(term.dtype) == dialect_.index;
            if (!is_floating(term.dtype) && same) return {text, term.at[0].is_symbol()};
            return {fmt::format("({})({})", dialect_.type(term.dtype), text), true};
        }
        case Term::Kind::parameter: return {term.name, true};
        case Term::Kind::load: return load(term);
        case Term::Kind::result: {
            const std::string* known = result(term.name);
            return known ? Text{*known, true} : missing(fmt::format("result '{}'", term.name));
        }
        case Term::Kind::guarded:
            return {fmt::format("{} ? {} : {}", index_text(term.at[0], context_.lacks),
                                inlined(term.operands[0]).grouped(), inlined(term.operands[1]).grouped()),
                    false};
        case Term::Kind::pointwise: return pointwise(term);
    }
    return missing("a term");
}

CTerms::Text CTerms::load(const Term& term) {
    const Expression offset = offset_of(term.at, context_.shapes.at(term.name));
    const std::string element = fmt::format("{}[{}]", term.name, index_text(offset, context_.lacks));
    const auto half = halves_.find(term.name);
    if (half == halves_.end()) return {element, true};
    if (!dialect_.from_half) return missing("16-bit tensors");
    const std::string name = "from_" + name_of(half->second);
    helpers_.add(name, fmt::format("{} float {}({}", dialect_.device_function, name, dialect_.from_half(half->second)));
    return {fmt::format("{}({})", name, element), true};
}

std::string CTerms::stored(const std::string& tensor, const std::string& value) {
    const auto half = halves_.find(tensor);
    if (half == halves_.end()) return value;
    if (!dialect_.to_half) return missing("16-bit tensors").text;
    const std::string name = "to_" + name_of(half->second);
    helpers_.add(name, fmt::format("{} {} {}({}", dialect_.device_function, dialect_.type(half->second), name,
                                   dialect_.to_half(half->second)));
    return fmt::format("{}({})", name, value);
}

CTerms::Text CTerms::helper(const std::string& name, const Term& term, const std::vector<Text>& operands) {
    const std::string type = dialect_.type(term.dtype), full = name + "_" + type;
    helpers_.add(full, fmt::format("{} {} {}({}", dialect_.device_function, type, full,
                                   replace_all(helper_bodies().at(name), "@TYPE@", type)));
    std::vector<std::string> texts;
    for (const Text& operand : operands) texts.push_back(operand.text);
    return {fmt::format("{}({})", full, join(texts, ", ")), true};
}

CTerms::Text CTerms::pointwise(const Term& term) {
    const Text text = formula(term);
    if (!exceeds_its_type(term.name, term.dtype)) return text;
    return {fmt::format("({}){}", dialect_.type(term.dtype), text.grouped()), true};
}

CTerms::Text CTerms::formula(const Term& term) {
    std::vector<Text> operands;
    for (int id : term.operands) operands.push_back(inlined(id));
    const std::string& op = term.name;
    const Text& a = operands[0];
    if (operands.size() == 1) return one_operand(term, a);
    const Text& b = operands[1];
    if (op == "where") return {fmt::format("{} ? {} : {}", a.grouped(), b.grouped(), operands[2].grouped()), false};
    if (auto sign = signs().find(op); sign != signs().end())
        return {fmt::format("{} {} {}", a.grouped(), sign->second, b.grouped()), false};
    const bool floating = is_floating(term.dtype);
    if (op == "maximum") return helper("larger", term, operands);
    if (op == "minimum") return helper("smaller", term, operands);
    if (op == "floor_divide") return helper(floating ? "float_quotient" : "floor_quotient", term, operands);
    if (op == "remainder") return helper(floating ? "float_remainder" : "floor_remainder", term, operands);
    if (op == "left_shift") return helper("shifted_left", term, operands);
    if (op == "right_shift") return helper("shifted_right", term, operands);
    if (op == "power" && floating) return {fmt::format("pow({}, {})", a.text, b.text), true};
    return missing(fmt::format("pointwise '{}' of {}", op, name_of(term.dtype)));
}

CTerms::Text CTerms::one_operand(const Term& term, const Text& a) {
    const std::string& op = term.name;
    const std::string one = literal(1, term.dtype, dialect_), type = dialect_.type(term.dtype);
    const DType operand = at(term.operands[0]).dtype;
    if (op == "negative") return {"-" + a.grouped(), false};
    if (op == "reciprocal") return {fmt::format("{} / {}", one, a.grouped()), false};
    if (op == "logical_not") return {"!" + a.grouped(), false};
    if (op == "isnan") return {fmt::format("{0} != {0}", a.grouped()), false};
    if (op == "cast" && term.dtype == operand) return a;
    if (op == "cast" && term.dtype == DType::boolean) return {fmt::format("{} != 0", a.grouped()), false};
    if (op == "cast") return {fmt::format("({}){}", type, a.grouped()), false};
    if (op == "sign") return helper("sign_of", term, {a});
    if (op == "square") return helper("square_of", term, {a});
    if (op == "absolute" && !is_floating(term.dtype)) return {fmt::format("abs({})", a.text), true};
    if (!is_floating(term.dtype)) return missing(fmt::format("pointwise '{}' of {}", op, name_of(term.dtype)));
    if (op == "sigmoid") return {fmt::format("{} / ({} + exp(-{}))", one, one, a.grouped()), false};
    static const std::map<std::string, const char*> functions = {
        {"exp", "exp"},     {"exp2", "exp2"},     {"expm1", "expm1"}, {"log", "log"},   {"log2", "log2"},
        {"log1p", "log1p"}, {"sqrt", "sqrt"},     {"rsqrt", "rsqrt"}, {"tanh", "tanh"}, {"erf", "erf"},
        {"atan", "atan"},   {"lgamma", "lgamma"}, {"sin", "sin"},     {"cos", "cos"},   {"floor", "floor"},
        {"ceil", "ceil"},   {"absolute", "fabs"}, {"round", "rint"}};
    auto found = functions.find(op);
    if (found == functions.end()) return missing(fmt::format("pointwise '{}'", op));
    return {fmt::format("{}({})", found->second, a.text), true};
}

}  // namespace strop::backend
