// Of x86-64: MXCSR, the x87 unit's control and tag words, the direction flag.
#include <cfenv>

#include "judge/processor_state.h"

namespace strop::judge {

namespace {

constexpr uint64_t rounding = 0x6000, subnormals = 0x8040,
                   masks = 0x1f80;  // of MXCSR; the rest are sticky flags
constexpr uint64_t direction_flag = 0x400;

}  // namespace

ControlRegisters ControlRegisters::now() {
    fenv_t environment;
    std::fegetenv(&environment);
    const uint64_t flags = __builtin_ia32_readeflags_u64();
    return {{environment.__mxcsr & rounding, environment.__mxcsr & subnormals, environment.__mxcsr & masks,
             environment.__control_word | uint64_t{environment.__tags} << 16, flags & direction_flag}};
}

const char* ControlRegisters::name(int index) {
    static const char* const names[count] = {"the rounding of vector instructions",
                                             "the treatment of subnormal numbers", "floating-point traps",
                                             "the x87 unit", "the direction flag"};
    return names[index];
}

void ControlRegisters::restore() {
    asm volatile("cld");
    std::fesetenv(FE_DFL_ENV);
}

}  // namespace strop::judge
