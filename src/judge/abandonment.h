// When the screening of a kernel may stop, because it is far slower than the best that is known. What is left early is
// never measured again, so one observation is enough only if nothing that happens by chance takes as long; else two
// have to agree.
#pragma once

#include <cstdint>

namespace strop::judge {

class Abandonment {
public:
    // Times in nanoseconds. `best_ns` of a call; 0: nothing is known, so nothing is ever left. `tensor_bytes`: inputs
    // and outputs of one call, which the first one maps.
    Abandonment(double best_ns, double handshake_ns, int64_t tensor_bytes);

    // True when the screening may stop. Batches are told as they come back, the hand-shake included.
    bool after_first_call(double batch_ns);
    bool after_warm_calls(double batch_ns, int calls);
    bool after_sample(double call_ns);
    // The warm calls took so long that a second batch of them may be the end of it.
    bool doubtful() const { return doubtful_; }

private:
    bool slower(double batch_ns, int calls, double ratio, double allowance_ns) const;

    double best_ns_, handshake_ns_, mapping_ns_;
    bool agrees_ = false;  // calls before the first sample say that it is slow
    bool doubtful_ = false;
    int slow_samples_ = 0;
};

}  // namespace strop::judge
