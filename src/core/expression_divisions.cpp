#include "core/expression_divisions.h"

#include <string>

#include "core/expression_node.h"

namespace strop {

std::vector<std::pair<Expression, Expression>> divisions_in(const Expression& expression) {
    using Kind = Expression::Node::Kind;
    const Expression::Node& node = expression.node();
    std::vector<std::pair<Expression, Expression>> found;
    for (const Expression& argument : node.arguments)
        for (auto& inner : divisions_in(argument)) found.push_back(std::move(inner));
    bool divides = (node.kind == Kind::binary && (node.name == "//" || node.name == "%")) ||
                   (node.kind == Kind::call && node.name == "ceildiv");
    if (divides) found.emplace_back(node.arguments[0], node.arguments[1]);
    return found;
}

}  // namespace strop
