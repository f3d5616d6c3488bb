// Graphs drawn from all that the playbook's emitters take, with shapes to run their kernels at.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "fakes/graph_builder.h"

namespace strop::playbook {

// Dimensions and whole-numbered parameters by name.
using Sizes = Dimensions;

struct DrawnGraph {
    std::string name;
    Problem problem;
    Graph graph;
    std::vector<Sizes> shapes;
    bool races = false;  // worth a look for races: the first of its structure
};

// Every pointwise operation of the graph's language occurs in each kind of loop nest whose emitter takes it, with
// operands, chains and outputs that the seed draws; every kind of reduction; products in all orders of their axes, with
// epilogues; convolutions of all kinds, with an epilogue; windows, searches and scans.
std::vector<DrawnGraph> drawn_graphs(uint64_t seed);

}  // namespace strop::playbook
