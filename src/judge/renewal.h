// Secret elements of a shape's timed inputs that get other values, and their old ones back. Results that were kept of
// what lies there, or are carried on from call to call, are wrong then. They are few: who looks at a sample of the
// inputs to know whether they have changed sees nothing. And they lie in all windows: whatever calls see at the moment
// of the change, some of it changes.
#pragma once

#include <array>
#include <cstdint>
#include <random>
#include <utility>
#include <vector>

#include "core/problem.h"

namespace strop::judge {

// A row of values of an input in the memory, of which each call sees a part.
struct Row {
    int64_t at, bytes;
    int64_t seen_bytes;  // by a call
};

class Renewal {
public:
    // Draws elements of every input's row, and a value from the same distribution for each.
    Renewal(const Problem& problem, const Dimensions& dims, const std::vector<Row>& rows, const char* memory,
            uint64_t seed);

    void apply(char* memory) const;
    void undo(char* memory) const;
    // Where it writes, {offset, bytes} in the memory, added to `ranges`.
    void add_ranges(std::vector<std::pair<int64_t, int64_t>>& ranges) const;
    // Two that were drawn apart are different ones.
    uint64_t name() const { return name_; }
    static uint64_t name_of(uint64_t seed);

private:
    struct Element {
        int64_t at;  // in the memory
        size_t size;
        std::array<char, 8> old, other;
    };
    void draw(DType dtype, int64_t at, const std::vector<char>& values, const char* memory, std::mt19937_64& random);

    std::vector<Element> elements_;
    uint64_t name_;
};

}  // namespace strop::judge
