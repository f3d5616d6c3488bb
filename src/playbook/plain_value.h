// The C++ text of one value at one index, for plain loops.
#pragma once

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "graph/decisions.h"
#include "graph/graph.h"

namespace strop::playbook {

// A piece of C++ and the number of loops around it that must be open.
struct Term {
    std::string text;
    int depth = 0;
    bool atomic = true;  // needs no parentheses

    std::string grouped() const { return atomic ? text : "(" + text + ")"; }
};
using TermIndex = std::vector<Term>;

Term plus(const Term& a, const Term& b);
Term times(const Term& a, const Term& b);
Term extent_term(const Expression& extent);

// Collects what the body of a nest says at each depth.
class PlainValues {
public:
    PlainValues(const Graph& graph, std::set<std::string> taken)
        : graph_(graph),
          rounded_(rounded_products(graph)),
          taken_(std::move(taken)) {}

    // The element of a value; statements that it needs are added.
    Term at(int id, const TermIndex& index);
    // The same where it may be evaluated under a condition: no statement is added.
    Term read(int id, const TermIndex& index);
    void add(int depth, const std::string& statement) { statements_[depth].push_back(statement); }
    std::string fresh(const std::string& name);  // an identifier that nothing else has

    const std::vector<std::string>& statements(int depth) { return statements_[depth]; }
    std::set<std::string> helpers;
    std::string lacks;

private:
    Term pointwise(const Node& node, const TermIndex& index);
    Term rounded(const Term& product);
    Term formula(const Node& node, const std::vector<Term>& operands);
    Term one_operand(const Node& node, const Term& a);
    Term layout(const Node& node, const TermIndex& index, bool conditional);
    Term padded(const Node& node, const TermIndex& index);
    Term gathered(const Node& node, const TermIndex& index);
    Term memory(const Node& node, const TermIndex& index) const;
    Term named(const Term& term, const Node& node);
    Term missing(const std::string& what);
    int uses(int id) const;

    const Graph& graph_;
    const std::set<int> rounded_;  // before they are added
    std::set<std::string> taken_;
    std::string no_bits_;  // a name, once it is needed
    std::map<int, std::vector<std::string>> statements_;
    std::map<std::pair<int, std::string>, Term> known_;
};

std::string plain_literal(double value, DType dtype);

}  // namespace strop::playbook
