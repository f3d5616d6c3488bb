// Who has ideas: the playbook or a language model. Lives here, and not beside an implementation, so that
// search knows neither.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/evaluation.h"
#include "core/kernel.h"
#include "core/machine.h"
#include "core/problem.h"

namespace strop {

// A strategy together with its first kernel.
struct Proposal {
    Strategy strategy;
    Kernel kernel;
    bool proven = false;   // it won before: its first configuration is measured ahead of all others
};

// What an idea has to beat.
struct BestKnown {
    Kernel kernel;                            // the nearest to the lead over all shapes
    Evaluation evaluation;                    // in its best configuration
    std::map<std::string, double> least_ns;   // by label, of all kernels
};

class Proposer {
public:
    virtual ~Proposer() = default;
    virtual std::string name() const = 0;
    // Its ideas cost money or long waits: none of its kernels is to go unmeasured.
    virtual bool paid() const { return false; }
    // Fundamentally different strategies, most promising first; empty when it has none, then
    // `why_nothing()` says why ("no emitter for 'cumsum'").
    virtual std::vector<Proposal> plan() = 0;
    virtual std::string why_nothing() const = 0;
    // One changed kernel for a strategy that did well, with the strategy it now stands for; empty when it has
    // no further idea. `tried`: ids of this strategy's kernels that were judged already.
    virtual std::vector<Proposal> deepen(const Strategy& strategy, const Kernel& kernel,
                                         const Evaluation& evaluation,
                                         const std::vector<std::string>& tried) = 0;
    // Before it is asked for more than plans.
    virtual void hear(const BestKnown&) {}
    // A kernel of its own that is the same as one that is known already.
    virtual void refuse(const Proposal&, const std::string& /*known*/) {}
    // Whether it also has ideas for strategies of others.
    virtual bool deepens_others() const { return false; }
    // A kernel of its own failed at its first configurations: the repaired one, or nothing.
    virtual std::optional<Proposal> repair(const Strategy&, const Kernel&, const Evaluation&) { return std::nullopt; }
    // The search stands still: new strategies, unlike all that were tried; or nothing.
    virtual std::vector<Proposal> widen(const std::vector<Strategy>&) { return {}; }
    // Its opinion how promising strategies are, by id, in [0, 1]; `confidence` holds the measured standing.
    virtual std::map<std::string, double> score(const std::vector<Strategy>&) { return {}; }
};

}  // namespace strop
