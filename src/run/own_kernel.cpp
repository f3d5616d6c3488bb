#include "run/own_kernel.h"

#include "language/contract.h"

namespace strop {

OwnKernel::OwnKernel(const std::string& name, const std::string& source) {
    proposal_.strategy.id = proposal_.strategy.family = name;
    proposal_.strategy.proposer = "a person";
    proposal_.strategy.hypothesis = "a kernel of your own, with its tunables turned";
    Kernel& kernel = proposal_.kernel;
    kernel.id = kernel.strategy = name;
    kernel.author = "a person";
    kernel.source = source;
    kernel.space = parse_tunables(source, name);
    kernel.initial = default_configuration(kernel.space);
}

}  // namespace strop
