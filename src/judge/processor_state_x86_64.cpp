// Of x86-64: MXCSR, the x87 unit's control and tag words, the direction flag.
#include <cfenv>

#include "judge/mxcsr.h"
#include "judge/processor_state.h"

namespace strop::judge {

namespace {

constexpr uint64_t direction_flag = 0x400;

}  // namespace

ControlRegisters ControlRegisters::now() {
    fenv_t environment;
    std::fegetenv(&environment);
    const uint64_t flags = __builtin_ia32_readeflags_u64();
    const uint32_t vector = environment.__mxcsr;
    return {{vector & mxcsr::parts[0], vector & mxcsr::parts[1], vector & mxcsr::parts[2],
             environment.__control_word | uint64_t{environment.__tags} << 16, flags & direction_flag}};
}

const char* ControlRegisters::name(int index) {
    static const char* const names[count] = {mxcsr::names[0], mxcsr::names[1], mxcsr::names[2], "the x87 unit",
                                             "the direction flag"};
    return names[index];
}

void ControlRegisters::restore() {
    asm volatile("cld");
    std::fesetenv(FE_DFL_ENV);
}

}  // namespace strop::judge
