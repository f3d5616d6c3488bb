#include "judge/abandonment.h"

namespace strop::judge {

namespace {

constexpr double slow = 1.6;                   // times the best
constexpr double hopeless = 2.5;               // no sample is needed
constexpr double waking_ns = 3e5;              // of the threads that a kernel computes on
constexpr double hiccup_ns = 5e6;              // others had the core
constexpr double mapping_ns_of_a_byte = 0.15;  // the first time that a page is touched

}  // namespace

Abandonment::Abandonment(double best_ns, double handshake_ns, int64_t tensor_bytes)
    : best_ns_(best_ns),
      handshake_ns_(handshake_ns),
      mapping_ns_(waking_ns + mapping_ns_of_a_byte * static_cast<double>(tensor_bytes)) {}

bool Abandonment::slower(double batch_ns, int calls, double ratio, double allowance_ns) const {
    return best_ns_ > 0 && batch_ns - handshake_ns_ - allowance_ns > ratio * calls * best_ns_;
}

bool Abandonment::after_first_call(double batch_ns) {
    agrees_ = slower(batch_ns, 1, slow, mapping_ns_);
    return slower(batch_ns, 1, slow, mapping_ns_ + hiccup_ns);
}

bool Abandonment::after_warm_calls(double batch_ns, int calls) {
    agrees_ = slower(batch_ns, calls, slow, waking_ns);
    const bool is_hopeless = slower(batch_ns, calls, hopeless, waking_ns), confirmed = is_hopeless && doubtful_;
    doubtful_ = is_hopeless && !doubtful_;
    return confirmed || slower(batch_ns, calls, slow, waking_ns + hiccup_ns);
}

bool Abandonment::after_sample(double call_ns) {
    const bool is_slow = best_ns_ > 0 && call_ns > slow * best_ns_;
    slow_samples_ += is_slow;
    return is_slow && (agrees_ || slow_samples_ == 2);
}

}  // namespace strop::judge
