#include "judge/credit.h"

#include <algorithm>

namespace strop::judge {

namespace {

constexpr double share = 0.25, most_ns = 5e7;

}  // namespace

void Credit::earn(double timed_ns) { left_ns_ = std::min(most_ns, left_ns_ + share * timed_ns); }

}  // namespace strop::judge
