#include "tune/covariance.h"

#include <algorithm>

namespace strop::tune {

namespace {

bool is_ordered(const Tunable& tunable) {
    bool numbers = std::none_of(tunable.values.begin(), tunable.values.end(),
                                [](const Value& value) { return std::holds_alternative<std::string>(value); });
    return numbers && tunable.kind != Tunable::Kind::flags && tunable.values.size() > 2;
}

std::vector<float> ranks(const Tunable& tunable) {
    std::vector<double> values, sorted;
    for (const Value& value : tunable.values) values.push_back(to_double(value));
    sorted = values;
    std::sort(sorted.begin(), sorted.end());
    std::vector<float> result;
    for (double value : values) {
        auto rank = std::lower_bound(sorted.begin(), sorted.end(), value) - sorted.begin();
        result.push_back(static_cast<float>(rank) / static_cast<float>(values.size() - 1));
    }
    return result;
}

}  // namespace

Positions::Positions(const std::vector<Tunable>& tunables) {
    for (const Tunable& tunable : tunables) {
        ordered_.push_back(is_ordered(tunable));
        of_.push_back(ordered_.back() ? ranks(tunable) : std::vector<float>(tunable.values.size()));
    }
}

double Positions::squared_distance(const Point& a, const Point& b, const Weights& weights) const {
    double sum = 0;
    for (size_t t = 0; t < a.size(); ++t)
        if (a[t] != b[t]) sum += weights.of[t] * (squared_step(t, a[t], b[t]) + weights.hamming);
    return sum;
}

}  // namespace strop::tune
