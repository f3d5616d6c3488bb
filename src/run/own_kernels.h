// Kernels that were there before the run: a person's own, and winners of earlier runs.
#pragma once

#include <string>
#include <vector>

#include "core/proposer.h"
#include "core/record.h"

namespace strop {

// The problem at the shapes that the only kernel is for (`strop:when`): the result refuses others. As it is for
// several.
Problem problem_of(const std::vector<OwnSource>& only, Problem problem);

class OwnKernels : public Proposer {
public:
    // UsageError for tunables that cannot be read.
    OwnKernels(const std::vector<OwnSource>& sources, const Problem& problem);
    // A reference in C++ is a kernel, too: with its own tunables, and those of the compiler that it leaves open.
    void add_reference(bool several_compilers);

    std::string name() const override { return "a person"; }
    std::vector<Proposal> plan() override;
    std::string why_nothing() const override { return {}; }
    std::vector<Proposal> deepen(const Strategy&, const Kernel&, const Evaluation&,
                                 const std::vector<std::string>&) override {
        return {};
    }
    // As they are, with the first value of each tunable: what the user would use instead.
    std::vector<Contender> contenders() const;

private:
    const Problem& problem_;
    std::vector<Proposal> proposals_, reference_;
};

class EarlierWinners : public Proposer {
public:
    explicit EarlierWinners(std::vector<Proposal> proposals) : proposals_(std::move(proposals)) {}

    std::string name() const override { return "an earlier run"; }
    std::vector<Proposal> plan() override { return proposals_; }
    std::string why_nothing() const override { return {}; }
    std::vector<Proposal> deepen(const Strategy&, const Kernel&, const Evaluation&,
                                 const std::vector<std::string>&) override {
        return {};
    }

private:
    std::vector<Proposal> proposals_;
};

}  // namespace strop
