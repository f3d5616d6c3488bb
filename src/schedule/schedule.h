// What kernels do, in no language: launches over axes, and what is computed at each position. Masks,
// barriers, lanes and vector widths are not here; a writer (backend/) derives them. The vocabulary is that of
// tile languages: grid, fold, scan, dot, keep, store.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "core/kernel.h"
#include "core/problem.h"
#include "schedule/law.h"
#include "schedule/term.h"

namespace strop::schedule {

// Positions 0 .. extent-1. Expressions of terms and stores read the position by the name.
struct Axis {
    std::string name;
    Expression extent;
};

// A value that later steps read at the same positions, so that it is not computed or loaded again.
struct Keep {
    std::string name;
    int term = 0;
};

// Combines the states of all positions by a law. Later terms read a part of the result by its name.
struct Fold {
    std::vector<std::string> names;  // one per part of the law
    Law law;
    std::vector<int> terms;  // the state of one position, one term per part
};

struct Store {
    std::string tensor;
    std::vector<Expression> at;  // as of a load
    int term = 0;
};

// Folds that run over the same positions together.
struct FoldStep {
    std::vector<Fold> folds;
};

// The inclusive prefix along the step's last axis; the stores see it by its name.
struct ScanStep {
    std::string name;
    Law law;  // of one part
    int term = 0;
    std::vector<Store> stores;
};

// name[m, n] = the sum over the step's last axis of a * b. Only in a launch that shares out tiles.
struct DotStep {
    std::string name;
    DType dtype = DType::float32;
    int a = 0, b = 0;  // a does not depend on the grid's last axis, b not on the last but one
};

struct KeepStep {
    std::vector<Keep> values;
};

struct StoreStep {
    std::vector<Store> stores;
};

// Done at each position of the grid, in order. A step over axes is done for all their positions before the
// next begins.
struct Step {
    std::vector<Axis> axes;
    std::variant<FoldStep, ScanStep, DotStep, KeepStep, StoreStep> what;
};

// Who takes a position of the grid.
enum class Share {
    threads,  // one thread; it walks over the steps' axes
    blocks,   // the threads of one block, which share the last axis of each step
    tiles,    // one block takes a tile of the grid's last two axes (TILE_M x TILE_N)
};

struct Launch {
    std::string name;  // an identifier
    Share share = Share::threads;
    std::vector<Axis> grid;
    std::vector<Term> terms;  // operands before those that use them
    std::vector<Step> steps;
};

// Memory between launches.
struct Buffer {
    std::string name;
    DType dtype = DType::float32;
    std::vector<Expression> shape;
};

struct Schedule {
    std::string hypothesis;  // one sentence, for the head of the source
    std::vector<Buffer> buffers;
    std::vector<Launch> launches;         // in sequence
    TunableSpace space;                   // beside those that a writer adds for its threads
    std::optional<Expression> condition;  // over dimensions: where it may be used; absent: everywhere
};

// Names of tunables that expressions of a schedule may use and every writer knows.
inline constexpr const char* tile_m = "TILE_M";
inline constexpr const char* tile_n = "TILE_N";
inline constexpr const char* tile_k = "TILE_K";

// Elements that one Keep may hold at a position of the grid.
inline constexpr int64_t most_kept = 4096;

// The type of a tensor that a launch reads or writes: an input, an output or a buffer. UsageError when there is none.
DType dtype_of(const Problem& problem, const Schedule& schedule, const std::string& tensor);

}  // namespace strop::schedule
