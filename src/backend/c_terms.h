// Terms of a launch as text of a C-like language.
#pragma once

#include <string>
#include <vector>

#include "backend/dialect.h"
#include "backend/term_text.h"

namespace strop::backend {

class CTerms : public TermText {
public:
    CTerms(Context context, const Dialect& dialect, Helpers& helpers, Names& names)
        : TermText(context, names),
          dialect_(dialect),
          helpers_(helpers) {}

private:
    Text spelled(int id) override;
    std::string statement(DType dtype, const std::string& name, const std::string& text) const override;
    Text load(const schedule::Term& term);
    Text pointwise(const schedule::Term& term);
    Text one_operand(const schedule::Term& term, const Text& a);
    Text helper(const std::string& name, const schedule::Term& term, const std::vector<Text>& operands);

    const Dialect& dialect_;
    Helpers& helpers_;
};

std::string literal(double value, DType dtype, const Dialect& dialect);
std::string index_text(const Expression& expression, std::string& lacks);

}  // namespace strop::backend
