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
    bool proven = false;  // it won before: its first configuration is measured ahead of all others
};

// What an idea has to beat.
struct BestKnown {
    Kernel kernel;                            // the nearest to the lead over all shapes
    Evaluation evaluation;                    // in its best configuration
    std::map<std::string, double> least_ns;   // by label, of all kernels
    std::map<std::string, double> standings;  // by author, in [0, 1]: of its best kernel
};

// What came, some time later, of a question.
struct Answer {
    enum class Kind { plan, deepening, repair, opinions };
    Kind kind = Kind::plan;
    std::string strategy;                    // that is deepened or repaired
    std::vector<Proposal> proposals;         // none: it has no idea
    std::map<std::string, double> opinions;  // how promising strategies are, by id, in [0, 1]
};

// Whoever thinks for long answers later: a question then begins its work, the search goes on, and `arrived` has what
// came of it.
class Proposer {
public:
    virtual ~Proposer() = default;
    virtual std::string name() const = 0;
    // Its ideas cost money or long waits: none of its kernels is to go unmeasured.
    virtual bool paid() const { return false; }
    // Fundamentally different strategies, most promising first, that are there at once; empty when it has none, then
    // `why_nothing()` says why ("no emitter for 'cumsum'").
    virtual std::vector<Proposal> plan() = 0;
    virtual std::string why_nothing() const = 0;
    // One changed kernel for a strategy that did well, with the strategy it now stands for; empty when it has
    // no further idea, or answers later. `tried`: ids of this strategy's kernels that were judged already.
    virtual std::vector<Proposal> deepen(const Strategy& strategy, const Kernel& kernel, const Evaluation& evaluation,
                                         const std::vector<std::string>& tried) = 0;
    // Before it is asked for more than plans.
    virtual void hear(const BestKnown&) {}
    // A kernel of its own that is the same as one that is known already.
    virtual void refuse(const Proposal&, const std::string& /*known*/) {}
    // Whether it also has ideas for strategies of others.
    virtual bool deepens_others() const { return false; }

    // Answered later. False: it has nothing to say to that, and no answer will come.
    // A kernel of its own failed at its first configurations and is to be mended.
    virtual bool repair(const Strategy&, const Kernel&, const Evaluation&) { return false; }
    // The search stands still: new strategies, unlike all that were tried.
    virtual bool widen(const std::vector<Strategy>&) { return false; }
    // Its opinion how promising strategies are; `confidence` holds the measured standing.
    virtual bool score(const std::vector<Strategy>&) { return false; }

    // The answers that came since. `wait`: where none is there and some may bring kernels, it waits for the next; in
    // vain when the search's time ends.
    virtual std::vector<Answer> arrived(bool /*wait*/) { return {}; }
    // How many kernels may still come of what it was asked.
    virtual size_t expected() const { return 0; }
};

}  // namespace strop
