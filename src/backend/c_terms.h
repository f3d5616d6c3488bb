// Terms of a launch as text of a C-like language.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "backend/dialect.h"
#include "backend/term_text.h"

namespace strop::backend {

class CTerms : public TermText {
public:
    // `halves`: tensors whose elements have 16 bits, and are computed with as floats.
    CTerms(Context context, const Dialect& dialect, Helpers& helpers, Names& names,
           std::map<std::string, DType> halves = {})
        : TermText(context, names),
          dialect_(dialect),
          helpers_(helpers),
          halves_(std::move(halves)) {}

    // What an element of the tensor gets for a value.
    std::string stored(const std::string& tensor, const std::string& value);

private:
    Text spelled(int id) override;
    std::string statement(DType dtype, const std::string& name, const std::string& text) const override;
    Text load(const schedule::Term& term);
    Text pointwise(const schedule::Term& term);
    Text formula(const schedule::Term& term);
    Text one_operand(const schedule::Term& term, const Text& a);
    Text helper(const std::string& name, const schedule::Term& term, const std::vector<Text>& operands);

    const Dialect& dialect_;
    Helpers& helpers_;
    const std::map<std::string, DType> halves_;
};

std::string literal(double value, DType dtype, const Dialect& dialect);
std::string index_text(const Expression& expression, std::string& lacks);

}  // namespace strop::backend
