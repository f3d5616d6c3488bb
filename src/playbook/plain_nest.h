// One nest of plain loops: its loops from the outside in, and what stands before and after each.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "graph/rewrite.h"
#include "playbook/loop_text.h"
#include "playbook/plain_value.h"

namespace strop::playbook {

class LoopNest {
public:
    LoopNest(const Graph& graph, const std::set<std::string>& taken) : values(graph, taken) {}

    // The iterations of a carried loop depend on each other; the others may be dealt to threads.
    Term open(const Expression& extent, bool carried = false);
    TermIndex open(const Shape& shape);
    // Two loops over one axis: tiles of `size`, and the places of a tile, between which others may be opened.
    struct Tiled {
        std::string begin, end, size;  // identifiers
    };
    Tiled open_tiles(const Expression& extent, int64_t size, bool carried = false);
    Term open_tile(const Tiled& tiles, bool carried = false);

    // Of a function that is called inside, for how many threads it pays.
    void runs_over(const Expression& extent) { called_.push_back(extent_term(extent).text); }

    int depth() const { return static_cast<int>(loops_.size()); }
    void before(int depth, const std::string& statement) { values.add(depth, statement); }
    void after(int depth, const std::string& statement) { after_[depth].push_back(statement); }

    void write(Lines& lines) { write(lines, 0); }

    PlainValues values;

private:
    struct Loop {
        std::string name, begin, end, step;  // step: empty for 1
        std::string extent;                  // all that it runs over; empty for the places of a tile
        bool carried = false;
    };
    std::string fresh_index();
    size_t joined_loops();
    std::string work() const;
    void start_threads(Lines& lines, size_t joined);
    void write(Lines& lines, size_t at);

    std::vector<Loop> loops_;
    std::vector<std::string> called_;  // extents
    std::map<int, std::vector<std::string>> after_;
};

}  // namespace strop::playbook
