// Terms of a launch as text of Triton: a term is a scalar of the program, or a vector along lanes.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "backend/launch_parts.h"
#include "backend/term_text.h"
#include "core/expression_arrays.h"

namespace strop::backend {

// An axis of vectors: a name that runs along it, and the lanes that there are work for.
struct Lane {
    std::string name, mask;
    friend bool operator==(const Lane& a, const Lane& b) { return a.mask == b.mask; }
};
using Lanes = std::vector<Lane>;

class TritonTerms : public TermText {
public:
    TritonTerms(Context context, Helpers& helpers, Names& names) : TermText(context, names), helpers_(helpers) {}

    // `name`, a symbol or a result, runs along these lanes.
    void set_lanes(const std::string& name, Lanes lanes) { lanes_[name] = std::move(lanes); }
    void set_result(const std::string& name, const std::string& text, Lanes lanes) {
        TermText::set_result(name, text);
        set_lanes(name, std::move(lanes));
    }
    // A symbol that expressions spell otherwise from now on: "k[:, None]".
    void set_symbol(const std::string& name, const std::string& text) { symbols_[name] = Expression::symbol(text); }
    // What a load gives in lanes without work; 0 where nothing was said.
    void set_outside(int load, double value) { outside_[load] = value; }
    // Whether the term is a load that gives this wherever it does not load.
    bool is_masked_load(int term, double outside) const;

    Lanes lanes_of(int term) const;
    // The text of a term, as wide as its type.
    std::string element(int term);
    std::string text(const Expression& expression) const;
    // A pointer to that place, along all of these lanes.
    std::string pointer(const std::string& tensor, const std::vector<Expression>& at, const Lanes& along) const;

private:
    Text spelled(int id) override;
    std::string statement(DType, const std::string& name, const std::string& text) const override {
        return name + " = " + text;
    }
    std::string word_of_load(const schedule::Term& load) const override { return load.name; }
    bool names_first(const schedule::Term& term) const override { return term.kind == schedule::Term::Kind::load; }

    bool gives_outside(int load, double value) const {
        auto known = outside_.find(load);
        return value == (known == outside_.end() ? 0 : known->second);
    }
    Lanes lanes_of(const std::vector<Expression>& expressions) const;
    Text load(int id);
    Text guarded(const schedule::Term& term);
    Text pointwise(const schedule::Term& term);
    Text one_operand(const schedule::Term& term, const Text& a);
    Text shifted(const schedule::Term& term, const Text& a, const Text& b);
    Text call(const std::string& helper, const std::vector<Text>& operands);
    Text truth(int operand);
    Text wide(int operand, const schedule::Term& in);

    Helpers& helpers_;
    std::map<std::string, Lanes> lanes_;
    std::map<std::string, Expression> symbols_;
    std::map<int, double> outside_;
    std::vector<Expression> guards_;            // that hold where a term is wanted
    std::map<std::string, int> guarded_loads_;  // by their text: which of named_, from -1 down
};

// All lanes together; empty where there are none.
std::string mask_of(const Lanes& lanes);
std::string triton_literal(double value, DType dtype);
std::string triton_type(DType dtype);  // "tl.float32"
// The function of the module that merges two states of this law; it is added to the helpers.
std::string law_function(const schedule::Law& law, Helpers& helpers, std::string& lacks);

// Names of functions that a module may define.
std::set<std::string> triton_helper_names();

}  // namespace strop::backend
