// What llvm-objdump and llvm-mca say of a kernel's library, whose names and code are a stranger's.
#include <algorithm>

#include "base/strings.h"
#include "fuzz/fuzz.h"
#include "language/assembly.h"
#include "language/throughput.h"

namespace {

using namespace strop;

void check(const Assembly& assembly, const Loop& loop) {
    fuzz::must(loop.function < assembly.functions.size(), "a loop of no function");
    const std::vector<Instruction>& all = assembly.functions[loop.function].instructions;
    fuzz::must(loop.first <= loop.last && loop.last < all.size(), "a loop outside of its function");
    const InstructionMix mix = mix_of(assembly, loop);
    fuzz::must(mix.total == static_cast<int>(loop.last - loop.first + 1), "instructions that were not counted");
    fuzz::must(mix.loads >= 0 && mix.stores >= 0 && mix.flops >= 0, "less than nothing");
    const std::string listing = listing_of(assembly, loop);
    fuzz::must(std::count(listing.begin(), listing.end(), '\n') >= mix.total, "an instruction that is not listed");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    const std::string text = printable(fuzz::text_of(data, size));
    const Assembly assembly = parse_disassembly(text, "kernel0.cpp");
    for (const Loop& loop : assembly.loops) check(assembly, loop);
    for (const Function& function : assembly.functions)
        fuzz::must(!function.instructions.empty(), "a function of nothing");
    (void)parse_throughput(text);
    return 0;
}
