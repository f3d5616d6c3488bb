// What the convolution emitter knows of its graph: one convolution of two inputs over one to three axes, then pointwise
// operations with operands that differ by image, by filter or by pixel.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "core/problem.h"
#include "graph/graph.h"

namespace strop::playbook {

// An input of the epilogue, of shape [N or 1, K or 1, Z or 1, P or 1, Q or 1] with leading ones left out.
struct EpilogueOperand {
    int node = 0;
    std::string name;
    bool per_image = false, per_filter = false, per_pixel = false;
};

struct ConvolutionForm {
    std::string lacks;   // non-empty: why this graph is not for this emitter
    bool found = false;  // there is a convolution, even when something is lacking

    int node = 0;    // the convolution
    int result = 0;  // what the output holds; equal to `node` without an epilogue
    std::string x, w, y;
    // Depth, height and width; those that a convolution over fewer axes lacks are 1.
    std::vector<Expression> image, kernel, out, stride, padding, dilation;
    Expression images, channels, filters, groups;
    bool volumes = false;  // three axes

    std::vector<EpilogueOperand> operands;
    std::set<std::string> scalars;  // parameters and dimensions that the epilogue reads
};

ConvolutionForm recognise_convolution(const Problem& problem, const Graph& graph);

// True when `id` depends on the convolution or on an operand that differs by pixel.
bool varies_by_pixel(const Graph& graph, const ConvolutionForm& form, int id);

}  // namespace strop::playbook
