// Decides which configuration to measure next. Ask for some, tell what they took, in any order.
#pragma once

#include <memory>
#include <vector>

#include "core/kernel.h"
#include "tune/space.h"

namespace strop::tune {

class Searcher {
public:
    virtual ~Searcher() = default;
    // Up to `count` configurations that were neither proposed nor told before; empty when the space is
    // exhausted.
    virtual std::vector<Configuration> propose(size_t count) = 0;
    // `cost` is what to minimise (any positive scale); infinity for a failure. Also for configurations
    // measured elsewhere.
    virtual void tell(const Configuration& configuration, double cost) = 0;
    // The best told so far; empty before the first success.
    virtual std::optional<Configuration> best() const = 0;
    // True when the neighbourhood of the best is exhausted as well as a share of random restarts: little is
    // left to gain.
    virtual bool converged() const = 0;
};

// Starts from `initial`, then a few random ones, then descends over neighbours with restarts. Seeded,
// repeatable.
std::unique_ptr<Searcher> make_searcher(const TunableSpace& space, const Configuration& initial,
                                        uint64_t seed);

}  // namespace strop::tune
