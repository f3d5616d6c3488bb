// Atomics. Threads take turns, so plain arithmetic is atomic; what an access means for others is told.
#pragma once

#include <string.h>

#include <emulator/threads.h>

namespace emulator {

void check_atomic(const void* at, size_t bytes, const void* code);
void let_others_run();

template <class Value>
struct Same {
    using type = Value;
};

template <class Value, class Change>
__attribute__((no_sanitize("thread", "undefined"))) inline Value change(Value* at, const void* code, Change changed) {
    check_atomic(at, sizeof(Value), code);
    const Value before = *at;
    *at = changed(before);
    return before;
}

}  // namespace emulator

#define EMULATOR_ATOMIC_AS(name, result)                                                               \
    template <class Value>                                                                             \
    EMULATOR_INSTRUCTION Value name(Value* at, typename emulator::Same<Value>::type value) {           \
        return emulator::change(at, EMULATOR_HERE,                                                     \
                                [=]([[maybe_unused]] Value old) -> Value { return (Value)(result); }); \
    }
#define EMULATOR_ATOMIC(name, result)        \
    EMULATOR_ATOMIC_AS(name, result)         \
    EMULATOR_ATOMIC_AS(name##_block, result) \
    EMULATOR_ATOMIC_AS(name##_system, result)
EMULATOR_ATOMIC(atomicAdd, old + value)
EMULATOR_ATOMIC(atomicSub, old - value)
EMULATOR_ATOMIC(atomicMin, value < old ? value : old)
EMULATOR_ATOMIC(atomicMax, old < value ? value : old)
EMULATOR_ATOMIC(atomicExch, value)
EMULATOR_ATOMIC(atomicAnd, old& value)
EMULATOR_ATOMIC(atomicOr, old | value)
EMULATOR_ATOMIC(atomicXor, old ^ value)
EMULATOR_ATOMIC(atomicInc, old >= value ? 0 : old + 1)
EMULATOR_ATOMIC(atomicDec, old == 0 || old > value ? value : old - 1)
#undef EMULATOR_ATOMIC
#undef EMULATOR_ATOMIC_AS

// One that fails may wait for a lock that another thread holds.
template <class Value>
EMULATOR_INSTRUCTION Value atomicCAS(Value* at, typename emulator::Same<Value>::type expected,
                                     typename emulator::Same<Value>::type value) {
    const Value before = emulator::change(
        at, EMULATOR_HERE, [=](Value old) { return memcmp(&old, &expected, sizeof old) == 0 ? value : old; });
    if (memcmp(&before, &expected, sizeof before) != 0) emulator::let_others_run();
    return before;
}
