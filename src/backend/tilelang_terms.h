// Terms of a launch as text of TileLang: expressions over one position, which a thread or a lane has.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "backend/launch_parts.h"
#include "backend/term_text.h"

namespace strop::backend {

class TileLangTerms : public TermText {
public:
    TileLangTerms(Context context, Names& names) : TermText(context, names) {}

    // An element of a tensor, of which all are flat.
    std::string element(const std::string& tensor, const std::vector<Expression>& at) const;

private:
    Text spelled(int id) override;
    std::string statement(DType, const std::string& name, const std::string& text) const override {
        return name + " = " + text;
    }
    Text pointwise(const schedule::Term& term);
    Text one_operand(const schedule::Term& term, const Text& a);
    Text shifted(const schedule::Term& term, const Text& a, const Text& b);
    Text float_remainder(const schedule::Term& term, const Text& a, const Text& b);
    Text float_quotient(const schedule::Term& term, const Text& a, const Text& b);
    Text chosen(const std::string& condition, int inside, int outside);
    std::string truth(int operand);
    std::string repeated(const Text& text, const std::string& word);

    std::map<std::string, int> repeated_;  // texts that have names: which of named_, from -1 down
};

std::string tilelang_text(const Expression& expression);
std::string tilelang_literal(double value, DType dtype);  // tl.float32(0.5)
std::string tilelang_type(DType dtype);                   // "float32", in quotes

// `into` = the law's merge of `into` and `from`. The context's terms are not read.
void merge_states(const schedule::Law& law, const std::vector<std::string>& into, const std::vector<std::string>& from,
                  TermText::Context context, Names& names, Lines& lines);
// The text of the merge of two states of one part.
std::string merge_of_states(const schedule::Law& law, const std::string& a, std::string b, TermText::Context context,
                            Names& names, Lines& lines);

}  // namespace strop::backend
