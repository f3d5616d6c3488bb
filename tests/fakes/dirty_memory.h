// Memory as a long-lived process has it: what malloc gives is full of numbers so small that products of them are
// subnormal. A kernel that computes with memory that it has not written raises an underflow, and is slow in its user's
// process though it is right.
#pragma once

#include <malloc.h>

#include <cfenv>

namespace strop {

class DirtyMemory {
public:
    DirtyMemory() {
        mallopt(M_PERTURB, 0x7f);  // bytes of 0x80: -1.2e-38 as float
        std::feclearexcept(FE_UNDERFLOW);
    }
    ~DirtyMemory() { mallopt(M_PERTURB, 0); }
    DirtyMemory(const DirtyMemory&) = delete;
    DirtyMemory& operator=(const DirtyMemory&) = delete;

    // By this thread.
    bool was_computed_with() const { return std::fetestexcept(FE_UNDERFLOW) != 0; }
};

}  // namespace strop
