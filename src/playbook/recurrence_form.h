// A graph seen as a loop over time whose rows do not depend on each other: a recurrent layer over a batch, a running
// state. A block of rows can go through all steps by itself, with its state in the nearest cache and no barrier between
// steps.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "core/problem.h"
#include "graph/graph.h"

namespace strop::playbook {

// Memory of one block of rows: rows x columns.
struct RowBuffer {
    std::string name;
    Expression columns;
    bool padded = false;  // to whole panels of a product
};

// sums = left * weights, over the rows of a block.
struct RowProduct {
    size_t left = 0, sums = 0;  // buffers
    Expression depth, columns;
    Graph weights;               // its one output: the right operand
    bool columns_first = false;  // its axes are (columns, depth)
};

// One of a loop's results.
struct RowResult {
    struct Place {
        std::string output;
        std::string element;  // C++ text, at row i and column j of a block
    };
    int node = 0;                  // of the loop's graph
    std::optional<size_t> buffer;  // where it is kept
    std::vector<Place> places;     // where it is written as well
};

// One pass over columns: pointwise operations on what is there.
struct RowLoop {
    Graph graph;  // inputs: tensors of the problem and buffers, by name
    Expression columns;
    std::vector<RowResult> results;
};

// Who shares out what: a thread takes some rows through all steps, or some columns of each step, so that its part of
// the weights stays in its cache; the next step waits for all.
enum class RecurrenceShare { rows, columns };

struct RecurrenceForm {
    std::string lacks;                           // non-empty: why this graph is none
    Problem problem;                             // with names that collide with nothing in a kernel
    std::map<std::string, Expression> original;  // of its symbols that have another name here
    Expression rows;
    Expression steps;
    bool whole_rows = true;  // false: columns do not depend on each other either
    RecurrenceShare share = RecurrenceShare::rows;
    std::vector<RowBuffer> buffers;
    std::vector<RowLoop> initial;  // before the first step
    // Of one step, in order: products[k] before loops[k]; the first loop may be empty.
    struct Phase {
        std::vector<RowProduct> products;
        std::vector<RowLoop> loops;
    };
    std::vector<Phase> phases;
    struct Copy {
        size_t from, to;  // buffers
    };
    std::vector<Copy> copies;  // at the end of each step
    struct Reading {
        std::optional<int64_t> step;  // after which; absent: after all
        RowLoop loop;
    };
    std::vector<Reading> readings;  // in order
    std::string row, step;          // names of the first row of a block, and of the step
};

// What the rows of a block are called.
inline constexpr const char* rows_of_block = "ROWS";
// All names that its kernels use themselves.
const std::set<std::string>& recurrence_kernel_names();

RecurrenceForm recurrence_form(const Problem& problem, const Graph& graph,
                               RecurrenceShare share = RecurrenceShare::rows);

}  // namespace strop::playbook
