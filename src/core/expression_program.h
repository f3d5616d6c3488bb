// An expression that is evaluated many times over whole numbers, which lie in an array instead of a map by name.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/expression.h"

namespace strop {

class ExpressionProgram {
public:
    // `place_of` says where a symbol's number lies, -1: nowhere. nullopt where it says so, or where a result may be no
    // whole number: quotients by `/`, powers, texts and lists.
    static std::optional<ExpressionProgram> of(const Expression& expression,
                                               const std::function<int(const std::string&)>& place_of);

    // As Expression::evaluate, and with its errors. A symbol whose place is not known is not defined.
    int64_t run(const std::vector<int64_t>& numbers, const std::vector<char>& known) const;

private:
    enum class Operation {
        number,
        symbol,
        negate,
        invert,
        add,
        subtract,
        multiply,
        floor_divide,
        remainder,
        either,
        both,
        least,
        most,
        absolute,
        ceil_divide,
        compare
    };
    struct Step {
        Operation operation;
        int64_t number = 0;                    // number; of a symbol its place
        std::string text;                      // of a symbol its name
        std::vector<size_t> operands;          // earlier steps
        std::vector<std::string> comparisons;  // between them
    };

    std::optional<size_t> add(const Expression& expression, const std::function<int(const std::string&)>& place_of);
    int64_t value(size_t step, const std::vector<int64_t>& numbers, const std::vector<char>& known) const;

    std::vector<Step> steps_;
};

}  // namespace strop
