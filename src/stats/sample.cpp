#include "stats/sample.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <numbers>
#include <numeric>
#include <random>

namespace strop::stats {

namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

double sorted_quantile(const std::vector<double>& sorted, double q) {
    double position = std::clamp(q, 0.0, 1.0) * static_cast<double>(sorted.size() - 1);
    size_t below = static_cast<size_t>(position);
    size_t above = std::min(below + 1, sorted.size() - 1);
    double share = position - static_cast<double>(below);
    if (share == 0) return sorted[below];  // keeps infinities out of the interpolation
    return sorted[below] + share * (sorted[above] - sorted[below]);
}

// How many of the smallest (and largest) samples lie outside the interval: the largest l with
// P(Binomial(n, 1/2) < l) <= tail.
size_t outside(size_t count, double tail) {
    double n = static_cast<double>(count);
    double cumulative = 0;
    size_t l = 0;
    while (l < count / 2) {
        double k = static_cast<double>(l);
        cumulative += std::exp(std::lgamma(n + 1) - std::lgamma(k + 1) - std::lgamma(n - k + 1) - n * std::log(2.0));
        if (cumulative > tail) break;
        ++l;
    }
    return l;
}

// P(|T| <= t).
double student_probability(double t, int degrees) {
    const double angle = std::atan(t / std::sqrt(degrees)), cosine = std::cos(angle);
    const bool odd = degrees % 2 == 1;
    double term = odd ? cosine : 1, sum = odd && degrees == 1 ? 0 : term;
    for (int k = odd ? 3 : 2; k <= degrees - 2; k += 2) {
        term *= (k - 1.0) / k * cosine * cosine;
        sum += term;
    }
    const double part = std::sin(angle) * sum;
    return odd ? 2 / std::numbers::pi * (angle + part) : part;
}

}  // namespace

double quantile(std::vector<double> samples, double q) {
    if (samples.empty()) return nan;
    std::sort(samples.begin(), samples.end());
    return sorted_quantile(samples, q);
}

double median(std::vector<double> samples) { return quantile(std::move(samples), 0.5); }

double geometric_mean(const std::vector<double>& values) {
    if (values.empty()) return nan;
    double sum = 0;
    for (double value : values) {
        if (!(value > 0)) return nan;
        sum += std::log(value);
    }
    return std::exp(sum / static_cast<double>(values.size()));
}

Interval median_interval(const std::vector<double>& samples, double confidence) {
    if (samples.empty()) return {nan, nan, nan};
    std::vector<double> sorted = samples;
    std::sort(sorted.begin(), sorted.end());
    double middle = sorted_quantile(sorted, 0.5);
    if (sorted.size() < 6) return {middle, sorted.front(), sorted.back()};
    size_t cut = outside(sorted.size(), (1 - confidence) / 2);
    size_t lowest = cut == 0 ? 0 : cut - 1;
    return {middle, sorted[lowest], sorted[sorted.size() - 1 - lowest]};
}

double student_quantile(double confidence, int degrees) {
    double low = 0, high = 1;
    while (high < 1e9 && student_probability(high, degrees) < confidence) high *= 2;
    for (int i = 0; i < 60; ++i) {
        const double middle = 0.5 * (low + high);
        (student_probability(middle, degrees) < confidence ? low : high) = middle;
    }
    return high;
}

Interval trimmed_mean_interval(std::vector<double> samples, double confidence) {
    if (samples.empty()) return {nan, nan, nan};
    std::sort(samples.begin(), samples.end());
    const size_t cut = samples.size() / 5, kept = samples.size() - 2 * cut;
    const auto first = samples.begin() + static_cast<std::ptrdiff_t>(cut);
    const double n = static_cast<double>(samples.size()), h = static_cast<double>(kept);
    const double mean = std::accumulate(first, first + static_cast<std::ptrdiff_t>(kept), 0.0) / h;
    if (kept < 2) return {mean, -std::numeric_limits<double>::infinity(), std::numeric_limits<double>::infinity()};
    for (double& sample : samples) sample = std::clamp(sample, *first, samples[cut + kept - 1]);
    const double center = std::accumulate(samples.begin(), samples.end(), 0.0) / n;
    double squares = 0;
    for (double sample : samples) squares += (sample - center) * (sample - center);
    const double error = std::sqrt(squares / (h * (h - 1)));
    const double reach = error * student_quantile(confidence, static_cast<int>(kept) - 1);
    return {mean, mean - reach, mean + reach};
}

Interval bootstrap_median(const std::vector<double>& samples, double confidence, int resamples, uint64_t seed) {
    if (samples.empty()) return {nan, nan, nan};
    double middle = median(samples);
    if (resamples < 1) return {middle, middle, middle};
    std::mt19937_64 random(seed);
    std::vector<double> medians, draw(samples.size());
    medians.reserve(static_cast<size_t>(resamples));
    for (int i = 0; i < resamples; ++i) {
        for (double& x : draw) x = samples[random() % samples.size()];
        medians.push_back(median(draw));
    }
    std::sort(medians.begin(), medians.end());
    double tail = (1 - confidence) / 2;
    return {middle, sorted_quantile(medians, tail), sorted_quantile(medians, 1 - tail)};
}

}  // namespace strop::stats
