// The valid configurations of a tunable space, numbered from 0, without visiting the Cartesian product and
// without holding them one by one.
//
// A chain of trees (Rasch, Haidl, Gorlatch 2017) whose equal subtrees are shared, that is a multi-valued
// decision diagram: tunables are bound in an order that completes the tightest constraints first, each
// constraint is tested as soon as its last tunable is bound, and two partial configurations that agree in all
// tunables which later constraints still need share what follows. Counts at every node give ranking and
// unranking.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "core/kernel.h"

namespace strop::tune {

class Space {
public:
    static constexpr size_t usually_tried = size_t{1} << 25;  // some seconds

    // UsageError for a constraint that cannot be evaluated, and for a space whose diagram does not fit in memory or
    // takes more than so many tries of a value beside those before it.
    explicit Space(const TunableSpace& space, size_t most_tried = usually_tried);
    // Exactly these configurations, each with a listed value for every tunable: a space that was measured and
    // whose constraints nobody wrote down. UsageError for one that is not of the space.
    Space(const std::vector<Tunable>& tunables, const std::vector<Configuration>& valid);

    size_t size() const { return count_; }
    const std::vector<Tunable>& tunables() const { return tunables_; }
    Configuration configuration(size_t index) const;
    // The index of each tunable's value.
    std::vector<uint16_t> coordinates(size_t index) const;
    std::optional<size_t> find(const Configuration& configuration) const;
    std::optional<size_t> index_of(const std::vector<uint16_t>& coordinates) const;
    // Valid configurations that differ in exactly one tunable; `adjacent`: only by one step in its list of
    // values.
    std::vector<size_t> neighbours(size_t index, bool adjacent = false) const;

private:
    friend class SpaceBuilder;
    struct Edge {
        uint64_t before;  // configurations of the node that come before this edge's
        uint32_t child;
        uint16_t value;
    };
    struct Node {
        uint32_t first_edge = 0, last_edge = 0;
        uint64_t count = 0;
    };

    std::optional<std::vector<uint16_t>> coordinates_of(const Configuration& configuration) const;

    std::vector<Tunable> tunables_;
    std::vector<size_t> order_;  // level -> tunable
    std::vector<Node> nodes_;    // the first is the end of every configuration
    std::vector<Edge> edges_;    // of a node: side by side, by value
    uint32_t root_ = 0;
    size_t count_ = 0;
};

}  // namespace strop::tune
