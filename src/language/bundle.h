// One self-contained C++ source out of the winners and the dispatch: what the user takes home. Each kernel sits
// in its own namespace with its configuration as constants; includes come once, at the top.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "core/dispatch.h"
#include "core/problem.h"

namespace strop {

struct BundleNotes {
    std::string header;                  // lines of comment at the top (what, measured where, by which run)
    std::map<int, std::string> winners;  // comment above each kernel: hypothesis, measured times
    std::map<int, std::string> leaves;   // comment beside each dispatch leaf, by node index
    std::string entry;                   // the function's name; empty: the problem's
};

// A valid kernel of the problem's contract without tunables, readable, clang-formatted in style by construction.
// A kernel whose flags tunable is set gets them noted; flags themselves are returned by `bundle_flags`.
std::string bundle(const Problem& problem, const std::vector<DispatchWinner>& winners, const DispatchTree& tree,
                   const BundleNotes& notes);

// The compiler that the winners' compiler tunables ask for, the first where they differ; empty where none does.
std::string bundle_compiler(const std::vector<DispatchWinner>& winners);

// The union of compiler flags that the winners' flags tunables ask for ("-O3 -funroll-loops").
std::string bundle_flags(const std::vector<DispatchWinner>& winners);

// The bundle's source as a kernel that is compiled as its winners were.
Kernel bundled_kernel(const std::string& source, const std::vector<DispatchWinner>& winners);

}  // namespace strop
