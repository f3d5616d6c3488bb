#include "backend/triton_terms.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "backend/python_module.h"
#include "base/strings.h"
#include "graph/operations.h"

namespace strop::backend {

using schedule::Law;
using schedule::Term;

namespace {

// What Triton lacks, or means otherwise than NumPy. All of it runs in Triton's interpreter too, which knows
// no function of libdevice.
struct Helper {
    const char *parameters, *body;
    std::vector<const char*> needs = {};
};

const std::map<std::string, Helper>& helpers_by_name() {
    static const std::map<std::string, Helper> helpers = {
        {"maximum", {"a, b", "    return tl.maximum(a, b, propagate_nan=tl.PropagateNan.ALL)\n"}},
        {"minimum", {"a, b", "    return tl.minimum(a, b, propagate_nan=tl.PropagateNan.ALL)\n"}},
        {"product_of", {"a, b", "    return a * b\n"}},
        {"either", {"a, b", "    return a | b\n"}},
        {"both", {"a, b", "    return a & b\n"}},
        {"sign_of", {"a", "    return tl.where(a > 0, 1, tl.where(a < 0, -1, a))  # a NaN stays\n"}},
        {"square_of", {"a", "    return a * a\n"}},
        {"floor_quotient", {"a, b", "    return a // b - tl.where((a % b != 0) & ((a < 0) != (b < 0)), 1, 0)\n"}},
        {"floor_remainder",
         {"a, b", "    rest = a % b\n    return tl.where((rest != 0) & ((rest < 0) != (b < 0)), rest + b, rest)\n"}},
        {"nearest_whole",
         {"a",
          "    whole = tl.floor(a)\n    rest = a - whole\n    odd = whole != 2 * tl.floor(whole / 2)\n"
          "    return tl.where((rest > 0.5) | ((rest == 0.5) & odd), whole + 1, whole)\n"}},
        {"float_quotient",
         {"a, b",
          "    rest = floor_remainder(a, b)\n    far = tl.where(rest == b, -1, 0 * rest)  # by an infinity\n"
          "    whole = nearest_whole((a - rest) / b)\n"
          "    return tl.where(b == 0, a / b, tl.where(b + b == b, far, whole))\n",
          {"floor_remainder", "nearest_whole"}}},
        {"exp_minus_1",
         {"a",
          "    power = tl.exp(a)  # its rounding error cancels in the quotient (W. Kahan)\n"
          "    near = tl.where(power == 1, a, (power - 1) * a / tl.log(tl.where(power == 1, 2, power)))\n"
          "    return tl.where(tl.abs(a) > 0.5, power - 1, near)\n"}},
        {"log_1_plus",
         {"a",
          "    shifted = 1 + a  # its rounding error cancels in the quotient (W. Kahan)\n"
          "    near = tl.log(shifted) * a / tl.where(shifted == 1, 1, shifted - 1)\n"
          "    return tl.where(shifted == 1, a, tl.where(tl.abs(a) < 0.5, near, tl.log(shifted)))\n"}},
        {"hyperbolic_tangent",
         {"a",
          "    change = exp_minus_1(-2 * tl.abs(a))\n    size = -change / (2 + change)\n"
          "    return tl.where(a < 0, -size, size)\n",
          {"exp_minus_1"}}},
        {"arc_tangent",
         {"a",
          "    size = tl.abs(a)  # reduced by eighths of a turn (S. Moshier's Cephes)\n"
          "    near = tl.where(size > 0.414213562, (size - 1) / (size + 1), size)\n"
          "    near = tl.where(size > 2.41421356, -1 / size, near)\n"
          "    base = tl.where(size > 2.41421356, 1.57079633, tl.where(size > 0.414213562, 0.785398163, 0.0))\n"
          "    square = near * near\n"
          "    series = (8.05374449538e-2 * square - 1.38776856032e-1) * square + 1.99777106478e-1\n"
          "    series = (series * square - 3.33329491539e-1) * square\n"
          "    angle = base + (series * near + near)\n"
          "    return tl.where(a < 0, -angle, angle)\n"}},
        {"power_of",
         {"a, b",
          "    size = tl.exp2(b * tl.log2(tl.abs(a)))\n    half = b / 2\n"
          "    signed = tl.where(half == tl.floor(half), size, -size)\n"
          "    result = tl.where(a < 0, tl.where(b == tl.floor(b), signed, float(\"nan\")), size)\n"
          "    return tl.where((b == 0) | (a == 1), 1.0, result)\n"}},
    };
    return helpers;
}

void add_helper(const std::string& name, Helpers& helpers) {
    const Helper& helper = helpers_by_name().at(name);
    for (const char* needed : helper.needs) add_helper(needed, helpers);
    helpers.add(name, fmt::format("\n@triton.jit\ndef {}({}):\n{}", name, helper.parameters, helper.body));
}

const std::map<std::string, const char*>& signs() {
    static const std::map<std::string, const char*> signs = {
        {"add", "+"},         {"subtract", "-"},    {"multiply", "*"},   {"divide", "/"},         {"less", "<"},
        {"equal", "=="},      {"less_equal", "<="}, {"greater", ">"},    {"greater_equal", ">="}, {"not_equal", "!="},
        {"bitwise_and", "&"}, {"bitwise_or", "|"},  {"bitwise_xor", "^"}};
    return signs;
}

void join_lanes(Lanes& into, const Lanes& more) {
    for (const Lane& lane : more)
        if (std::find(into.begin(), into.end(), lane) == into.end()) into.push_back(lane);
}

std::string both(const std::vector<std::string>& conditions) {
    if (conditions.size() == 1) return conditions[0];
    std::vector<std::string> grouped;
    for (const std::string& one : conditions) grouped.push_back(is_identifier(one) ? one : "(" + one + ")");
    return join(grouped, " & ");
}

}  // namespace

std::set<std::string> triton_helper_names() {
    std::set<std::string> names = {"argmax", "argmin", "normalizer"};
    for (const auto& [name, helper] : helpers_by_name()) names.insert(name);
    return names;
}

std::string mask_of(const Lanes& lanes) {
    std::vector<std::string> masks;
    for (const Lane& lane : lanes) masks.push_back(lane.mask);
    return both(masks.empty() ? std::vector<std::string>{""} : masks);
}

std::string triton_type(DType dtype) {
    return "tl." + (dtype == DType::boolean ? std::string("int1") : name_of(dtype));
}

std::string triton_literal(double value, DType dtype) {
    const std::string text = python_literal(value, dtype);
    if (!is_floating(dtype) || !std::isfinite(value)) return text;
    // A number in the source has 32 bits beside tensors of 64.
    const bool exact = dtype == DType::float32 || static_cast<double>(static_cast<float>(value)) == value;
    return exact ? text : fmt::format("tl.full([], {}, tl.float64)", text);
}

std::string law_function(const Law& law, Helpers& helpers, std::string& lacks) {
    static const std::map<std::string, const char*> named = {
        {"max", "maximum"}, {"min", "minimum"}, {"prod", "product_of"}, {"any", "either"}, {"all", "both"}};
    if (auto known = named.find(law.name); known != named.end()) {
        add_helper(known->second, helpers);
        return known->second;
    }
    if (helpers.has(law.name)) return law.name;
    std::vector<std::string> parameters;
    std::set<std::string> taken = triton_helper_names();
    for (const char* side : {"a_", "b_"})
        for (const Law::Part& part : law.parts) {
            parameters.push_back(side + part.name);
            taken.insert(parameters.back());
        }
    Names names(taken);
    const Shapes no_tensors;
    TritonTerms terms({law.terms, no_tensors, lacks}, helpers, names);
    for (const std::string& parameter : parameters) terms.set_result(parameter, parameter, {});
    Lines lines;
    lines.add("");
    lines.add("@triton.jit");
    lines.open(fmt::format("def {}({}):", law.name, join(parameters, ", ")));
    terms.prepare(law.merged, lines);
    std::vector<std::string> merged;
    for (int term : law.merged) merged.push_back(terms.text_of(term));
    lines.add("return " + join(merged, ", "));
    helpers.add(law.name, lines.text());
    return law.name;
}

std::string TritonTerms::text(const Expression& expression) const {
    return replace_all(over_arrays(expression.substitute(symbols_)), "ceildiv(", "tl.cdiv(");
}

Lanes TritonTerms::lanes_of(const std::vector<Expression>& expressions) const {
    Lanes lanes;
    for (const Expression& expression : expressions)
        for (const std::string& symbol : expression.symbols()) {
            if (auto known = lanes_.find(symbol); known != lanes_.end()) join_lanes(lanes, known->second);
            for (size_t id = 0; id < context_.terms.size(); ++id)
                if (context_.terms[id].place == symbol) join_lanes(lanes, lanes_of(static_cast<int>(id)));
        }
    return lanes;
}

Lanes TritonTerms::lanes_of(int term) const {
    Lanes lanes;
    for (const std::string& name : schedule::reads(context_.terms, {term}))
        if (auto known = lanes_.find(name); known != lanes_.end()) join_lanes(lanes, known->second);
    return lanes;
}

std::string TritonTerms::pointer(const std::string& tensor, const std::vector<Expression>& at,
                                 const Lanes& along) const {
    const Expression offset = offset_of(at, context_.shapes.at(tensor));
    std::string result = tensor + "_ptr";
    if (!offset.is_literal(0)) result += " + " + text(offset);
    const Lanes own = lanes_of(std::vector<Expression>{offset});
    for (const Lane& lane : along)
        if (std::find(own.begin(), own.end(), lane) == own.end()) result += " + 0*" + lane.name;
    return result;
}

TritonTerms::Text TritonTerms::load(int id) {
    const Term& term = at(id);
    Lanes lanes = lanes_of(term.at);
    std::vector<std::string> masks;
    for (const Expression& guard : guards_) join_lanes(lanes, lanes_of(std::vector<Expression>{guard}));
    for (const Lane& lane : lanes) masks.push_back(lane.mask);
    for (const Expression& guard : guards_) masks.push_back(text(guard));
    const std::string from = pointer(term.name, term.at, lanes);
    if (masks.empty()) return {fmt::format("tl.load({})", from), true};
    auto outside = outside_.find(id);
    const std::string masked = fmt::format("tl.load({}, mask={}, other={})", from, both(masks),
                                           triton_literal(outside == outside_.end() ? 0 : outside->second, term.dtype));
    if (guards_.empty()) return {masked, true};
    // Behind a condition it is a load of its own.
    const int key = -1 - guarded_loads_.emplace(masked, static_cast<int>(guarded_loads_.size())).first->second;
    if (auto known = named_.find(key); known != named_.end()) return {known->second, true};
    if (!lines_) return {masked, true};
    const std::string name = names_.fresh(term.name);
    lines_->add(name + " = " + masked);
    named_[key] = name;
    return {name, true};
}

bool TritonTerms::is_masked_load(int id, double outside) const {
    const Term& term = at(id);
    if (term.kind == Term::Kind::load) return gives_outside(id, outside);
    return term.kind == Term::Kind::guarded && at(term.operands[0]).kind == Term::Kind::load &&
           at(term.operands[1]).kind == Term::Kind::number && at(term.operands[1]).value == outside;
}

TritonTerms::Text TritonTerms::spelled(int id) {
    const Term& term = at(id);
    switch (term.kind) {
        case Term::Kind::number: {
            std::string number = triton_literal(term.value, term.dtype);
            return {number[0] == '-' ? "(" + number + ")" : number, true};
        }
        case Term::Kind::index: {
            const std::string place = text(term.at[0]);
            if (!is_floating(term.dtype)) return {place, term.at[0].is_symbol() || term.at[0].is_literal()};
            return {fmt::format("tl.cast({}, {})", place, triton_type(term.dtype)), true};
        }
        case Term::Kind::parameter: return {term.name, true};
        case Term::Kind::load: return load(id);
        case Term::Kind::result: {
            const std::string* known = result(term.name);
            return known ? Text{*known, true} : missing(fmt::format("result '{}'", term.name));
        }
        case Term::Kind::guarded: return guarded(term);
        case Term::Kind::pointwise: return pointwise(term);
    }
    return missing("a term");
}

// A load beside a number is a masked load; anything else is computed everywhere and then chosen.
TritonTerms::Text TritonTerms::guarded(const Term& term) {
    const int inside = term.operands[0], outside = term.operands[1];
    const Term& other = at(outside);
    guards_.push_back(term.at[0]);
    if (at(inside).kind == Term::Kind::load && other.kind == Term::Kind::number) {
        const auto before = outside_;
        outside_[inside] = other.value;
        Text masked = load(inside);
        outside_ = before;
        guards_.pop_back();
        return masked;
    }
    const std::string value = wide(inside, term).text;
    guards_.back() = Expression::parse(fmt::format("not ({})", term.at[0].text()));
    const std::string otherwise = wide(outside, term).text;
    guards_.pop_back();
    return {fmt::format("tl.where({}, {}, {})", text(term.at[0]), value, otherwise), true};
}

TritonTerms::Text TritonTerms::call(const std::string& helper, const std::vector<Text>& operands) {
    add_helper(helper, helpers_);
    std::vector<std::string> texts;
    for (const Text& operand : operands) texts.push_back(operand.text);
    return {fmt::format("{}({})", helper, join(texts, ", ")), true};
}

TritonTerms::Text TritonTerms::truth(int operand) {
    const Text text = inlined(operand);
    return at(operand).dtype == DType::boolean ? text : Text{text.grouped() + " != 0", false};
}

// Positions may have 32 bits; values of the problem's type have all of theirs.
TritonTerms::Text TritonTerms::wide(int operand, const Term& in) {
    const Text text = inlined(operand);
    if (in.dtype != DType::int64 || at(operand).kind != Term::Kind::index) return text;
    return {fmt::format("tl.cast({}, tl.int64)", text.text), true};
}

std::string TritonTerms::element(int term) { return wide(term, at(term)).text; }

TritonTerms::Text TritonTerms::pointwise(const Term& term) {
    const std::string& op = term.name;
    if (op == "logical_and" || op == "logical_or")
        return {fmt::format("{} {} {}", truth(term.operands[0]).grouped(), op == "logical_or" ? "|" : "&",
                            truth(term.operands[1]).grouped()),
                false};
    if (op == "where")
        return {fmt::format("tl.where({}, {}, {})", truth(term.operands[0]).text, wide(term.operands[1], term).text,
                            wide(term.operands[2], term).text),
                true};
    std::vector<Text> operands;
    for (int id : term.operands) operands.push_back(wide(id, term));
    const Text& a = operands[0];
    if (operands.size() == 1) return one_operand(term, a);
    const Text& b = operands[1];
    if (auto sign = signs().find(op); sign != signs().end())
        return {fmt::format("{} {} {}", a.grouped(), sign->second, b.grouped()), false};
    const bool floating = is_floating(term.dtype);
    if (op == "maximum" || op == "minimum") return call(op, operands);
    if (op == "floor_divide") return call(floating ? "float_quotient" : "floor_quotient", operands);
    if (op == "remainder") return call("floor_remainder", operands);
    if (op == "power" && floating) return call("power_of", operands);
    if (op == "left_shift" || op == "right_shift") return shifted(term, a, b);
    return missing(fmt::format("pointwise '{}' of {}", op, name_of(term.dtype)));
}

// By more bits than there are, nothing is left.
TritonTerms::Text TritonTerms::shifted(const Term& term, const Text& a, const Text& b) {
    if (const std::optional<Text> plain = shifted_by_number(term, a, b)) return *plain;
    const bool left = term.name == "left_shift";
    const int64_t bits = 8 * static_cast<int64_t>(size_of(term.dtype));
    const std::string far = fmt::format("({0} < 0) | ({0} >= {1})", b.grouped(), bits);
    if (left) return {fmt::format("tl.where({}, 0, {} << {})", far, a.grouped(), b.grouped()), true};
    return {fmt::format("{} >> tl.where({}, {}, {})", a.grouped(), far, bits - 1, b.text), false};
}

TritonTerms::Text TritonTerms::one_operand(const Term& term, const Text& a) {
    const std::string& op = term.name;
    const DType operand = at(term.operands[0]).dtype;
    if (op == "negative") return {"-" + a.grouped(), false};
    if (op == "reciprocal") return {fmt::format("1 / {}", a.grouped()), false};
    if (op == "logical_not") return {fmt::format("{} == 0", a.grouped()), false};
    if (op == "isnan") return {fmt::format("{0} != {0}", a.grouped()), false};
    if (op == "cast" && term.dtype == operand) return a;
    if (op == "cast" && term.dtype == DType::boolean) return {fmt::format("{} != 0", a.grouped()), false};
    if (op == "cast") return {fmt::format("tl.cast({}, {})", a.text, triton_type(term.dtype)), true};
    if (op == "sign") return call("sign_of", {a});
    if (op == "square") return call("square_of", {a});
    if (op == "absolute") return {fmt::format("tl.abs({})", a.text), true};
    if (!is_floating(term.dtype)) return missing(fmt::format("pointwise '{}' of {}", op, name_of(term.dtype)));
    if (op == "sigmoid") return {fmt::format("1 / (1 + tl.exp(-{}))", a.grouped()), false};
    static const std::map<std::string, const char*> replaced = {
        {"expm1", "exp_minus_1"}, {"log1p", "log_1_plus"}, {"tanh", "hyperbolic_tangent"}, {"round", "nearest_whole"}};
    if (op == "atan" && term.dtype == DType::float32) return call("arc_tangent", {a});
    if (auto found = replaced.find(op); found != replaced.end()) return call(found->second, {a});
    static const std::set<std::string> functions = {"exp", "exp2", "log", "log2",  "sqrt", "rsqrt",
                                                    "erf", "sin",  "cos", "floor", "ceil"};
    if (!functions.contains(op)) return missing(fmt::format("pointwise '{}'", op));
    return {fmt::format("tl.{}({})", op, a.text), true};
}

}  // namespace strop::backend
