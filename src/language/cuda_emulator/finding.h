// How a defect that the emulator sees ends the process: one line on standard error, and an exit code that nothing else
// has. Addresses in the line, "{+0x12}" of code and "{kernel+0x12}" of a kernel, are offsets into the library, which
// the judge turns into lines and names (language/cuda_emulator.h).
#pragma once

#include <stdint.h>

namespace emulator {

constexpr int exit_code = 86;

// `kind`: "race", "out of bounds", ...; the place (kernel, block, thread) is added. `code`: an address in the kernel's
// code, or null.
[[noreturn]] __attribute__((format(printf, 3, 4))) void end_with_finding(const char* kind, const void* code,
                                                                         const char* format, ...);

// The same for what a thread did before: its numbers in place of those of the thread that runs.
struct Culprit {
    unsigned thread;
    unsigned block[3];
};
void blame(const Culprit& culprit);

// Where the library was loaded.
uintptr_t library_base();
inline uint32_t offset_of(const void* code) { return static_cast<uint32_t>((uintptr_t)code - library_base()); }

}  // namespace emulator
