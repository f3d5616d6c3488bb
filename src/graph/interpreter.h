// Evaluates a graph at given dimensions: the oracle of emitters, stages and rewrites. Slow and plain.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "graph/graph.h"

namespace strop {

// Row-major. The values are held as double whatever the type; integers are exact up to 2^53.
struct Array {
    std::vector<int64_t> shape;
    std::vector<double> values;
};
int64_t element_count(const std::vector<int64_t>& shape);

enum class Precision {
    exact,   // floating values in float64, whatever their type
    stored,  // in the types of the nodes: float32 arithmetic rounds each operation
};

// What the graph is called with, by the names of its inputs and parameters. Integer parameters are in
// `bindings`, with the dimensions.
struct Arguments {
    std::map<std::string, Array> inputs;
    Bindings bindings;
};

// The values of these nodes, or of the graph's outputs. UsageError names what is missing or does not fit: an
// input, an operation, an index outside its axis.
std::vector<Array> interpret(const Graph& graph, const Arguments& arguments, Precision precision,
                             const std::vector<int>& nodes);
std::vector<Array> interpret(const Graph& graph, const Arguments& arguments, Precision precision = Precision::exact);

// The value as an element of this type holds it.
double as_stored(double value, DType dtype);

}  // namespace strop
