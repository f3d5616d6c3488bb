// Where the registers are not known: what the C library tells.
#include <cfenv>

#include "judge/processor_state.h"

namespace strop::judge {

ControlRegisters ControlRegisters::now() {
    volatile float tiny = 1e-40f, one = 1.0f;
    return {{static_cast<uint64_t>(std::fegetround()), tiny * one == 0, static_cast<uint64_t>(::fegetexcept()), 0, 0}};
}

const char* ControlRegisters::name(int index) {
    static const char* const names[count] = {"the rounding mode", "the treatment of subnormal numbers",
                                             "floating-point traps", "", ""};
    return names[index];
}

void ControlRegisters::restore() { std::fesetenv(FE_DFL_ENV); }

}  // namespace strop::judge
