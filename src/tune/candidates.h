// Rows of a space to predict, kept so that what all of them have to do with a point comes of few look-ups.
#pragma once

#include <vector>

#include "tune/covariance.h"
#include "tune/space.h"

namespace strop::tune {

class Candidates {
public:
    Candidates(const Space& space, const Positions& positions);

    void set(std::vector<size_t> rows);
    const std::vector<size_t>& rows() const { return rows_; }
    size_t size() const { return rows_.size(); }
    std::vector<float> covariances(const Point& point, const Weights& weights) const;  // with each

private:
    // Tunables first, ..., last - 1, whose values together have few combinations: one look-up answers for all of them.
    struct Group {
        size_t first, last, combinations;
    };
    // Squared, of each combination.
    std::vector<float> distances(const Group& group, const Point& point, const Weights& weights) const;

    const Space& space_;
    Positions positions_;
    std::vector<Group> groups_;
    std::vector<size_t> rows_;
    std::vector<Point> columns_;  // group -> combination of each row
};

}  // namespace strop::tune
