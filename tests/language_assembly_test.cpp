#include <cctype>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "assembly_texts.h"
#include "base/file.h"
#include "base/strings.h"
#include "language/assembly.h"
#include "language/cpp.h"
#include "language/throughput.h"

namespace strop {
namespace {

// A function of the given instructions, 16 bytes each: "jne @2" branches to the third.
Assembly code(const std::vector<std::string>& lines, const std::string& architecture = "x86-64") {
    std::string text = fmt::format("f.so:\tfile format elf64-{}\n\n0000000000000000 <f>:\n; f():\n", architecture);
    for (size_t i = 0; i < lines.size(); ++i) {
        std::string line = lines[i];
        if (size_t at = line.find('@'); at != std::string::npos && std::isdigit(line[at + 1])) {
            int target = 16 * std::atoi(line.c_str() + at + 1);
            line = fmt::format("{}0x{:x} <f+0x{:x}>", line.substr(0, at), target, target);
        }
        size_t space = line.find(' ');
        text += fmt::format("{:8x}:      \t{}", 16 * i, line.substr(0, space));
        text += space == std::string::npos ? "\n" : "\t" + line.substr(space + 1) + "\n";
    }
    return parse_disassembly(text, "f.cpp");
}

std::vector<std::pair<size_t, size_t>> loops_of(const std::vector<std::string>& lines) {
    std::vector<std::pair<size_t, size_t>> result;
    for (const Loop& loop : code(lines).loops) result.emplace_back(loop.first, loop.last);
    return result;
}

using Ranges = std::vector<std::pair<size_t, size_t>>;

// Of the instructions and a branch back.
InstructionMix mix(std::vector<std::string> lines, const std::string& architecture = "x86-64") {
    lines.push_back(architecture == "x86-64" ? "jne @0" : "b.ne @0");
    Assembly assembly = code(lines, architecture);
    return mix_of(assembly, {0, 0, lines.size() - 1});
}

InstructionMix mix_aarch64(const std::vector<std::string>& lines) { return mix(lines, "littleaarch64"); }

bool installed(const std::string& program) {
    return std::system(
               fmt::format("command -v {0}-19 >/dev/null 2>&1 || command -v {0} >/dev/null 2>&1", program).c_str()) ==
           0;
}

TEST(Disassembly, is_functions_and_instructions_with_lines_of_the_source) {
    Assembly assembly = parse_disassembly(dot_x86, "dot.cpp");
    EXPECT_EQ(assembly.architecture, "x86_64");
    ASSERT_EQ(assembly.functions.size(), 2u);
    EXPECT_EQ(assembly.functions[0].name, "__cxa_finalize@plt");
    const Function& dot = assembly.functions[1];
    EXPECT_EQ(dot.name, "dot");
    ASSERT_EQ(dot.instructions.size(), 47u);
    const Instruction& fused = dot.instructions[21];
    EXPECT_EQ(fused.address, 0x1157u);
    EXPECT_EQ(fused.mnemonic, "vfmadd231ps");
    EXPECT_EQ(fused.operands, "ymm0, ymm4, ymmword ptr [rdi + 4*rcx]");
    EXPECT_EQ(fused.line, 4);
    EXPECT_EQ(dot.instructions.front().line, 3);
    EXPECT_EQ(dot.instructions.back().mnemonic, "ret");
    EXPECT_EQ(dot.instructions.back().operands, "");
    EXPECT_EQ(dot.instructions.back().line, 5);
}

TEST(Disassembly, knows_no_lines_of_other_files) {
    EXPECT_EQ(parse_disassembly(dot_x86, "elsewhere/dot.cpp").functions[1].instructions[21].line, 4);
    for (const Instruction& instruction : parse_disassembly(dot_x86, "ot.cpp").functions[1].instructions)
        EXPECT_EQ(instruction.line, 0);
}

TEST(Disassembly, keeps_prefixes_and_leaves_data_out) {
    Assembly assembly = parse_disassembly(
        "f.so:\tfile format elf64-x86-64\n\n"
        "0000000000000000 <void copy<int>(int*, int (*)(int))>:\n"
        "       3:      \trep\t\tstosq\tqword ptr es:[rdi], rax\n"
        "       8:      \t{vex}\tvpdpbusd\tymm0, ymm1, ymm2\n"
        "       9:      \t<unknown>\n"
        "      80: ff ff ff ff  \t.word\t0xffffffff\n"
        "zz: \tnothing\n"
        "0000000000000090 <empty>:\n",
        "f.cpp");
    ASSERT_EQ(assembly.functions.size(), 1u);
    EXPECT_EQ(assembly.functions[0].name, "void copy<int>(int*, int (*)(int))");
    ASSERT_EQ(assembly.functions[0].instructions.size(), 3u);
    EXPECT_EQ(assembly.functions[0].instructions[0].mnemonic, "rep stosq");
    EXPECT_EQ(assembly.functions[0].instructions[0].operands, "qword ptr es:[rdi], rax");
    EXPECT_EQ(assembly.functions[0].instructions[1].mnemonic, "{vex} vpdpbusd");
    EXPECT_EQ(assembly.functions[0].instructions[2].mnemonic, "<unknown>");
}

TEST(Disassembly, of_nothing_is_empty) {
    for (const char* text : {"", "\n", ":", ": \t", "; :", "0 <>:", "0 <f>:\n0:\t", "llvm-objdump: error: no file"})
        EXPECT_TRUE(parse_disassembly(text, "").functions.empty()) << text;
}

TEST(Loops, of_a_dot_product_are_the_vectorized_one_and_its_rest) {
    Assembly assembly = parse_disassembly(dot_x86, "dot.cpp");
    ASSERT_EQ(assembly.loops.size(), 2u);
    const Loop* loop = assembly.loop_at(0x1157);
    ASSERT_NE(loop, nullptr);
    EXPECT_EQ(loop, &assembly.loops[0]);
    const std::vector<Instruction>& dot = assembly.functions[loop->function].instructions;
    EXPECT_EQ(dot[loop->first].address, 0x1140u);
    EXPECT_EQ(dot[loop->last].address, 0x1179u);
    EXPECT_EQ(assembly.loop_at(0x1140), loop);
    EXPECT_EQ(assembly.loop_at(0x1179), loop);
    EXPECT_EQ(assembly.loop_at(0x117b), nullptr);
    EXPECT_EQ(assembly.loop_at(0x11bb), &assembly.loops[1]);
    EXPECT_EQ(assembly.function_at(0x117b)->name, "dot");
    EXPECT_EQ(assembly.function_at(0x9999), nullptr);
}

TEST(Loops, around_an_address_are_the_smallest) {
    Assembly assembly = code({"mov", "mov", "mov", "mov"});
    assembly.loops = {{0, 0, 3}, {0, 1, 2}, {0, 0, 2}};  // cold blocks of one may lie around another
    EXPECT_EQ(assembly.loop_at(0x10), &assembly.loops[1]);
    EXPECT_EQ(assembly.loop_at(0x0), &assembly.loops[2]);
    EXPECT_EQ(assembly.loop_at(0x30), &assembly.loops[0]);
}

TEST(Loops, of_aarch64_are_found_as_well) {
    Assembly assembly = parse_disassembly(dot_aarch64, "dot.cpp");
    EXPECT_EQ(assembly.architecture, "aarch64");
    ASSERT_EQ(assembly.loops.size(), 2u);
    const std::vector<Instruction>& dot = assembly.functions[0].instructions;
    EXPECT_EQ(dot[assembly.loops[0].first].address, 0x3cu);
    EXPECT_EQ(dot[assembly.loops[0].last].address, 0x58u);
}

TEST(Loops, are_innermost_whatever_the_layout) {
    Assembly assembly = parse_disassembly(walk_x86, "cont.cpp");
    ASSERT_EQ(assembly.loops.size(), 1u);  // not the way back to the outer loop's head: 0x3e to 0x30
    const std::vector<Instruction>& walk = assembly.functions[0].instructions;
    EXPECT_EQ(walk[assembly.loops[0].first].address, 0x44u);
    EXPECT_EQ(walk[assembly.loops[0].last].address, 0xa0u);
}

TEST(Loops, with_several_branches_to_one_head_are_one) {
    EXPECT_EQ(loops_of({"mov", "inc rax", "ja @1", "add rbx, rax", "jne @1", "ret"}), (Ranges{{1, 4}}));
    EXPECT_EQ(loops_of({"mov", "inc rax", "ja @1", "add rbx, rax", "jmp @1"}), (Ranges{{1, 4}}));
}

TEST(Loops, contain_no_others) {
    EXPECT_EQ(loops_of({"mov", "mov", "inc rax", "jne @2", "inc rbx", "jne @1", "ret"}), (Ranges{{2, 3}}));
    EXPECT_EQ(loops_of({"inc rax", "jne @0", "inc rbx", "jne @2", "jmp @0"}), (Ranges{{0, 1}, {2, 3}}));
    EXPECT_EQ(loops_of({"dec rax", "loop @1", "ret"}), (Ranges{{1, 1}}));
}

TEST(Loops, include_ways_out_but_no_blocks_far_away) {
    EXPECT_EQ(loops_of({"inc rax", "je @3", "jmp @4", "ret", "cmp rax, rbx", "jne @0", "ret"}), (Ranges{{0, 5}}));
    std::vector<std::string> lines = {"inc rax", "cmp rax, rcx", "je @30", "add rbx, rax", "jne @0", "ret"};
    while (lines.size() < 30) lines.push_back("mov rax, rbx");
    for (const char* line : {"mov rbx, rax", "jmp @3"}) lines.push_back(line);
    EXPECT_EQ(loops_of(lines), (Ranges{{0, 4}}));
    lines.back() = "jmp @0";
    EXPECT_EQ(loops_of(lines), (Ranges{{0, 4}}));
}

TEST(Loops, are_no_branches_elsewhere) {
    EXPECT_TRUE(loops_of({"inc rax", "ret", "mov rax, rbx", "jmp @0"}).empty());  // backward, but nothing returns
    EXPECT_TRUE(loops_of({"inc rax", "call @0", "jmp @9", "jmp rax", "ret"}).empty());
}

TEST(Mix, of_a_dot_product) {
    Assembly assembly = parse_disassembly(dot_x86, "dot.cpp");
    InstructionMix main = mix_of(assembly, assembly.loops.at(0)), rest = mix_of(assembly, assembly.loops.at(1));
    EXPECT_EQ(main.total, 11);
    EXPECT_EQ(main.packed, (std::map<int, int>{{32, 4}}));
    EXPECT_EQ(main.scalar, 0);
    EXPECT_EQ(main.fused, 4);
    EXPECT_EQ(main.loads, 8);
    EXPECT_EQ(main.stores, 0);
    EXPECT_EQ(main.branches, 0);
    EXPECT_EQ(main.flops, 64);
    EXPECT_EQ(rest.scalar, 1);
    EXPECT_TRUE(rest.packed.empty());
    EXPECT_EQ(rest.flops, 2);
    EXPECT_EQ(rest.loads, 2);
}

TEST(Mix, of_a_dot_product_on_aarch64) {
    Assembly assembly = parse_disassembly(dot_aarch64, "dot.cpp");
    InstructionMix main = mix_of(assembly, assembly.loops.at(0)), rest = mix_of(assembly, assembly.loops.at(1));
    EXPECT_EQ(main.total, 8);
    EXPECT_EQ(main.packed, (std::map<int, int>{{16, 2}}));
    EXPECT_EQ(main.fused, 2);
    EXPECT_EQ(main.loads, 2);
    EXPECT_EQ(main.flops, 16);
    EXPECT_EQ(rest.scalar, 1);
    EXPECT_EQ(rest.flops, 2);
    EXPECT_EQ(rest.loads, 2);
}

TEST(Mix, of_a_loop_with_calls_and_spilled_registers) {
    Assembly assembly = parse_disassembly(walk_x86, "cont.cpp");
    InstructionMix walk = mix_of(assembly, assembly.loops.at(0));
    EXPECT_EQ(walk.calls, 1);
    EXPECT_EQ(walk.branches, 3);
    EXPECT_EQ(walk.loads, 4);
    EXPECT_EQ(walk.stores, 1);
    EXPECT_EQ(walk.stack, 2);
    EXPECT_EQ(walk.scalar, 1);
}

TEST(Mix, counts_floating_point_arithmetic_only) {
    InstructionMix none =
        mix({"vmovups ymm0, ymm1", "vxorps xmm0, xmm0, xmm0", "vcmpltps k1, zmm0, zmm1", "movsd xmm0, xmm1",
             "vucomiss xmm0, xmm1", "vpaddd zmm0, zmm1, zmm2", "vpmaxsd ymm0, ymm1, ymm2", "add rax, rbx",
             "vandps ymm0, ymm1, ymm2", "vblendps ymm0, ymm1, ymm2, 0x1", "vpdpbusd zmm0, zmm1, zmm2"});
    EXPECT_EQ(none.total, 12);
    EXPECT_EQ(none.scalar, 0);
    EXPECT_TRUE(none.packed.empty());
    EXPECT_EQ(none.flops, 0);
    InstructionMix some =
        mix({"mulsd xmm0, xmm1", "addps xmm0, xmm1", "vaddpd ymm0, ymm1, ymm2", "vsqrtss xmm0, xmm1, xmm1",
             "vdivpd zmm0, zmm1, zmm2", "vfnmadd213sd xmm0, xmm1, xmm2", "vaddps zmm0, zmm1, zmm2, {rn-sae}",
             "vfmadd231ph zmm0, zmm1, zmm2", "vdpbf16ps zmm0, zmm1, zmm2", "vrsqrt14ps ymm0, ymm1"});
    EXPECT_EQ(some.scalar, 3);
    EXPECT_EQ(some.packed, (std::map<int, int>{{16, 1}, {32, 2}, {64, 4}}));
    EXPECT_EQ(some.fused, 3);
    EXPECT_EQ(some.divisions, 2);
    EXPECT_EQ(some.flops, 1 + 4 + 4 + 1 + 8 + 2 + 16 + 64 + 64 + 8);
}

TEST(Mix, tells_loads_from_stores) {
    InstructionMix loads =
        mix({"vmovups ymm0, ymmword ptr [rdi]", "cmp dword ptr [rdi], 0x5", "mov rax, qword ptr [rip + 0x2f]",
             "vfmadd231ps zmm0, zmm1, dword ptr [rdi]{1to16}", "imul rax, qword ptr [rdi]", "lea rax, [rdi + 0x5]",
             "nop word ptr cs:[rax + rax]", "prefetcht0 byte ptr [rdi]"});
    EXPECT_EQ(loads.loads, 5);
    EXPECT_EQ(loads.stores, 0);
    InstructionMix stores =
        mix({"vmovaps zmmword ptr [rdi], zmm0", "mov byte ptr [rdi], 0x1", "vcvtps2ph xmmword ptr [rdi], ymm0, 0x4",
             "vmaskmovps ymmword ptr [rdi], ymm0, ymm1", "vcompressps zmmword ptr [rdi] {k1}, zmm0"});
    EXPECT_EQ(stores.loads, 0);
    EXPECT_EQ(stores.stores, 5);
    InstructionMix both = mix({"inc dword ptr [rdi]", "add qword ptr [rdi + 8*rax], rbx"});
    EXPECT_EQ(both.loads, 2);
    EXPECT_EQ(both.stores, 2);
    InstructionMix gathers =
        mix({"vgatherdps zmm0 {k1}, zmmword ptr [rdi + 4*zmm1]", "vpscatterdd zmmword ptr [rdi + 4*zmm1] {k1}, zmm0"});
    EXPECT_EQ(gathers.loads, 1);
    EXPECT_EQ(gathers.stores, 1);
    EXPECT_EQ(gathers.gathers, 2);
}

TEST(Mix, takes_the_frame_pointer_for_the_stack_where_it_is_one) {
    std::vector<std::string> lines = {"vmovups zmm0, zmmword ptr [rsp + 0x40]",
                                      "vmovups zmmword ptr [rbp - 0x80], zmm0",
                                      "vmovups zmm0, zmmword ptr [rdi + 4*rbp]"};
    EXPECT_EQ(mix(lines).stack, 1);
    lines.push_back("mov rbp, rsp");
    EXPECT_EQ(mix(lines).stack, 2);
}

TEST(Mix, counts_what_rearranges_and_converts) {
    InstructionMix x86 =
        mix({"vpermps ymm0, ymm1, ymm2", "vunpcklps xmm0, xmm1, xmm2", "vextractf128 xmm0, ymm1, 0x1",
             "vbroadcastss zmm0, xmm1", "vbroadcastss zmm0, dword ptr [rdi]", "vmovshdup xmm1, xmm0",
             "vcvtss2sd xmm0, xmm0, xmm1", "vcvtph2ps ymm0, xmmword ptr [rdi]", "vpmovzxbd zmm0, xmm1"});
    EXPECT_EQ(x86.shuffles, 5);
    EXPECT_EQ(x86.conversions, 3);
    InstructionMix arm =
        mix_aarch64({"zip1 v0.4s, v1.4s, v2.4s", "dup v0.4s, v1.s[0]", "mov v0.s[1], v1.s[0]", "mov x0, x1",
                     "ext v0.16b, v1.16b, v2.16b, #0x8", "rev w0, w1", "rev64 v0.4s, v0.4s", "scvtf v0.4s, v1.4s",
                     "fcvtl v0.4s, v1.4h", "fmov v0.4s, #1.00000000"});
    EXPECT_EQ(arm.shuffles, 5);
    EXPECT_EQ(arm.conversions, 2);
}

TEST(Mix, of_aarch64_goes_by_the_first_operand) {
    InstructionMix arithmetic = mix_aarch64({"fmla v0.4s, v1.4s, v2.s[0]", "fmadd d0, d1, d2, d3", "faddp s0, v0.2s",
                                             "fdiv v0.2d, v1.2d, v2.2d", "fadd v0.8h, v1.8h, v2.8h",
                                             "fmul v0.2s, v1.2s, v2.2s", "add v0.4s, v1.4s, v2.4s", "fadd v0., v1"});
    EXPECT_EQ(arithmetic.packed, (std::map<int, int>{{8, 1}, {16, 3}}));
    EXPECT_EQ(arithmetic.scalar, 3);
    EXPECT_EQ(arithmetic.fused, 2);
    EXPECT_EQ(arithmetic.divisions, 1);
    EXPECT_EQ(arithmetic.flops, 8 + 2 + 1 + 2 + 8 + 2 + 1);
    InstructionMix memory =
        mix_aarch64({"ldp q0, q1, [sp, #0x20]", "ldr s0, [x0], #0x4", "ld1 { v0.4s, v1.4s }, [x0], #32",
                     "ldr q1, [x0, xzr]", "ld1w { z0.s }, p0/z, [x0, z1.s, uxtw #2]", "stp q0, q1, [x1]",
                     "str q0, [sp]", "prfm pldl1keep, [x0]", "bl @9", "tbz w0, #0x3, @0"});
    EXPECT_EQ(memory.loads, 5);
    EXPECT_EQ(memory.stores, 2);
    EXPECT_EQ(memory.stack, 2);
    EXPECT_EQ(memory.gathers, 1);
    EXPECT_EQ(memory.calls, 1);
    EXPECT_EQ(memory.branches, 1);
}

TEST(Listing, has_labels_and_names_but_no_addresses) {
    Assembly dot = parse_disassembly(dot_aarch64, "dot.cpp");
    EXPECT_EQ(listing_of(dot, dot.loops.at(1)),
              "L1:  ldr s1, [x10], #0x4\n"
              "     subs x8, x8, #0x1\n"
              "     ldr s2, [x9], #0x4\n"
              "     fmadd s0, s2, s1, s0\n"
              "     b.ne L1\n");
    Assembly calls =
        code({"inc rax", "je @5", "call 0x1030 <void report(int, char)@plt>", "call rax", "jne @0", "ret"});
    EXPECT_EQ(listing_of(calls, calls.loops.at(0)),
              "L1:  inc rax\n"
              "     je f+0x50\n"
              "     call void report(int, char)@plt\n"
              "     call rax\n"
              "     jne L1\n");
    Assembly bits = code({"tbz w0, #0x3, @2", "add x0, x0, #0x1", "cbnz x8, @0"}, "littleaarch64");
    EXPECT_EQ(listing_of(bits, bits.loops.at(0)),
              "L1:  tbz w0, #0x3, L2\n"
              "     add x0, x0, #0x1\n"
              "L2:  cbnz x8, L1\n");
}

TEST(Model, says_what_holds_a_loop_back) {
    std::optional<Throughput> busy = parse_throughput(multiply_adds_model);
    ASSERT_TRUE(busy);
    EXPECT_DOUBLE_EQ(busy->cycles, 8.03);
    EXPECT_DOUBLE_EQ(busy->micro_operations, 18);
    EXPECT_NEAR(busy->resource_share, 0.9763, 1e-9);
    EXPECT_NEAR(busy->dependency_share, 0.1239, 1e-9);
    EXPECT_EQ(busy->busiest, "Zn4FP0, Zn4FP1");
    std::optional<Throughput> waiting = parse_throughput(dot_model);
    ASSERT_TRUE(waiting);
    EXPECT_DOUBLE_EQ(waiting->cycles, 4.055);
    EXPECT_NEAR(waiting->resource_share, 0.0333, 1e-9);
    EXPECT_NEAR(waiting->dependency_share, 0.6880, 1e-9);
    EXPECT_EQ(waiting->busiest, "");
}

TEST(Model, takes_the_mean_of_units_with_one_name) {
    std::string text =
        "Iterations:        100\nTotal Cycles:      200\nTotal uOps:        300\n\n\n"
        "No resource or data dependency bottlenecks discovered.\n\n\n"
        "Resources:\n[0.0] - Load\n[0.1] - Load\n[1]   - Add\n\n\n"
        "Resource pressure per iteration:\n[0.0]  [0.1]  [1]\n 1.90   1.80   1.20\n\n";
    std::optional<Throughput> throughput = parse_throughput(text);
    ASSERT_TRUE(throughput);
    EXPECT_EQ(throughput->busiest, "Load");
    EXPECT_EQ(throughput->resource_share, 0);
    EXPECT_EQ(throughput->dependency_share, 0);
    EXPECT_EQ(parse_throughput(replace_all(text, "1.80", "-"))->busiest, "");
}

TEST(Model, says_nothing_without_its_numbers) {
    for (const char* text : {"", "Iterations:", "Iterations: 0\nTotal Cycles: 5\nTotal uOps: 5\n",
                             "Iterations: x\nTotal Cycles: 5\nTotal uOps: 5\n", "Iterations: 5\nTotal Cycles: 5\n"})
        EXPECT_FALSE(parse_throughput(text)) << text;
}

class OfThisMachine : public testing::Test {
protected:
    void SetUp() override {
        if (kernel_compilers().empty()) GTEST_SKIP() << "no compiler for kernels";
        if (!installed("llvm-objdump")) GTEST_SKIP() << "no llvm-objdump";
        Problem problem;
        problem.name = "scale";
        problem.dimensions = {"N"};
        problem.inputs = {{"x", DType::float32, {Expression::symbol("N")}, Fill::normal, {}}};
        problem.outputs = {{"y", DType::float32, {Expression::symbol("N")}, Fill::normal, {}}};
        const char* source =
            "#include <stdint.h>\n"
            "extern \"C\" void scale(const float* x, float* y, int64_t N) {\n"
            "    for (int64_t i = 0; i < N; ++i)\n"
            "        y[i] = x[i] * 3 + y[i];\n"
            "}\n";
        Build build;
        build.source = source;
        build.flags = {"-gline-tables-only"};
        CppToolchain toolchain{Machine{}};
        if (toolchain.find("")->name != "clang") build.flags = {"-g1"};
        Built built = toolchain.build(problem, {build}, folder_.path(), 1).at(0);
        ASSERT_TRUE(built.ok) << built.message;
        assembly_ = disassemble(built.library, built.library.stem().string() + ".cpp");
        ASSERT_TRUE(assembly_);
    }

