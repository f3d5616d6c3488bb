#include "backend/term_text.h"

#include <fmt/format.h>

#include "graph/operations.h"

namespace strop::backend {

using schedule::Term;

namespace {

constexpr double costly = 5;    // an operation of which more is not repeated
constexpr size_t longest = 90;  // characters of an expression

bool is_trivial(const Term& term) {
    return term.kind == Term::Kind::number || term.kind == Term::Kind::parameter || term.kind == Term::Kind::result ||
           (term.kind == Term::Kind::index && (term.at[0].is_symbol() || term.at[0].is_literal()));
}

}  // namespace

std::string Names::fresh(const std::string& wanted) {
    std::string unique = wanted;
    for (int i = 2; !taken_.insert(unique).second; ++i) unique = fmt::format("{}_{}", wanted, i);
    return unique;
}

// All that is computed whatever the conditions of guarded terms are.
std::vector<int> TermText::evaluated(const std::vector<int>& wanted) const {
    std::vector<char> open(context_.terms.size(), 0);
    for (int id : wanted) open[static_cast<size_t>(id)] = 1;
    std::set<std::string> places;
    for (size_t i = open.size(); i-- > 0;) {
        const Term& term = context_.terms[i];
        if (!open[i] && !(places.contains(term.place) && !term.place.empty())) continue;
        open[i] = 1;
        if (named_.contains(static_cast<int>(i))) continue;  // so is all that it needs
        for (const Expression& expression : term.at) places.merge(expression.symbols());
        if (term.kind == Term::Kind::guarded) {
            // Places are statements, also those of guarded loads.
            for (int operand : term.operands)
                for (int below : schedule::cone(context_.terms, operand))
                    for (const Expression& expression : at(below).at) places.merge(expression.symbols());
            continue;
        }
        for (int operand : term.operands) open[static_cast<size_t>(operand)] = 1;
    }
    std::vector<int> order;
    for (size_t i = 0; i < open.size(); ++i)
        if (open[i]) order.push_back(static_cast<int>(i));
    return order;
}

void TermText::hoist(const std::vector<int>& wanted, const std::set<std::string>& inside, Lines& lines) {
    auto changes = [&](int id) {
        for (const std::string& name : schedule::reads(context_.terms, {id}))
            if (inside.contains(name)) return true;
        return false;
    };
    lines_ = &lines;
    const std::vector<int> all = evaluated(wanted);
    std::set<int> needed;  // by what changes in the loop, or by the caller itself
    needed.insert(wanted.begin(), wanted.end());
    for (int id : all)
        if (changes(id) && at(id).kind != Term::Kind::guarded)
            needed.insert(at(id).operands.begin(), at(id).operands.end());
    for (int id : all)
        if (!is_trivial(at(id)) && !named_.contains(id) && !changes(id) &&
            (needed.contains(id) || !at(id).place.empty()))
            name(id, lines);
    lines_ = nullptr;
}

void TermText::prepare(const std::vector<int>& wanted, Lines& lines) {
    lines_ = &lines;
    const std::vector<int> all = evaluated(wanted);
    std::map<int, int> uses;
    for (int id : wanted) ++uses[id];
    for (int id : all)
        for (int operand : at(id).operands) ++uses[operand];
    for (int id : all) {
        const Term& term = at(id);
        if (is_trivial(term) || named_.contains(id)) continue;
        const Operation* operation =
            term.kind == Term::Kind::pointwise ? find_operation(Family::pointwise, term.name) : nullptr;
        const bool shared =
            uses[id] > 1 || (operation && operation->cost >= costly && uses[id] > 0 && wanted.back() != id);
        if (shared || names_first(term) || !term.place.empty() || inlined(id).text.size() > longest) name(id, lines);
    }
    lines_ = nullptr;
}

void TermText::name(int id, Lines& lines) {
    const Term& term = at(id);
    const std::string word = !term.place.empty()                  ? term.place
                             : term.kind == Term::Kind::load      ? word_of_load(term)
                             : term.kind == Term::Kind::pointwise ? word_for(term.name)
                                                                  : "value";
    const std::string text = inlined(id).text;
    const std::string unique = term.place.empty() ? names_.fresh(word) : word;  // expressions read a place by its name
    lines.add(statement(term.dtype, unique, text));
    named_[id] = unique;
}

std::optional<TermText::Text> TermText::shifted_by_number(const Term& shift, const Text& a, const Text& b) const {
    const Term& by = at(shift.operands[1]);
    const double bits = 8 * static_cast<double>(size_of(shift.dtype));
    if (by.kind != Term::Kind::number || by.value < 0 || by.value >= bits) return std::nullopt;
    return Text{fmt::format("{} {} {}", a.grouped(), shift.name == "left_shift" ? "<<" : ">>", b.text), false};
}

TermText::Text TermText::missing(const std::string& what) {
    if (context_.lacks.empty()) context_.lacks = what;
    return {"0", true};
}

TermText::Text TermText::inlined(int id) {
    auto known = named_.find(id);
    return known == named_.end() ? spelled(id) : Text{known->second, true};
}

}  // namespace strop::backend
