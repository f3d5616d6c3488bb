#include "run/own_kernels.h"

#include "language/contract.h"

namespace strop {

OwnKernels::OwnKernels(const std::vector<OwnSource>& sources) {
    for (const OwnSource& own : sources) {
        Proposal proposal;
        proposal.strategy.id = proposal.strategy.family = own.name;
        proposal.strategy.proposer = name();
        proposal.strategy.hypothesis = "a kernel of your own, with its tunables turned";
        Kernel& kernel = proposal.kernel;
        kernel.id = kernel.strategy = own.name;
        kernel.author = name();
        kernel.source = own.source;
        kernel.language = own.language;
        kernel.space = parse_tunables(own.source, own.name);
        kernel.initial = default_configuration(kernel.space);
        proposals_.push_back(std::move(proposal));
    }
}

std::vector<Contender> OwnKernels::contenders() const {
    std::vector<Contender> contenders;
    for (const Proposal& proposal : proposals_) {
        const std::string name = proposals_.size() == 1 ? "your kernel" : "your " + proposal.kernel.id;
        contenders.push_back({name, "", proposal.kernel, proposal.kernel.initial});
    }
    return contenders;
}

}  // namespace strop
