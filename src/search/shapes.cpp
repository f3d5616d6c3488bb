#include "search/shapes.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "search/dispatch.h"

namespace strop::search {

namespace {

constexpr int refused_draws = 200;

bool is_prime(int64_t n) {
    for (int64_t d = 2; d * d <= n; ++d)
        if (n % d == 0) return false;
    return n > 1;
}

int64_t prime_at_most(int64_t n) {
    while (n > 2 && !is_prime(n)) --n;
    return n;
}

}  // namespace

ShapeSource::ShapeSource(const Problem& problem, int64_t max_bytes, uint64_t seed, const std::vector<ShapePoint>& seen)
    : problem_(problem),
      max_bytes_(max_bytes),
      random_(seed) {
    for (const ShapePoint& point : seen) seen_.insert(point.dims);
}

std::optional<ShapePoint> ShapeSource::draw(bool boundaries) {
    for (int i = 0; i < refused_draws; ++i) {
        Dimensions dims;
        for (const auto& [name, range] : problem_.range)
            dims[name] = boundaries && uniform() < 0.5 ? boundary(range) : log_uniform(range);
        if (std::optional<ShapePoint> point = take(dims)) return point;
    }
    return std::nullopt;
}

std::optional<ShapePoint> ShapeSource::between(const Dimensions& a, const Dimensions& b) {
    Dimensions dims;
    for (const auto& [name, value] : a) {
        double product = static_cast<double>(value) * static_cast<double>(b.at(name));
        dims[name] = std::llround(std::sqrt(product));
    }
    return take(dims);
}

std::optional<ShapePoint> ShapeSource::scaled(Dimensions dims, const std::string& dimension, double factor) {
    dims[dimension] = std::llround(static_cast<double>(dims[dimension]) * factor);
    return take(dims);
}

std::optional<ShapePoint> ShapeSource::take(const Dimensions& dims) {
    if (seen_.count(dims) || !fits(dims)) return std::nullopt;
    seen_.insert(dims);
    return ShapePoint{describe(dims), dims};
}

bool ShapeSource::fits(const Dimensions& dims) const {
    try {
        if (!admits(problem_, dims)) return false;
        int64_t sum = 0;
        for (const auto* tensors : {&problem_.inputs, &problem_.outputs})
            for (const Tensor& tensor : *tensors) {
                if (__builtin_add_overflow(sum, bytes_of(problem_, tensor, dims), &sum)) return false;
                if (max_bytes_ > 0 && sum > max_bytes_) return false;
            }
        return true;
    } catch (const UsageError&) {
        return false;  // an extent that is not whole or overflows there
    }
}

// Written out, for the standard's distributions differ between libraries and a run must be repeatable.
double ShapeSource::uniform() { return static_cast<double>(random_() >> 11) * 0x1.0p-53; }

int64_t ShapeSource::log_uniform(const Range& range) {
    double low = std::log(std::max<double>(static_cast<double>(range.low), 0.5));
    double high = std::log(static_cast<double>(range.high) + 0.5);
    int64_t value = static_cast<int64_t>(std::exp(low + (high - low) * uniform()));
    return std::clamp(value, range.low, range.high);
}

int64_t ShapeSource::boundary(const Range& range) {
    int64_t power = 1, drawn = log_uniform(range);
    while (power < drawn) power *= 2;
    int64_t value = 0;
    switch (random_() % 6) {
        case 0: value = 1; break;
        case 1: value = range.low; break;
        case 2: value = power - 1; break;
        case 3: value = power; break;
        case 4: value = power + 1; break;
        default: value = prime_at_most(log_uniform(range)); break;
    }
    return std::clamp(value, range.low, range.high);
}

std::vector<ShapePoint> held_out_shapes(const Problem& problem, size_t count, int64_t max_bytes, uint64_t seed,
                                        const std::vector<ShapePoint>& seen) {
    ShapeSource source(problem, max_bytes, seed, seen);
    std::vector<ShapePoint> shapes;
    while (shapes.size() < count) {
        std::optional<ShapePoint> point = source.draw(shapes.size() % 2 == 1);
        if (!point) break;
        shapes.push_back(*point);
    }
    return shapes;
}

}  // namespace strop::search
