// Why a kernel takes as long as it does: what was measured of it, and the judgement over that. Plain data.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/evaluation.h"

namespace strop {

// The instructions of one iteration of a loop. An instruction with a memory operand is a load or a store too.
struct InstructionMix {
    int total = 0;
    int scalar = 0;             // floating-point arithmetic on one value
    std::map<int, int> packed;  // floating-point arithmetic on vectors, by their bytes: 16, 32, 64
    int fused = 0;              // of the arithmetic: multiply-adds
    int divisions = 0;          // of the arithmetic: divisions and square roots
    int shuffles = 0;           // moves within and between registers that rearrange: permute, unpack, insert, extract
    int conversions = 0;
    int loads = 0, stores = 0;  // whatever they move
    int gathers = 0;            // of the loads and stores: with an index vector
    int stack = 0;              // of the loads and stores: at the stack pointer, mostly registers that were spilled
    int calls = 0;
    int branches = 0;  // its own end not counted
    double flops = 0;  // a fused multiply-add is two for each value
};

// What a model of the processor says of a loop whose data is in the first-level cache (llvm-mca).
struct Throughput {
    double cycles = 0;  // an iteration, in the steady state
    double micro_operations = 0;
    double dependency_share = 0;  // of the cycles: held back by chains of results that wait for each other
    double resource_share = 0;    // of the cycles: held back by busy execution units
    std::string busiest;          // the execution unit, or units, that most of it needs; empty: none stands out
};

// An innermost loop, found by where the instruction pointer was.
struct HotLoop {
    std::string function;
    uint64_t first = 0, last = 0;  // addresses in the library, of instructions; the last branches back
    int line = 0, last_line = 0;   // of the kernel's source; 0: unknown
    double share = 0;              // of the samples
    InstructionMix mix;
    std::optional<Throughput> throughput;
    std::string listing;  // the instructions, a line each
};

struct PointProfile {
    ShapePoint point;
    Measurement time;                      // a call, on all cores
    Measurement one_core;                  // the same with one thread, measured in turns with it
    int threads = 1;                       // that its process had while it ran
    int samples = 0;                       // of where its threads were
    std::map<std::string, double> places;  // shares of the samples by library; "kernel", and "waiting" for idle threads
    std::vector<HotLoop> loops;            // of the kernel, the hottest first
    std::map<std::string, double> counters;  // of the hardware, a call
};

struct Profile {
    Verdict verdict = Verdict::ok;  // only a kernel that is right gets any further
    std::string evidence;
    std::vector<PointProfile> points;
    std::vector<std::string> missing;  // what could not be had here, and why
};

// Where time can be lost.
enum class Dimension { memory, compute, parallelism, algorithm };
std::string name_of(Dimension dimension);
// "line 12", "lines 12–15" of the source, or where it begins in the library.
std::string lines_of(const HotLoop& loop);

struct Finding {
    Dimension dimension = Dimension::memory;
    double reached = 0;  // 1: nothing is lost here
    std::string evidence;
};

// What limits a kernel at one shape.
struct Diagnosis {
    std::string label;
    double traffic_ns = 0, compute_ns = 0;  // that the machine's ceilings allow at least; 0: unknown
    std::vector<Finding> findings;          // one a dimension
    Dimension limit = Dimension::memory;
    bool at_ceiling = false;  // of that dimension: no better code for the same work
    std::string next;         // the one change to try first
};

}  // namespace strop
