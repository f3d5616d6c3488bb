// The same over float64.
#pragma once

#include "core/problem.h"
#include "graph/graph.h"

namespace strop {

inline void widen(Problem& problem, Graph& graph) {
    const auto wider = [](DType& dtype) {
        if (dtype == DType::float32) dtype = DType::float64;
    };
    for (std::vector<Tensor>* tensors : {&problem.inputs, &problem.outputs})
        for (Tensor& tensor : *tensors) wider(tensor.dtype);
    for (Parameter& parameter : problem.parameters) wider(parameter.dtype);
    for (Node& node : graph.nodes) wider(node.dtype);
}

}  // namespace strop
