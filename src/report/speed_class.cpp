#include "report/speed_class.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "stats/sample.h"

namespace strop::report {

namespace {

bool is_bounded(const ShapeReport& shape) { return shape.roofline_share > 0 && !shape.bound_is_beaten(); }

// Of two shapes in one class the slower; those without a baseline last.
double rank(const ShapeReport& shape) {
    return shape.best_baseline.empty() ? std::numeric_limits<double>::infinity() : shape.speedup.ratio;
}

}  // namespace

std::string name_of(SpeedClass value) {
    switch (value) {
        case SpeedClass::slow: return "slow";
        case SpeedClass::moderate: return "moderate";
        case SpeedClass::good: break;
    }
    return "good";
}

SpeedClass speed_class(const ShapeReport& shape, double threshold) {
    if (is_bounded(shape) && shape.roofline_share >= threshold) return SpeedClass::good;
    if (shape.best_baseline.empty()) return SpeedClass::moderate;
    if (shape.speedup.ratio >= 1) return SpeedClass::good;
    return shape.speedup.ratio < threshold ? SpeedClass::slow : SpeedClass::moderate;
}

Standpoint standpoint(const RunRecord& record, double threshold) {
    const auto worse = [&](const ShapeReport& a, const ShapeReport& b) {
        const SpeedClass of_a = speed_class(a, threshold), of_b = speed_class(b, threshold);
        return of_a != of_b ? of_a < of_b : rank(a) < rank(b);
    };
    const ShapeReport& worst = *std::min_element(record.shapes.begin(), record.shapes.end(), worse);
    Standpoint result{speed_class(worst, threshold), worst.label, worst.speedup, worst.best_baseline, 0};
    std::vector<double> shares;
    for (const ShapeReport& shape : record.shapes)
        if (is_bounded(shape)) shares.push_back(shape.roofline_share);
    if (!shares.empty()) result.roofline_share = stats::geometric_mean(shares);
    return result;
}

}  // namespace strop::report
