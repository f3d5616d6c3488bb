// How alike the costs of two configurations should be: Matérn 5/2 on a distance with one weight a tunable.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <vector>

#include "core/kernel.h"

namespace strop::tune {

using Point = std::vector<uint16_t>;  // the index of each tunable's value

struct Weights {
    std::vector<double> of;  // one a tunable
    double hamming;          // part of a difference that does not depend on how far
    double noise;            // variance relative to the process's
};

// Where the values of tunables lie: numbers by their ranks, spread over [0, 1]; of texts, flags and pairs of values
// one can only say whether they are the same.
class Positions {
public:
    explicit Positions(const std::vector<Tunable>& tunables);

    size_t tunables() const { return of_.size(); }
    size_t values(size_t tunable) const { return of_[tunable].size(); }
    // The square of how far two values are apart.
    float squared_step(size_t tunable, uint16_t a, uint16_t b) const {
        if (a == b) return 0;
        float step = ordered_[tunable] ? of_[tunable][a] - of_[tunable][b] : 0.5f;
        return step * step;
    }
    double squared_distance(const Point& a, const Point& b, const Weights& weights) const;

private:
    std::vector<std::vector<float>> of_;
    std::vector<bool> ordered_;
};

// e^-x for x >= 0 with a relative error below 1e-5, in operations that compilers vectorise: 2^-n times a polynomial.
inline float exp_of_minus(float x) {
    float scaled = std::min(x, 80.0f) * 1.44269504f;
    int32_t whole = static_cast<int32_t>(scaled + 0.5f);
    float r = (static_cast<float>(whole) - scaled) * 0.69314718f;
    float power = 1 + r * (1 + r * (1 / 2.0f + r * (1 / 6.0f + r * (1 / 24.0f + r * (1 / 120.0f + r / 720.0f)))));
    return power * std::bit_cast<float>((127 - whole) << 23);
}

inline float matern52(float squared_distance) {
    float r = std::sqrt(5 * squared_distance);
    return (1 + r + r * r * (1.0f / 3)) * exp_of_minus(r);
}

inline float covariance(const Positions& positions, const Point& a, const Point& b, const Weights& weights) {
    return matern52(static_cast<float>(positions.squared_distance(a, b, weights)));
}

}  // namespace strop::tune
