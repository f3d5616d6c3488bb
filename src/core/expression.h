// Arithmetic over named values in Python's syntax and with Python's meaning: shapes ("(H+2*pad-R)//stride+1"),
// work ("8*M*N"), constraints on tunables ("MR*NR/16 <= 28 and KC % 8 == 0"), conditions of dispatch.
//
// Operators, loosest first: or, and, not, comparisons (chained, `in (a, b)`), + -, * / // %, unary + -, **;
// functions min, max, abs, ceildiv. Integers are exact 64-bit; `/` gives a float; `//` and `%` floor.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <variant>
#include <vector>

namespace strop {

// A number or a text (texts come from tunables and only compare).
using Value = std::variant<int64_t, double, std::string>;

std::string to_string(const Value& value);  // Python's str()
double to_double(const Value& value);       // NaN for a text
bool truthy(const Value& value);

using Bindings = std::map<std::string, Value>;

class Expression {
public:
    struct Node;  // immutable, shared

    Expression() : Expression(int64_t{0}) {}
    Expression(int64_t number);  // a literal
    static Expression symbol(const std::string& name);
    // Throws UsageError "…: expected ')' at column 7".
    static Expression parse(const std::string& text);

    Value evaluate(const Bindings& bindings) const;            // UsageError on unknown names, division by zero
    int64_t evaluate_integer(const Bindings& bindings) const;  // UsageError when not a whole number
    std::set<std::string> symbols() const;
    bool is_literal() const;
    bool is_literal(int64_t number) const;
    bool is_symbol() const;

    std::string text() const;  // Python syntax, minimal parentheses; parse(text()) is equal
    // C++ over int64_t variables of the same names. `//` becomes `/` and `%` stays: the caller vouches that
    // operands are non-negative. `/` becomes division of doubles; min/max become std::min<int64_t>/std::max. UsageError
    // when it would be longer than 64 KiB.
    std::string cpp() const;

    // Structural equality after folding of literals ("M*1" equals "M"; no algebra beyond that).
    friend bool operator==(const Expression& a, const Expression& b) { return a.text() == b.text(); }
    friend bool operator<(const Expression& a, const Expression& b) { return a.text() < b.text(); }

    friend Expression operator+(const Expression& a, const Expression& b);
    friend Expression operator-(const Expression& a, const Expression& b);
    friend Expression operator*(const Expression& a, const Expression& b);
    static Expression floor_divide(const Expression& a, const Expression& b);

    // Every symbol that `replacement` names is replaced.
    Expression substitute(const std::map<std::string, Expression>& replacement) const;

    const Node& node() const { return *node_; }
    explicit Expression(std::shared_ptr<const Node> node) : node_(std::move(node)) {}

private:
    std::shared_ptr<const Node> node_;
};

}  // namespace strop
