// Time that may go into looking closely at what is timed: a share of what timing takes, and no more than a little of it
// kept for later.
#pragma once

#include "base/clock.h"

namespace strop::judge {

class Credit {
public:
    void earn(double timed_ns);
    void spend(Seconds time) { left_ns_ -= 1e9 * time.count(); }  // may leave a debt
    bool left() const { return left_ns_ > 0; }

private:
    double left_ns_ = 0;
};

}  // namespace strop::judge
