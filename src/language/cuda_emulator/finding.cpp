#include "language/cuda_emulator/finding.h"

#include <dlfcn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "language/cuda_emulator/block.h"

namespace emulator {

namespace {

// Beside this file, in the same library as the kernel.
const char anchor = 0;

const Culprit* blamed = nullptr;

void print_thread(unsigned number, const unsigned* block) {
    const uint3 thread = index_of(number);
    fprintf(stderr, ", block (%u, %u, %u), thread (%u, %u, %u)", block[0], block[1], block[2], thread.x, thread.y,
            thread.z);
}

}  // namespace

uintptr_t library_base() {
    static const uintptr_t base = [] {
        Dl_info info = {};
        dladdr(&anchor, &info);
        return (uintptr_t)info.dli_fbase;
    }();
    return base;
}

void blame(const Culprit& culprit) {
    static Culprit kept;
    kept = culprit;
    blamed = &kept;
}

void end_with_finding(const char* kind, const void* code, const char* format, ...) {
    fflush(stdout);
    fprintf(stderr, "\nCUDA emulator: %s: ", kind);
    va_list arguments;
    va_start(arguments, format);
    vfprintf(stderr, format, arguments);
    va_end(arguments);
    // Of the call, not of what follows it.
    if (code) fprintf(stderr, " {+0x%x}", offset_of(static_cast<const char*>(code) - 1));
    const bool of_a_kernel = running_kernel() || running_kernel_name();
    if (running_kernel()) fprintf(stderr, " in kernel {kernel+0x%x}", offset_of(running_kernel()));
    else if (of_a_kernel) fprintf(stderr, " in kernel %s", running_kernel_name());
    const unsigned block[] = {blockIdx.x, blockIdx.y, blockIdx.z};
    if (of_a_kernel && blamed) print_thread(blamed->thread, blamed->block);
    else if (of_a_kernel && running()) print_thread(running_number(), block);
    fprintf(stderr, "\n");
    fflush(stderr);
    _Exit(exit_code);
}

}  // namespace emulator
