// A person's kernel as the only strategy: what `strop tune` searches.
#pragma once

#include "core/proposer.h"

namespace strop {

class OwnKernel : public Proposer {
public:
    // UsageError for tunables that cannot be read.
    OwnKernel(const std::string& name, const std::string& source);

    std::string name() const override { return "a person"; }
    std::vector<Proposal> plan() override { return {proposal_}; }
    std::string why_nothing() const override { return {}; }
    std::vector<Proposal> deepen(const Strategy&, const Kernel&, const Evaluation&,
                                 const std::vector<std::string>&) override {
        return {};
    }

private:
    Proposal proposal_;
};

}  // namespace strop
