// One function for several targets: a source that chooses, and a unit a target, which is compiled with flags of its
// own. On its way to the judge it is one text: the chooser, then each unit under a line `// strop:unit TARGET
// FLAGS...`.
#pragma once

#include <string>
#include <vector>

#include "core/problem.h"

namespace strop {

struct Unit {
    std::string target;              // device/target.h
    std::vector<std::string> flags;  // that it was measured with, all of them
    std::string source;              // its function is unit_entry()
};

struct Units {
    std::string chooser;
    std::vector<Unit> units;  // empty: an ordinary source
};

std::string unit_entry(const std::string& problem, const std::string& target);  // "softmax_cpu_avx2"
std::string target_variable(const std::string& problem);                        // "softmax_TARGET"

std::string one_text(const Units& units);
Units units_of(const std::string& text);

// The function of the problem that calls the unit which the host can execute and that asks most of it. `units`: any
// order.
std::string chooser_source(const Problem& problem, const std::vector<Unit>& units, const std::string& header);
// What it offers beside the function, for a header in C.
std::string chooser_declarations(const std::string& problem, const std::vector<std::string>& targets);
// What a unit for the native target was compiled for, for the chooser: the end of that unit.
std::string native_needs(const std::string& problem);

}  // namespace strop
