// The valid configurations of a tunable space, enumerated by depth-first search with constraints tested as
// soon as their last variable is bound (never the Cartesian product).
#pragma once

#include <cstdint>
#include <optional>
#include <random>
#include <vector>

#include "core/kernel.h"

namespace strop::tune {

class Space {
public:
    // At most `limit` configurations are kept (`truncated()` says so). UsageError for a constraint that
    // cannot be evaluated.
    explicit Space(const TunableSpace& space, size_t limit = 2'000'000);

    size_t size() const { return count_; }
    bool truncated() const { return truncated_; }
    const std::vector<Tunable>& tunables() const { return tunables_; }
    Configuration configuration(size_t index) const;
    // The index of each tunable's value.
    std::vector<uint16_t> coordinates(size_t index) const;
    std::optional<size_t> find(const Configuration& configuration) const;
    // Valid configurations that differ in exactly one tunable; `adjacent`: only by one step in its list of
    // values.
    std::vector<size_t> neighbours(size_t index, bool adjacent = false) const;

private:
    std::vector<Tunable> tunables_;
    std::vector<uint16_t> rows_;  // count_ × tunables, sorted
    size_t count_ = 0;
    bool truncated_ = false;
};

}  // namespace strop::tune
