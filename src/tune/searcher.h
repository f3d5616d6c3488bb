// Decides which configuration to measure next. Ask for some, tell what they took, in any order.
#pragma once

#include <memory>
#include <vector>

#include "core/kernel.h"
#include "tune/prior.h"
#include "tune/space.h"

namespace strop::tune {

class Searcher {
public:
    virtual ~Searcher() = default;
    // Up to `count` configurations that were neither proposed nor told before; empty when the space is
    // exhausted.
    virtual std::vector<Configuration> propose(size_t count) = 0;
    // `cost` is what to minimise (any positive scale); infinity for a failure. Also for configurations
    // measured elsewhere, and again when a cost has changed.
    virtual void tell(const Configuration& configuration, double cost) = 0;
    // The best told so far; empty before the first success.
    virtual std::optional<Configuration> best() const = 0;
    // True when nothing was gained for long and the neighbourhood of the best is exhausted: little is left to
    // gain.
    virtual bool converged() const = 0;
};

// What is known before the first measurement.
struct SearchStart {
    std::optional<Configuration> initial;  // the author's guess: proposed first
    uint64_t seed = 0;
    std::vector<EarlierRun> earlier;  // of similar problems, shapes or machines; those of other tunables are ignored
};

// The initial configuration, what earlier runs found best, a few that lie far apart, then a Gaussian process
// with expected improvement, times how probably a configuration works, over the valid configurations, and
// neighbourhoods of the best in turns with it when that stalls.
// Seeded, repeatable. `space` outlives the searcher.
std::unique_ptr<Searcher> make_searcher(const Space& space, const SearchStart& start);

}  // namespace strop::tune
