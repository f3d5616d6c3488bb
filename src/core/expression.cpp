#include "core/expression.h"

#include <cctype>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "base/error.h"
#include "base/strings.h"
#include "core/expression_node.h"
#include "core/whole_arithmetic.h"

namespace strop {

namespace {

using Node = Expression::Node;
using Kind = Expression::Node::Kind;

[[noreturn]] void fail(const std::string& what) { throw UsageError(what); }

bool both_integers(const Value& a, const Value& b) {
    return std::holds_alternative<int64_t>(a) && std::holds_alternative<int64_t>(b);
}

double number(const Value& value) {
    if (std::holds_alternative<std::string>(value))
        fail(fmt::format("'{}' is a text where a number is needed", std::get<std::string>(value)));
    return to_double(value);
}

int64_t integer_power(int64_t base, int64_t exponent) {
    int64_t result = 1;
    for (int64_t i = 0; i < exponent; ++i)
        if (__builtin_mul_overflow(result, base, &result)) fail("integer overflow in '**'");
    return result;
}

Value integer_arithmetic(const std::string& op, int64_t a, int64_t b) {
    if (op == "+") return whole_sum(a, b);
    if (op == "-") return whole_difference(a, b);
    if (op == "*") return whole_product(a, b);
    if (op == "//") return whole_quotient(a, b);
    if (op == "%") return whole_remainder(a, b);
    if (op == "/") {
        if (b == 0) fail("division by zero");
        return static_cast<double>(a) / static_cast<double>(b);
    }
    if (b < 0) return std::pow(static_cast<double>(a), static_cast<double>(b));
    if (b > 4096 && (a > 1 || a < -1)) fail("integer overflow in '**'");
    return a == 1 ? int64_t{1} : a == 0 ? int64_t{b == 0} : a == -1 ? int64_t{b % 2 ? -1 : 1} : integer_power(a, b);
}

Value arithmetic(const std::string& op, const Value& a, const Value& b) {
    if (both_integers(a, b)) return integer_arithmetic(op, std::get<int64_t>(a), std::get<int64_t>(b));
    double x = number(a), y = number(b);
    if (op == "+") return x + y;
    if (op == "-") return x - y;
    if (op == "*") return x * y;
    if (op == "**") return std::pow(x, y);
    if (y == 0) fail("division by zero");
    if (op == "/") return x / y;
    double q = std::floor(x / y);
    return op == "//" ? q : x - y * q;
}

bool equal(const Value& a, const Value& b) {
    bool text_a = std::holds_alternative<std::string>(a), text_b = std::holds_alternative<std::string>(b);
    if (text_a != text_b) return false;
    if (text_a) return std::get<std::string>(a) == std::get<std::string>(b);
    if (both_integers(a, b)) return std::get<int64_t>(a) == std::get<int64_t>(b);
    return to_double(a) == to_double(b);
}

bool compare(const std::string& op, const Value& a, const Value& b) {
    if (op == "==") return equal(a, b);
    if (op == "!=") return !equal(a, b);
    int order;
    if (std::holds_alternative<std::string>(a) && std::holds_alternative<std::string>(b)) {
        order = std::get<std::string>(a).compare(std::get<std::string>(b));
    } else if (both_integers(a, b)) {
        int64_t x = std::get<int64_t>(a), y = std::get<int64_t>(b);
        order = x < y ? -1 : x > y;
    } else {
        double x = number(a), y = number(b);
        order = x < y ? -1 : x > y;
    }
    if (op == "<") return order < 0;
    if (op == "<=") return order <= 0;
    if (op == ">") return order > 0;
    return order >= 0;
}

}  // namespace

std::string to_string(const Value& value) {
    if (const auto* text = std::get_if<std::string>(&value)) return *text;
    if (const auto* integer = std::get_if<int64_t>(&value)) return fmt::format("{}", *integer);
    double x = std::get<double>(value);
    std::string text = fmt::format("{}", x);
    bool whole = text.find_first_of(".en") == std::string::npos;
    return whole ? text + ".0" : text;
}

double to_double(const Value& value) {
    if (const auto* integer = std::get_if<int64_t>(&value)) return static_cast<double>(*integer);
    if (const auto* x = std::get_if<double>(&value)) return *x;
    return std::numeric_limits<double>::quiet_NaN();
}

bool truthy(const Value& value) {
    if (const auto* text = std::get_if<std::string>(&value)) return !text->empty();
    return to_double(value) != 0;
}

// ---- parsing ---------------------------------------------------------------------------------------

class ExpressionParser {
public:
    explicit ExpressionParser(const std::string& text) : text_(text) {
        if (text.size() > max_length)
            throw UsageError(fmt::format("'{}...': an expression of {} characters", text.substr(0, 40), text.size()),
                             fmt::format("at most {} are read", max_length));
        next();
    }

