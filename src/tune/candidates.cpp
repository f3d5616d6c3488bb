#include "tune/candidates.h"

namespace strop::tune {

namespace {

constexpr size_t most_combinations = 256;  // of a group of tunables

}  // namespace

Candidates::Candidates(const Space& space, const Positions& positions) : space_(space), positions_(positions) {
    for (size_t t = 0; t < positions_.tunables(); ++t) {
        size_t values = positions_.values(t);
        if (groups_.empty() || groups_.back().combinations * values > most_combinations) groups_.push_back({t, t, 1});
        groups_.back().last = t + 1;
        groups_.back().combinations *= values;
    }
}

void Candidates::set(std::vector<size_t> rows) {
    rows_ = std::move(rows);
    columns_.assign(groups_.size(), Point(rows_.size()));
    for (size_t c = 0; c < rows_.size(); ++c) {
        Point point = space_.coordinates(rows_[c]);
        for (size_t g = 0; g < groups_.size(); ++g) {
            size_t combination = 0;
            for (size_t t = groups_[g].last; t-- > groups_[g].first;)
                combination = combination * positions_.values(t) + point[t];
            columns_[g][c] = static_cast<uint16_t>(combination);
        }
    }
}

std::vector<float> Candidates::distances(const Group& group, const Point& point, const Weights& weights) const {
    std::vector<float> result = {0};
    for (size_t t = group.first; t < group.last; ++t) {
        std::vector<float> longer;
        for (size_t v = 0; v < positions_.values(t); ++v) {
            double step = positions_.squared_step(t, static_cast<uint16_t>(v), point[t]);
            float own = v == point[t] ? 0 : static_cast<float>(weights.of[t] * (step + weights.hamming));
            for (float before : result) longer.push_back(before + own);
        }
        result = std::move(longer);
    }
    return result;
}

std::vector<float> Candidates::covariances(const Point& point, const Weights& weights) const {
    std::vector<float> result(rows_.size(), 0.0f);
    for (size_t g = 0; g < groups_.size(); ++g) {
        std::vector<float> apart = distances(groups_[g], point, weights);
        for (size_t c = 0; c < result.size(); ++c) result[c] += apart[columns_[g][c]];
    }
    for (float& value : result) value = matern52(value);
    return result;
}

}  // namespace strop::tune
