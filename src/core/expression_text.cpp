// Printing of expressions, as Python, as Python over arrays, and as C++.
#include <fmt/format.h>

#include "base/error.h"
#include "base/strings.h"
#include "core/expression_arrays.h"
#include "core/expression_node.h"

namespace strop {

namespace {

using Node = Expression::Node;
using Kind = Expression::Node::Kind;

// Binding strengths.
int precedence(const Node& node) {
    switch (node.kind) {
        case Kind::binary:
            if (node.name == "or") return 1;
            if (node.name == "and") return 2;
            if (node.name == "+" || node.name == "-") return 5;
            if (node.name == "**") return 8;
            return 6;
        case Kind::unary: return node.name == "not" ? 3 : 7;
        case Kind::compare: return 4;
        case Kind::number: {
            bool negative = to_double(node.value) < 0;
            return negative ? 7 : 9;
        }
        default: return 9;
    }
}

enum class Dialect { python, arrays, cpp };

constexpr size_t longest_cpp = 1 << 16;

std::string print(const Expression& expression, Dialect dialect);

// `tight`: also wrap a child of the same strength (the right side of a left-associative operator).
std::string print_within(const Node& parent, const Expression& child, Dialect dialect, bool tight) {
    std::string text = print(child, dialect);
    int outer = precedence(parent), inner = precedence(child.node());
    return inner < outer || (inner == outer && tight) ? "(" + text + ")" : text;
}

// `&` and `|` bind tighter than comparisons.
std::string print_joined(const Node& node) {
    auto side = [&](const Expression& child) {
        const std::string text = print(child, Dialect::arrays), &name = child.node().name;
        const bool same = child.node().kind == Kind::binary && (name == node.name || name == "and");
        return same || child.is_symbol() ? text : "(" + text + ")";
    };
    return fmt::format("{} {} {}", side(node.arguments[0]), node.name == "or" ? "|" : "&", side(node.arguments[1]));
}

std::string print_binary(const Node& node, Dialect dialect) {
    const std::string& op = node.name;
    const auto& [left, right] = std::pair(node.arguments[0], node.arguments[1]);
    if (dialect == Dialect::arrays && (op == "or" || op == "and")) return print_joined(node);
    if (dialect != Dialect::cpp) {
        bool power = op == "**";
        return fmt::format("{}{}{}", print_within(node, left, dialect, power),
                           op == "or" || op == "and" || op == "+" || op == "-" ? " " + op + " " : op,
                           print_within(node, right, dialect, !power));
    }
    if (op == "**") return fmt::format("std::pow({}, {})", print(left, dialect), print(right, dialect));
    if (op == "/") return fmt::format("double({}) / double({})", print(left, dialect), print(right, dialect));
    std::string spelled = op == "or" ? "||" : op == "and" ? "&&" : op == "//" ? "/" : op;
    auto side = [&](const Expression& child, bool tight) {
        bool mixed = op == "or" && child.node().name == "and";  // compilers warn about a && b || c
        return mixed ? "(" + print(child, dialect) + ")" : print_within(node, child, dialect, tight);
    };
    return fmt::format("{} {} {}", side(left, false), spelled, side(right, true));
}

std::string print_compare(const Node& node, Dialect dialect) {
    auto side = [&](size_t i) { return print_within(node, node.arguments[i], dialect, true); };
    if (dialect == Dialect::python) {
        std::string text = side(0);
        for (size_t i = 0; i < node.comparisons.size(); ++i) {
            const Node& right = node.arguments[i + 1].node();
            text += fmt::format(" {} {}", node.comparisons[i],
                                right.kind == Kind::tuple ? print(node.arguments[i + 1], dialect) : side(i + 1));
        }
        return text;
    }
    const bool arrays = dialect == Dialect::arrays;
    const char *open = arrays ? "(" : "", *closing = arrays ? ")" : "";
    std::vector<std::string> terms;
    for (size_t i = 0; i < node.comparisons.size(); ++i) {
        const std::string& op = node.comparisons[i];
        if (op != "in" && op != "not in") {
            terms.push_back(fmt::format("{} {} {}", side(i), op, side(i + 1)));
            continue;
        }
        std::vector<std::string> equal;
        for (const Expression& item : node.arguments[i + 1].node().arguments)
            equal.push_back(fmt::format("{}{} == {}{}", open, side(i), print(item, dialect), closing));
        const std::string none = arrays ? "False" : "false";
        std::string any = "(" + (equal.empty() ? none : join(equal, arrays ? " | " : " || ")) + ")";
        terms.push_back(op == "in" ? any : (arrays ? "~" : "!") + any);
    }
    if (terms.size() == 1) return terms[0];
    return arrays ? "((" + join(terms, ") & (") + "))" : "(" + join(terms, " && ") + ")";
}

std::string print_call(const Node& node, Dialect dialect) {
    std::vector<std::string> arguments;
    for (const Expression& argument : node.arguments) arguments.push_back(print(argument, dialect));
    if (dialect != Dialect::cpp) return fmt::format("{}({})", node.name, join(arguments, ", "));
    if (node.name == "abs") return fmt::format("std::abs({})", arguments[0]);
    if (node.name == "ceildiv") {
        auto grouped = [&](size_t i) {
            return precedence(node.arguments[i].node()) == 9 ? arguments[i] : "(" + arguments[i] + ")";
        };
        return fmt::format("(({0} + {1} - 1) / {1})", grouped(0), grouped(1));
    }
    std::string text = arguments[0];
    for (size_t i = 1; i < arguments.size(); ++i)
        text = fmt::format("std::{}<int64_t>({}, {})", node.name, text, arguments[i]);
    return text;
}

// A text holds at most one kind of quote, because it was read without escapes.
std::string quoted(const std::string& text) {
    char quote = text.find('\'') == std::string::npos ? '\'' : '"';
    return quote + text + quote;
}

std::string cpp_quoted(const std::string& text) {
    return '"' + replace_all(replace_all(text, "\\", "\\\\"), "\"", "\\\"") + '"';
}

std::string print_node(const Node& node, Dialect dialect) {
    switch (node.kind) {
        case Kind::number: return to_string(node.value);
        case Kind::text:
            return dialect != Dialect::cpp ? quoted(to_string(node.value)) : cpp_quoted(to_string(node.value));
        case Kind::symbol: return node.name;
        case Kind::unary: {
            // In C++ `!` binds tighter than comparisons, and `--` is a decrement.
            if (dialect == Dialect::arrays && node.name == "not") return "~(" + print(node.arguments[0], dialect) + ")";
            bool bare = dialect != Dialect::cpp || node.arguments[0].node().kind == Kind::symbol;
            std::string inner = bare ? print_within(node, node.arguments[0], dialect, false)
                                     : "(" + print(node.arguments[0], dialect) + ")";
            return (node.name == "not" ? (dialect != Dialect::cpp ? "not " : "!") : "-") + inner;
        }
        case Kind::binary: return print_binary(node, dialect);
        case Kind::compare: return print_compare(node, dialect);
        case Kind::call: return print_call(node, dialect);
        case Kind::tuple: {
            std::vector<std::string> items;
            for (const Expression& item : node.arguments) items.push_back(print(item, dialect));
            return "(" + join(items, ", ") + ")";
        }
    }
    return {};
}

// C++ says some operands twice, which doubles with every level.
std::string print(const Expression& expression, Dialect dialect) {
    std::string text = print_node(expression.node(), dialect);
    if (dialect == Dialect::cpp && text.size() > longest_cpp)
        throw UsageError(fmt::format("'{:.60}...' is too long in C++", expression.text()),
                         "nest 'in' and 'ceildiv' less");
    return text;
}

}  // namespace

std::string Expression::text() const { return print(*this, Dialect::python); }
std::string Expression::cpp() const { return print(*this, Dialect::cpp); }
std::string over_arrays(const Expression& expression) { return print(expression, Dialect::arrays); }

}  // namespace strop
