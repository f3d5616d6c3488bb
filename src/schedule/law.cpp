#include "schedule/law.h"

#include <limits>

#include "graph/operations.h"

namespace strop::schedule {

namespace {

constexpr double most_places = 9e18;  // behind all places of an axis

class LawTerms {
public:
    int part(const std::string& name, DType dtype) { return add({Term::Kind::result, dtype, 0, name, {}, {}, ""}); }
    int point(const std::string& op, std::vector<int> operands, DType dtype) {
        return add({Term::Kind::pointwise, dtype, 0, op, {}, std::move(operands), ""});
    }
    std::vector<Term> terms;

private:
    int add(Term term) {
        terms.push_back(std::move(term));
        return static_cast<int>(terms.size()) - 1;
    }
};

std::string pointwise_of(const std::string& fold) {
    if (fold == "sum") return "add";
    if (fold == "prod") return "multiply";
    if (fold == "max") return "maximum";
    if (fold == "min") return "minimum";
    return fold == "any" ? "logical_or" : "logical_and";
}

// What changes nothing: infinite only where the type has infinities.
double start_of(const std::string& op, DType dtype) {
    const double start = find_operation(Family::reduction, op)->start;
    if (is_floating(dtype) || std::abs(start) <= 1) return start;
    const double most = dtype == DType::int64   ? 0x1p62
                        : dtype == DType::int32 ? 2147483647.0
                        : dtype == DType::int8  ? 127
                                                : 255;
    if (start > 0) return most;
    return dtype == DType::uint8 || dtype == DType::boolean ? 0 : -most;
}

}  // namespace

Law fold_law(const std::string& op, DType dtype) {
    LawTerms law;
    const int merged = law.point(pointwise_of(op), {law.part("a_" + op, dtype), law.part("b_" + op, dtype)}, dtype);
    return {op, {{op, dtype, start_of(op, dtype)}}, std::move(law.terms), {merged}};
}

Law extremum_law(const std::string& op, DType dtype) {
    const std::string better = op == "argmax" ? "greater" : "less";
    constexpr DType truth = DType::boolean, index = DType::int64;
    LawTerms law;
    const int a = law.part("a_value", dtype), b = law.part("b_value", dtype);
    const int a_place = law.part("a_place", index), b_place = law.part("b_place", index);
    // The later state wins if it is better, or as good and earlier; a NaN is better than all numbers.
    int earlier = law.point("less", {b_place, a_place}, truth);
    int wins = law.point(better, {b, a}, truth), equal = law.point("equal", {a, b}, truth);
    if (is_floating(dtype)) {
        const int a_nan = law.point("isnan", {a}, truth), b_nan = law.point("isnan", {b}, truth);
        const int both = law.point("logical_and", {a_nan, b_nan}, truth);
        const int only_b = law.point("logical_and", {b_nan, law.point("logical_not", {a_nan}, truth)}, truth);
        wins = law.point("logical_or", {wins, only_b}, truth);
        equal = law.point("logical_or", {equal, both}, truth);
    }
    wins = law.point("logical_or", {wins, law.point("logical_and", {equal, earlier}, truth)}, truth);
    const int value = law.point("where", {wins, b, a}, dtype),
              place = law.point("where", {wins, b_place, a_place}, index);
    const double start = start_of(op == "argmax" ? "max" : "min", dtype);
    return {op, {{"value", dtype, start}, {"place", index, most_places}}, std::move(law.terms), {value, place}};
}

Law normalizer_law(DType dtype) {
    const double lowest = dtype == DType::float32 ? -static_cast<double>(std::numeric_limits<float>::max())
                                                  : -std::numeric_limits<double>::max();
    LawTerms law;
    const int a = law.part("a_largest", dtype), b = law.part("b_largest", dtype);
    const int largest = law.point("maximum", {a, b}, dtype);
    auto scaled = [&](const std::string& sum, int own) {
        return law.point(
            "multiply", {law.part(sum, dtype), law.point("exp", {law.point("subtract", {own, largest}, dtype)}, dtype)},
            dtype);
    };
    const int first = scaled("a_sum", a), second = scaled("b_sum", b);
    const int sum = law.point("add", {first, second}, dtype);
    return {"normalizer", {{"largest", dtype, lowest}, {"sum", dtype, 0}}, std::move(law.terms), {largest, sum}};
}

}  // namespace strop::schedule
