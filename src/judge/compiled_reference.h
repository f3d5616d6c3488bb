// A reference in C or C++, compiled for the process that evaluates it: as declared, and in float64.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "core/problem.h"
#include "language/cpp.h"

namespace strop::judge {

struct CompiledReference {
    std::filesystem::path declared, wide;  // libraries; `wide` is empty where expected values are those of `declared`
    std::vector<int64_t> late_values;
    std::string note;  // what a reader of results must know of it; usually empty
};

// With the kernels' compiler and flags, the first value of each tunable. UsageError where it does not compile.
CompiledReference compile_reference(const Problem& problem, CppToolchain& toolchain,
                                    const std::filesystem::path& folder);

}  // namespace strop::judge
