// Pieces of source that the convolution kernels share. Names follow the literature: x[N,C,H,W],
// w[K,C/groups,R,S], y[N,K,P,Q].
#pragma once

#include <set>
#include <string>

#include "core/machine.h"
#include "core/problem.h"
#include "playbook/convolution_form.h"

namespace strop::playbook {

struct ConvolutionText {
    std::string head;               // what the strategy does, as comment lines
    std::string tunables;           // `// strop:` lines
    std::string constants;          // what pack_weights needs: MR, when it is no tunable
    std::string body;               // from the shared helpers' end to `convolve`
    std::set<std::string> helpers;  // of the prelude, beside load, store and splat
    bool planes = false;            // uses split_plane
    bool panels = false;            // uses pack_weights (filters of a panel side by side)
};

// The whole kernel: head, tunables, prelude, Shape, Operands, finish, helpers, body, the entry function.
// Empty when the epilogue cannot be written; then `lacks` says why.
std::string write_convolution(const Problem& problem, const Graph& graph, const ConvolutionForm& form,
                              const ConvolutionText& text, std::string& lacks);

// `// strop:tune` lines of the register tile: filters × vectors of pixels, or pixels × vectors of filters.
struct RegisterTile {
    int lanes = 8, registers = 16;
    explicit RegisterTile(const Machine& machine);
    int wide() const { return registers >= 32 ? 8 : 4; }   // rows beside three vectors
    int tall() const { return registers >= 32 ? 12 : 6; }  // rows beside two
    std::string tunables(const std::string& rows_name, const std::string& vectors_name) const;
};

}  // namespace strop::playbook
