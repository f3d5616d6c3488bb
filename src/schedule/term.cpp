#include "schedule/term.h"

#include <algorithm>

namespace strop::schedule {

std::vector<int> cone(const std::vector<Term>& terms, int term) {
    std::vector<int> order;
    std::vector<char> seen(terms.size(), 0);
    auto visit = [&](auto&& self, int id) -> void {
        if (seen[static_cast<size_t>(id)]) return;
        seen[static_cast<size_t>(id)] = 1;
        const Term& one = terms[static_cast<size_t>(id)];
        for (const Expression& expression : one.at)
            for (const std::string& symbol : expression.symbols())
                for (int earlier = 0; earlier < id; ++earlier)
                    if (terms[static_cast<size_t>(earlier)].place == symbol) self(self, earlier);
        for (int operand : one.operands) self(self, operand);
        order.push_back(id);
    };
    visit(visit, term);
    return order;
}

std::set<std::string> reads(const std::vector<Term>& terms, const std::vector<int>& wanted) {
    std::set<std::string> names;
    for (int target : wanted)
        for (int id : cone(terms, target)) {
            const Term& term = terms[static_cast<size_t>(id)];
            for (const Expression& expression : term.at) names.merge(expression.symbols());
            if (term.kind == Term::Kind::result) names.insert(term.name);
        }
    return names;
}

}  // namespace strop::schedule