    Expression whole() {
        Expression result = disjunction();
        if (start_ < text_.size()) error(fmt::format("unexpected '{}'", token_));
        return result;
    }

    static Expression make(Node node) { return Expression(std::make_shared<const Node>(std::move(node))); }

private:
    static constexpr int max_depth = 200;
    static constexpr size_t max_length = 4096;  // chains nest to the left: bounds recursion over the tree

    void error(const std::string& what) const {
        throw UsageError(fmt::format("'{}': {} at column {}", text_, what, start_ + 1));
    }

    void next() {
        while (at_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[at_]))) ++at_;
        start_ = at_;
        token_.clear();
        is_text_ = false;
        if (at_ >= text_.size()) return;
        unsigned char c = static_cast<unsigned char>(text_[at_]);
        if (std::isalpha(c) || c == '_') {
            while (at_ < text_.size() && (std::isalnum(static_cast<unsigned char>(text_[at_])) || text_[at_] == '_'))
                token_ += text_[at_++];
        } else if (std::isdigit(c) || c == '.') {
            lex_number();
        } else if (c == '\'' || c == '"') {
            size_t end = text_.find(static_cast<char>(c), at_ + 1);
            if (end == std::string::npos) error("unterminated text");
            token_ = text_.substr(at_ + 1, end - at_ - 1);
            is_text_ = true;
            at_ = end + 1;
        } else {
            for (const char* op : {"**", "//", "<=", ">=", "==", "!=", "&&", "||"})
                if (text_.compare(at_, 2, op) == 0) token_ = op;
            if (token_.empty()) token_ = std::string(1, static_cast<char>(c));
            at_ += token_.size();
            if (token_ == "&&") token_ = "and";
            if (token_ == "||") token_ = "or";
            if (token_ == "!") token_ = "not";
        }
    }

    void lex_number() {
        auto digit = [&] { return at_ < text_.size() && std::isdigit(static_cast<unsigned char>(text_[at_])); };
        while (digit()) token_ += text_[at_++];
        if (at_ < text_.size() && text_[at_] == '.') {
            token_ += text_[at_++];
            while (digit()) token_ += text_[at_++];
        }
        if (at_ < text_.size() && (text_[at_] == 'e' || text_[at_] == 'E')) {
            token_ += text_[at_++];
            if (at_ < text_.size() && (text_[at_] == '+' || text_[at_] == '-')) token_ += text_[at_++];
            while (digit()) token_ += text_[at_++];
        }
    }

    bool accept(const std::string& token) {
        if (is_text_ || token_ != token) return false;
        next();
        return true;
    }

    void expect(const std::string& token) {
        if (!accept(token)) error(fmt::format("expected '{}'", token));
    }

    struct Depth {
        explicit Depth(ExpressionParser& p) : parser(p) {
            if (++parser.depth_ > max_depth) parser.error("too deeply nested");
        }
        ~Depth() { --parser.depth_; }
        ExpressionParser& parser;
    };

    static Expression binary(const std::string& op, Expression a, Expression b) {
        return make({Kind::binary, {}, op, {std::move(a), std::move(b)}, {}});
    }

    Expression disjunction() {
        Depth guard(*this);
        Expression left = conjunction();
        while (accept("or")) left = binary("or", left, conjunction());
        return left;
    }

    Expression conjunction() {
        Expression left = negation();
        while (accept("and")) left = binary("and", left, negation());
        return left;
    }

    Expression negation() {
        Depth guard(*this);
        if (accept("not")) return make({Kind::unary, {}, "not", {negation()}, {}});
        return comparison();
    }

    Expression comparison() {
        Expression first = sum();
        Node node{Kind::compare, {}, {}, {first}, {}};
        while (!is_text_) {
            std::string op = token_;
            if (op == "in") {
                next();
                node.comparisons.push_back("in");
                node.arguments.push_back(tuple());
            } else if (op == "not") {
                next();
                expect("in");
                node.comparisons.push_back("not in");
                node.arguments.push_back(tuple());
            } else if (op == "<" || op == "<=" || op == ">" || op == ">=" || op == "==" || op == "!=") {
                next();
                node.comparisons.push_back(op);
                node.arguments.push_back(sum());
            } else {
                break;
            }
        }
        return node.comparisons.empty() ? first : make(std::move(node));
    }

    Expression tuple() {
        std::string close = accept("[") ? "]" : ")";
        if (close == ")") expect("(");
        Node node{Kind::tuple, {}, {}, {}, {}};
        while (!accept(close)) {
            node.arguments.push_back(sum());
            if (!accept(",")) {
                expect(close);
                break;
            }
        }
        return make(std::move(node));
    }

    Expression sum() {
        Expression left = product();
        while (!is_text_ && (token_ == "+" || token_ == "-")) {
            std::string op = token_;
            next();
            left = binary(op, left, product());
        }
        return left;
    }

    Expression product() {
        Expression left = signed_power();
        while (!is_text_ && (token_ == "*" || token_ == "/" || token_ == "//" || token_ == "%")) {
            std::string op = token_;
            next();
            left = binary(op, left, signed_power());
        }
        return left;
    }

    Expression signed_power() {
        Depth guard(*this);
        if (accept("+")) return signed_power();
        if (accept("-")) return make({Kind::unary, {}, "-", {signed_power()}, {}});
        Expression base = atom();
        if (accept("**")) return binary("**", base, signed_power());
        return base;
    }

    Expression atom() {
        if (is_text_) {
            Node node{Kind::text, Value(token_), {}, {}, {}};
            next();
            return make(std::move(node));
        }
        if (accept("(")) {
            Expression inner = disjunction();
            expect(")");
            return inner;
        }
        if (token_.empty()) error("unexpected end");
        char c = token_[0];
        if (std::isdigit(static_cast<unsigned char>(c)) || c == '.') return literal();
        if (!std::isalpha(static_cast<unsigned char>(c)) && c != '_') error(fmt::format("unexpected '{}'", token_));
        std::string name = token_;
        if (name == "and" || name == "or" || name == "not" || name == "in") error(fmt::format("unexpected '{}'", name));
        next();
        if (name == "True" || name == "true") return Expression(1);
        if (name == "False" || name == "false") return Expression(int64_t{0});
        if (!accept("(")) return Expression::symbol(name);
        return call(name);
    }

    Expression call(const std::string& name) {
        if (name != "min" && name != "max" && name != "abs" && name != "ceildiv")
            error(fmt::format("unknown function '{}'", name));
        Node node{Kind::call, {}, name, {}, {}};
        while (!accept(")")) {
            node.arguments.push_back(disjunction());
            if (!accept(",")) {
                expect(")");
                break;
            }
        }
        size_t count = node.arguments.size();
        bool right = name == "abs" ? count == 1 : name == "ceildiv" ? count == 2 : count >= 1;
        if (!right) error(fmt::format("wrong number of arguments for '{}'", name));
        return make(std::move(node));
    }

    Expression literal() {
        Value value;
        try {
            size_t used = 0;
            if (token_.find_first_of(".eE") == std::string::npos) value = int64_t{std::stoll(token_, &used)};
            else value = std::stod(token_, &used);
            if (used != token_.size()) error(fmt::format("'{}' is not a number", token_));
        } catch (const std::logic_error&) {
            error(fmt::format("'{}' is not a number", token_));
        }
        next();
        return make({Kind::number, value, {}, {}, {}});
    }

    const std::string& text_;
    size_t at_ = 0, start_ = 0;
    int depth_ = 0;
    std::string token_;
    bool is_text_ = false;
};

