// How long somebody was waited for. A gap between two looks counts as a second at most: who was stopped at the
// terminal, or slept with the lid closed, has not waited.
#pragma once

#include <algorithm>

#include "base/clock.h"

namespace strop::judge {

class Waiting {
public:
    // Called a few times a second; what was waited so far.
    Seconds look() {
        const Clock::time_point now = Clock::now();
        waited_ += std::min(Seconds(now - looked_), Seconds(1));
        looked_ = now;
        return waited_;
    }
    void begin_again() { *this = Waiting(); }

private:
    Clock::time_point looked_ = Clock::now();
    Seconds waited_{0};
};

}  // namespace strop::judge
