// A loop's best case by a model of the processor: llvm-mca on its instructions.
#pragma once

#include <optional>
#include <string>

#include "language/assembly.h"

namespace strop {

// Of the processor that this runs on. Nothing where llvm-mca is missing or does not know an instruction, and for loops
// that call functions.
std::optional<Throughput> throughput_of(const Assembly& assembly, const Loop& loop);
// Of llvm-mca's output: its text, because its JSON leaves the bottleneck analysis out.
std::optional<Throughput> parse_throughput(const std::string& text);

}  // namespace strop