namespace {

Expression fold(const std::string& op, const Expression& a, const Expression& b) {
    if (a.is_literal() && b.is_literal()) {
        Value value = arithmetic(op, a.evaluate({}), b.evaluate({}));
        if (std::holds_alternative<int64_t>(value)) return Expression(std::get<int64_t>(value));
    }
    if (op == "+" && a.is_literal(0)) return b;
    if ((op == "+" || op == "-") && b.is_literal(0)) return a;
    if (op == "*" && (a.is_literal(0) || b.is_literal(0))) return Expression(int64_t{0});
    if (op == "*" && a.is_literal(1)) return b;
    if ((op == "*" || op == "//") && b.is_literal(1)) return a;
    if (op == "-" && a == b) return Expression(int64_t{0});
    return ExpressionParser::make({Kind::binary, {}, op, {a, b}, {}});
}

}  // namespace

Expression::Expression(int64_t number)
    : node_(std::make_shared<const Node>(Node{Kind::number, Value(number), {}, {}, {}})) {}

Expression Expression::symbol(const std::string& name) {
    return ExpressionParser::make({Kind::symbol, {}, name, {}, {}});
}

Expression Expression::parse(const std::string& text) { return ExpressionParser(text).whole(); }

Expression operator+(const Expression& a, const Expression& b) { return fold("+", a, b); }
Expression operator-(const Expression& a, const Expression& b) { return fold("-", a, b); }
Expression operator*(const Expression& a, const Expression& b) { return fold("*", a, b); }
Expression Expression::floor_divide(const Expression& a, const Expression& b) { return fold("//", a, b); }

