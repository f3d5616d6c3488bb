#include "stats/call_time.h"

#include <functional>

#include "stats/sample.h"

namespace strop::stats {

namespace {

constexpr double undisturbed = 0.25;  // quantile
constexpr int refinements = 8;        // each leaves the ratio of the batches' lengths of an error

using Value = std::function<double(const BatchPair&)>;

double quantile_of(const std::vector<BatchPair>& pairs, double q, const Value& value) {
    std::vector<double> values;
    for (const BatchPair& pair : pairs) values.push_back(value(pair));
    return quantile(std::move(values), q);
}

}  // namespace

double call_time_ns(const std::vector<BatchPair>& pairs) {
    double call = quantile_of(pairs, 0.5, [](const BatchPair& pair) {
        return (pair.long_ns - pair.short_ns) / (pair.long_calls - pair.short_calls);
    });
    for (int i = 0; i < refinements; ++i) {
        const double handshake = quantile_of(
            pairs, undisturbed, [&](const BatchPair& pair) { return pair.short_ns - call * pair.short_calls; });
        call = quantile_of(pairs, undisturbed,
                           [&](const BatchPair& pair) { return (pair.long_ns - handshake) / pair.long_calls; });
    }
    if (call > 0) return call;
    return quantile_of(pairs, undisturbed, [](const BatchPair& pair) { return pair.long_ns / pair.long_calls; });
}

}  // namespace strop::stats
