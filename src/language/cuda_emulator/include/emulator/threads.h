// Barriers, shuffles and votes.
#pragma once

#include <string.h>

#include <emulator/types.h>

void __syncthreads(int line = __builtin_LINE());
int __syncthreads_count(int predicate, int line = __builtin_LINE());
int __syncthreads_and(int predicate, int line = __builtin_LINE());
int __syncthreads_or(int predicate, int line = __builtin_LINE());
void __syncwarp(unsigned mask = 0xffffffffu);
void __threadfence();
void __threadfence_block();
void __threadfence_system();
void __nanosleep(unsigned nanoseconds);
[[noreturn]] void __trap();
long long clock64();
inline long clock() { return (long)clock64(); }

namespace emulator {

// Functions that stand for an instruction: accesses in them are checked by what they call.
#define EMULATOR_INSTRUCTION __attribute__((no_sanitize("thread", "undefined"), noinline)) inline

unsigned lane();
// All lanes of the mask meet. Gives the value of lane `source`.
uint64_t exchange(const char* operation, unsigned mask, uint64_t value, unsigned source, const void* code);
// Gives all values, and which lanes brought one.
const uint64_t* gather(const char* operation, unsigned mask, uint64_t value, unsigned* participants, const void* code);
void check_width(const char* operation, int width, const void* code);

template <class Value>
EMULATOR_INSTRUCTION Value shuffle(const char* operation, unsigned mask, Value value, int source, const void* code) {
    static_assert(sizeof(Value) <= 8, "a shuffle takes at most 8 bytes");
    uint64_t bits = 0;
    memcpy(&bits, &value, sizeof value);
    bits = exchange(operation, mask, bits, (unsigned)source, code);
    memcpy(&value, &bits, sizeof value);
    return value;
}

// In unsigned arithmetic, or in that of the type.
template <class Value, class Combine>
EMULATOR_INSTRUCTION Value reduce(const char* operation, unsigned mask, Value value, Combine combine,
                                  const void* code) {
    uint64_t bits = 0;
    memcpy(&bits, &value, sizeof value);
    unsigned participants = 0;
    const uint64_t* all = gather(operation, mask, bits, &participants, code);
    bool first = true;
    Value result = value;
    for (int i = 0; i < 32; ++i) {
        if (!(participants >> i & 1)) continue;
        Value other;
        memcpy(&other, &all[i], sizeof other);
        result = first ? other : combine(result, other);
        first = false;
    }
    return result;
}

EMULATOR_INSTRUCTION unsigned ballot(const char* operation, unsigned mask, bool predicate, unsigned* participants,
                                     const void* code) {
    const uint64_t* all = gather(operation, mask, predicate, participants, code);
    unsigned result = 0;
    for (int i = 0; i < 32; ++i)
        if ((*participants >> i & 1) && all[i]) result |= 1u << i;
    return result;
}

}  // namespace emulator

#define EMULATOR_HERE __builtin_return_address(0)

template <class Value>
EMULATOR_INSTRUCTION Value __shfl_sync(unsigned mask, Value value, int source, int width = 32) {
    emulator::check_width("__shfl_sync", width, EMULATOR_HERE);
    const int me = (int)emulator::lane(), first = me & ~(width - 1);
    return emulator::shuffle("__shfl_sync", mask, value, first + (source & (width - 1)), EMULATOR_HERE);
}

template <class Value>
EMULATOR_INSTRUCTION Value __shfl_up_sync(unsigned mask, Value value, unsigned by, int width = 32) {
    emulator::check_width("__shfl_up_sync", width, EMULATOR_HERE);
    const int me = (int)emulator::lane(), first = me & ~(width - 1), from = me - (int)by;
    return emulator::shuffle("__shfl_up_sync", mask, value, from < first ? me : from, EMULATOR_HERE);
}

template <class Value>
EMULATOR_INSTRUCTION Value __shfl_down_sync(unsigned mask, Value value, unsigned by, int width = 32) {
    emulator::check_width("__shfl_down_sync", width, EMULATOR_HERE);
    const int me = (int)emulator::lane(), end = (me & ~(width - 1)) + width, from = me + (int)by;
    return emulator::shuffle("__shfl_down_sync", mask, value, from >= end ? me : from, EMULATOR_HERE);
}

template <class Value>
EMULATOR_INSTRUCTION Value __shfl_xor_sync(unsigned mask, Value value, int with, int width = 32) {
    emulator::check_width("__shfl_xor_sync", width, EMULATOR_HERE);
    const int me = (int)emulator::lane(), end = (me & ~(width - 1)) + width, from = me ^ with;
    return emulator::shuffle("__shfl_xor_sync", mask, value, from >= end ? me : from, EMULATOR_HERE);
}

EMULATOR_INSTRUCTION unsigned __ballot_sync(unsigned mask, int predicate) {
    unsigned participants = 0;
    return emulator::ballot("__ballot_sync", mask, predicate != 0, &participants, EMULATOR_HERE);
}

EMULATOR_INSTRUCTION int __any_sync(unsigned mask, int predicate) {
    unsigned participants = 0;
    return emulator::ballot("__any_sync", mask, predicate != 0, &participants, EMULATOR_HERE) != 0;
}

EMULATOR_INSTRUCTION int __all_sync(unsigned mask, int predicate) {
    unsigned participants = 0;
    const unsigned yes = emulator::ballot("__all_sync", mask, predicate != 0, &participants, EMULATOR_HERE);
    return yes == participants;
}

// The lanes that have not left: here all of a warp go together wherever they can.
unsigned __activemask();

template <class Value>
EMULATOR_INSTRUCTION unsigned __match_any_sync(unsigned mask, Value value) {
    uint64_t bits = 0;
    memcpy(&bits, &value, sizeof value);
    unsigned participants = 0, result = 0;
    const uint64_t* all = emulator::gather("__match_any_sync", mask, bits, &participants, EMULATOR_HERE);
    for (int i = 0; i < 32; ++i)
        if ((participants >> i & 1) && all[i] == bits) result |= 1u << i;
    return result;
}

#define EMULATOR_REDUCE(name, combination)                                                             \
    template <class Value>                                                                             \
    EMULATOR_INSTRUCTION Value name(unsigned mask, Value value) {                                      \
        return emulator::reduce(                                                                       \
            #name, mask, value, [](Value a, Value b) -> Value { return combination; }, EMULATOR_HERE); \
    }
EMULATOR_REDUCE(__reduce_add_sync, (Value)((unsigned)a + (unsigned)b))
EMULATOR_REDUCE(__reduce_min_sync, b < a ? b : a)
EMULATOR_REDUCE(__reduce_max_sync, a < b ? b : a)
EMULATOR_REDUCE(__reduce_and_sync, a& b)
EMULATOR_REDUCE(__reduce_or_sync, a | b)
EMULATOR_REDUCE(__reduce_xor_sync, a ^ b)
#undef EMULATOR_REDUCE
