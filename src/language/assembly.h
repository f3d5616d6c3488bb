// What a compiler made of a kernel: its library disassembled (llvm-objdump), its loops, and what they consist of.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/profile.h"

namespace strop {

struct Instruction {
    uint64_t address = 0;
    std::string mnemonic, operands;  // of x86 in Intel's syntax
    int line = 0;                    // of the kernel's source; 0: unknown, or another file's
};

struct Function {
    std::string name;  // demangled
    std::vector<Instruction> instructions;
};

// Where control goes after an instruction.
enum class Flow {
    next,
    branch,  // to its target or to the next instruction
    jump,    // to its target, if that is known
    call,
    end,  // a return, or what nobody should reach
};
Flow flow_of(const Instruction& instruction);
// Of a branch, jump or call: nothing when it is in a register or memory.
std::optional<uint64_t> target_of(const Instruction& instruction);
// The operands of such an instruction with its target replaced.
std::string with_target(const Instruction& instruction, std::string_view target);
bool is_padding(const Instruction& instruction);  // a nop of any length

// An innermost cycle of the control flow, as a range of instructions: from its first to its last, which branches
// back. Several branches back to one head are one loop (`continue`). Blocks that the compiler put far away, because it
// takes them for rare, are left out; blocks within the range that leave the loop (`break`) are part of it.
struct Loop {
    size_t function = 0;         // index
    size_t first = 0, last = 0;  // indices of instructions, both in the loop
};

struct Assembly {
    std::string architecture;  // "x86_64", "aarch64"
    std::vector<Function> functions;
    std::vector<Loop> loops;  // by function and place

    // The innermost loop around an address, or nothing; `function`: the function around it, or nothing.
    const Loop* loop_at(uint64_t address) const;
    const Function* function_at(uint64_t address) const;
};

// Nothing where llvm-objdump is missing or fails. `source`: the file name of the kernel's source, for line numbers;
// its folder does not matter.
std::optional<Assembly> disassemble(const std::filesystem::path& library, const std::string& source);
// Of llvm-objdump's output.
Assembly parse_disassembly(const std::string& text, const std::string& source);

// Widths are those of the registers: 8 bytes too on AArch64; SVE's count as 16, whatever the processor has.
InstructionMix mix_of(const Assembly& assembly, const Loop& loop);
// Addresses left out, targets of branches in the loop as labels "L1:" before their instruction, other targets by their
// names as far as known; a line an instruction.
std::string listing_of(const Assembly& assembly, const Loop& loop);

}  // namespace strop