    // The loop with the most arithmetic.
    const Loop* main_loop() const {
        const Loop* best = nullptr;
        for (const Loop& loop : assembly_->loops)
            if (!best || mix_of(*assembly_, loop).flops > mix_of(*assembly_, *best).flops) best = &loop;
        return best;
    }

    TemporaryFolder folder_;
    std::optional<Assembly> assembly_;
};

TEST_F(OfThisMachine, a_kernel_is_disassembled_and_its_loop_is_packed) {
    const Loop* loop = main_loop();
    ASSERT_NE(loop, nullptr);
    const Function& function = assembly_->functions[loop->function];
    EXPECT_EQ(function.name, "scale");
    InstructionMix mix = mix_of(*assembly_, *loop);
    EXPECT_FALSE(mix.packed.empty()) << listing_of(*assembly_, *loop);
    EXPECT_GT(mix.loads, 0);
    EXPECT_GT(mix.stores, 0);
    EXPECT_EQ(mix.calls, 0);
    for (size_t i = loop->first; i <= loop->last; ++i) {
        EXPECT_GE(function.instructions[i].line, 3);
        EXPECT_LE(function.instructions[i].line, 4);
    }
    EXPECT_EQ(assembly_->loop_at(function.instructions[loop->first].address), loop);
    EXPECT_FALSE(disassemble(folder_.path() / "missing.so", "kernel.cpp"));
}

TEST_F(OfThisMachine, a_loop_is_modelled) {
    if (!installed("llvm-mca")) GTEST_SKIP() << "no llvm-mca";
    const Loop* loop = main_loop();
    ASSERT_NE(loop, nullptr);
    std::optional<Throughput> throughput = throughput_of(*assembly_, *loop);
    ASSERT_TRUE(throughput) << listing_of(*assembly_, *loop);
    EXPECT_GT(throughput->cycles, 0.5);
    EXPECT_LT(throughput->cycles, 1000);
    EXPECT_GE(throughput->micro_operations, mix_of(*assembly_, *loop).total / 2.0);
}

TEST_F(OfThisMachine, a_loop_that_calls_is_not_modelled) {
    Assembly calls = code({"inc rax", "call @0", "jne @0"}), unknown = code({"inc rax", "<unknown>", "jne @0"});
    EXPECT_FALSE(throughput_of(calls, calls.loops.at(0)));
    EXPECT_FALSE(throughput_of(unknown, unknown.loops.at(0)));
}

TEST_F(OfThisMachine, padding_prefixes_and_targets_elsewhere_are_understood) {
    if (assembly_->architecture != "x86_64" || !installed("llvm-mca")) GTEST_SKIP() << "no llvm-mca of x86-64";
    Assembly odd = code(
        {"inc rax", "nop word ptr cs:[rax + rax]", "je @7", "lock", "inc dword ptr [rdi]", "ja @0", "jne @0", "ret"});
    EXPECT_TRUE(throughput_of(odd, odd.loops.at(0)));
}

}  // namespace
}  // namespace strop