// ---- evaluation ------------------------------------------------------------------------------------

namespace {

Value evaluate_call(const std::string& name, const std::vector<Value>& values) {
    if (name == "abs") {
        if (const auto* integer = std::get_if<int64_t>(&values[0]))
            return *integer < 0 ? integer_arithmetic("-", 0, *integer) : *integer;
        return std::fabs(number(values[0]));
    }
    if (name == "ceildiv") {
        Value negated = arithmetic("-", int64_t{0}, values[0]);
        return arithmetic("-", int64_t{0}, arithmetic("//", negated, values[1]));
    }
    Value best = values[0];
    for (const Value& value : values)
        if (name == "min" ? compare("<", value, best) : compare(">", value, best)) best = value;
    return best;
}

}  // namespace

Value Expression::evaluate(const Bindings& bindings) const {
    const Node& node = *node_;
    const auto& arguments = node.arguments;
    switch (node.kind) {
        case Kind::number:
        case Kind::text: return node.value;
        case Kind::symbol: {
            auto found = bindings.find(node.name);
            if (found == bindings.end()) fail(fmt::format("'{}' is not defined", node.name));
            return found->second;
        }
        case Kind::unary: {
            Value inner = arguments[0].evaluate(bindings);
            if (node.name == "not") return int64_t{!truthy(inner)};
            return arithmetic("-", int64_t{0}, inner);
        }
        case Kind::binary: {
            Value left = arguments[0].evaluate(bindings);
            if (node.name == "or") return truthy(left) ? left : arguments[1].evaluate(bindings);
            if (node.name == "and") return truthy(left) ? arguments[1].evaluate(bindings) : left;
            return arithmetic(node.name, left, arguments[1].evaluate(bindings));
        }
        case Kind::compare: {
            Value left = arguments[0].evaluate(bindings);
            for (size_t i = 0; i < node.comparisons.size(); ++i) {
                const std::string& op = node.comparisons[i];
                if (op == "in" || op == "not in") {
                    bool found = false;
                    for (const Expression& item : arguments[i + 1].node_->arguments)
                        found = found || equal(left, item.evaluate(bindings));
                    if (found != (op == "in")) return int64_t{0};
                    continue;
                }
                Value right = arguments[i + 1].evaluate(bindings);
                if (!compare(op, left, right)) return int64_t{0};
                left = right;
            }
            return int64_t{1};
        }
        case Kind::call: {
            std::vector<Value> values;
            for (const Expression& argument : arguments) values.push_back(argument.evaluate(bindings));
            return evaluate_call(node.name, values);
        }
        case Kind::tuple: fail("a list is only allowed after 'in'");
    }
    return int64_t{0};
}

int64_t Expression::evaluate_integer(const Bindings& bindings) const {
    Value value = evaluate(bindings);
    if (const auto* integer = std::get_if<int64_t>(&value)) return *integer;
    double x = to_double(value);
    if (!(x == std::floor(x)) || std::fabs(x) > 9e15)
        fail(fmt::format("'{}' is {}, not a whole number", text(), to_string(value)));
    return static_cast<int64_t>(x);
}

std::set<std::string> Expression::symbols() const {
    std::set<std::string> names;
    if (node_->kind == Kind::symbol) names.insert(node_->name);
    for (const Expression& argument : node_->arguments) names.merge(argument.symbols());
    return names;
}

bool Expression::is_literal() const { return node_->kind == Kind::number; }
bool Expression::is_literal(int64_t number) const {
    return is_literal() && std::holds_alternative<int64_t>(node_->value) && std::get<int64_t>(node_->value) == number;
}
bool Expression::is_symbol() const { return node_->kind == Kind::symbol; }

Expression Expression::substitute(const std::map<std::string, Expression>& replacement) const {
    if (node_->kind == Kind::symbol) {
        auto found = replacement.find(node_->name);
        return found == replacement.end() ? *this : found->second;
    }
    if (node_->arguments.empty()) return *this;
    Node copy = *node_;
    for (Expression& argument : copy.arguments) argument = argument.substitute(replacement);
    static const std::set<std::string> foldable = {"+", "-", "*", "//", "%"};
    if (copy.kind == Kind::binary && foldable.count(copy.name))
        return fold(copy.name, copy.arguments[0], copy.arguments[1]);
    return ExpressionParser::make(std::move(copy));
}

}  // namespace strop
