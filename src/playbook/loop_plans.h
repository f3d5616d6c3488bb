// What distinguishes the strategies of a loop nest, and the kernels written for them.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "playbook/loop_form.h"

namespace strop::playbook {

// Nests of rows and columns: pointwise chains, and reductions of the last axis.
struct RowPlan {
    bool stream = false;    // outputs past the caches when they are large
    bool keep = false;      // expensive values of one pass are kept for the next in a scratch row
    bool online = false;    // passes merged block by block
    bool split = false;     // threads share each row
    bool pages = false;     // each page of large tensors is asked for some time before it is read
    bool next_row = false;  // while this row is computed, the next one comes from memory
    bool dynamic = false;   // rows are handed out in chunks
    enum class Tiles { none, along_rows, down_columns };
    Tiles tiles = Tiles::none;  // pieces of rows as the unit of work, in which order
};

// Nests of rows, depth and columns, where a lane is a column.
struct ColumnPlan {
    enum class Kind {
        panels,   // accumulators of a few vectors of columns stay in registers all the way down
        lanes,    // the same for the rows of a last-axis reduction: a lane a row
        blocked,  // accumulators of a tile of columns in L1, several rows at a time
        split,    // threads share the depth; their partial rows are combined
    };
    Kind kind = Kind::panels;
    bool stream = false;
    bool prefetch = false;
};

struct LoopKernel {
    std::string body;               // the function, with templates of its own before it
    std::set<std::string> helpers;  // of vector_prelude
    std::string lacks;              // non-empty: an operation that cannot be written
    bool uses_scratch = false;
};
LoopKernel write_rows(const LoopForm& form, const RowPlan& plan);
LoopKernel write_columns(const LoopForm& form, const ColumnPlan& plan);

// Full values that a later pass needs again and that cost more than a load.
std::vector<int> worth_keeping(const LoopForm& form);

}  // namespace strop::playbook
