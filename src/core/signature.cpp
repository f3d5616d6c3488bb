#include "core/signature.h"

#include <algorithm>

namespace strop {

namespace {

constexpr double structure_weight = 3;

double weight_of(const std::string& operation) {
    return operation.rfind("pointwise ", 0) == 0 || operation.rfind("layout ", 0) == 0 ? 1 : structure_weight;
}

}  // namespace

double similarity(const Signature& a, const Signature& b) {
    if (a.exact.empty() || b.exact.empty()) return 0;
    if (a.exact == b.exact) return 1;
    double both = 0, either = 0;
    for (const auto& [operation, count] : a.operations) {
        auto found = b.operations.find(operation);
        const int other = found == b.operations.end() ? 0 : found->second;
        both += weight_of(operation) * std::min(count, other);
        either += weight_of(operation) * std::max(count, other);
    }
    for (const auto& [operation, count] : b.operations)
        if (!a.operations.count(operation)) either += weight_of(operation) * count;
    return either > 0 ? both / either : 0;
}

}  // namespace strop
