#include "language/cuda_emulator/fiber.h"

#include <stdint.h>

#if defined(__x86_64__)

asm(R"(
.text
.globl emulator_switch
.hidden emulator_switch
.type emulator_switch, @function
emulator_switch:
    pushq %rbp
    pushq %rbx
    pushq %r12
    pushq %r13
    pushq %r14
    pushq %r15
    movq %rsp, (%rdi)
    movq %rsi, %rsp
    popq %r15
    popq %r14
    popq %r13
    popq %r12
    popq %rbx
    popq %rbp
    ret
.size emulator_switch, .-emulator_switch
)");

namespace emulator {

// Six registers, the address that `ret` goes to, and one more word, so that the stack is aligned as after a call.
void* new_stack(char* top, void (*entry)()) {
    uint64_t* stack = reinterpret_cast<uint64_t*>((uintptr_t)top & ~uintptr_t{15}) - 8;
    for (int i = 0; i < 8; ++i) stack[i] = 0;
    stack[6] = (uint64_t)entry;
    return stack;
}

}  // namespace emulator

#elif defined(__aarch64__)

asm(R"(
.text
.globl emulator_switch
.hidden emulator_switch
.type emulator_switch, %function
emulator_switch:
    sub sp, sp, #160
    stp x19, x20, [sp, #0]
    stp x21, x22, [sp, #16]
    stp x23, x24, [sp, #32]
    stp x25, x26, [sp, #48]
    stp x27, x28, [sp, #64]
    stp x29, x30, [sp, #80]
    stp d8, d9, [sp, #96]
    stp d10, d11, [sp, #112]
    stp d12, d13, [sp, #128]
    stp d14, d15, [sp, #144]
    mov x9, sp
    str x9, [x0]
    mov sp, x1
    ldp x19, x20, [sp, #0]
    ldp x21, x22, [sp, #16]
    ldp x23, x24, [sp, #32]
    ldp x25, x26, [sp, #48]
    ldp x27, x28, [sp, #64]
    ldp x29, x30, [sp, #80]
    ldp d8, d9, [sp, #96]
    ldp d10, d11, [sp, #112]
    ldp d12, d13, [sp, #128]
    ldp d14, d15, [sp, #144]
    add sp, sp, #160
    ret
.size emulator_switch, .-emulator_switch
)");

namespace emulator {

void* new_stack(char* top, void (*entry)()) {
    uint64_t* stack = reinterpret_cast<uint64_t*>((uintptr_t)top & ~uintptr_t{15}) - 20;
    for (int i = 0; i < 20; ++i) stack[i] = 0;
    stack[11] = (uint64_t)entry;
    return stack;
}

}  // namespace emulator

#else
#error "the CUDA emulator knows no way between stacks on this processor"
#endif
