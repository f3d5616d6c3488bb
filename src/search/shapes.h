// Shapes to measure at: between, around and far from those that are known.
#pragma once

#include <random>
#include <set>
#include <vector>

#include "core/problem.h"

namespace strop::search {

// Draws shapes that the problem admits and whose buffers fit. Never one twice, none of `seen`.
class ShapeSource {
public:
    ShapeSource(const Problem& problem, int64_t max_bytes, uint64_t seed, const std::vector<ShapePoint>& seen);

    // Log-uniform in the range; with `boundaries` some dimensions take values where kernels break: 1, the
    // ends of the range, powers of two and their neighbours, primes. Nothing after many refused draws.
    std::optional<ShapePoint> draw(bool boundaries);
    // The geometric middle of two shapes, or nothing when that is one of them, seen or not admitted.
    std::optional<ShapePoint> between(const Dimensions& a, const Dimensions& b);
    // `dims` with one dimension scaled.
    std::optional<ShapePoint> scaled(Dimensions dims, const std::string& dimension, double factor);

private:
    std::optional<ShapePoint> take(const Dimensions& dims);
    bool fits(const Dimensions& dims) const;
    int64_t log_uniform(const Range& range);
    int64_t boundary(const Range& range);
    double uniform();

    const Problem& problem_;
    int64_t max_bytes_;
    std::mt19937_64 random_;
    std::set<Dimensions> seen_;
};

}  // namespace strop::search
