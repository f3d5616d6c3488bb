#include "run/own_kernels.h"

#include <algorithm>

#include "language/contract.h"
#include "language/reference_kernel.h"
#include "problem/cpp_reference.h"

namespace strop {

namespace {

// What turns loops that were written as they are thought into vectors; NaN and infinity stay what they are.
constexpr const char* usual_flags =
    "// strop:flags STROP_FLAGS = -O3 | -O3 -fassociative-math -fno-signed-zeros -fno-trapping-math | -O2 | "
    "-O3 -funroll-loops\n";
constexpr const char* both_compilers = "// strop:compiler STROP_COMPILER = clang | g++\n";

Proposal proposal_of(const OwnSource& own, const Problem& problem, const std::string& author,
                     const std::string& hypothesis) {
    Proposal proposal;
    proposal.strategy.id = proposal.strategy.family = own.name;
    proposal.strategy.proposer = author;
    proposal.strategy.hypothesis = hypothesis;
    Kernel& kernel = proposal.kernel;
    kernel.id = kernel.strategy = own.name;
    kernel.author = author;
    kernel.source = own.source;
    kernel.language = own.language;
    read_directives(kernel, problem, own.name);
    const auto promised = [&](const Expression& condition) { return condition.text() == kernel.condition->text(); };
    if (kernel.condition && std::any_of(problem.require.begin(), problem.require.end(), promised))
        kernel.condition.reset();  // it may be called at every shape
    kernel.initial = default_configuration(kernel.space);
    return proposal;
}

}  // namespace

Problem problem_of(const std::vector<OwnSource>& only, Problem problem) {
    if (only.size() != 1) return problem;
    const Kernel kernel = proposal_of(only[0], problem, "", "").kernel;
    if (kernel.condition) problem.require.push_back(*kernel.condition);
    return problem;
}

OwnKernels::OwnKernels(const std::vector<OwnSource>& sources, const Problem& problem) : problem_(problem) {
    for (const OwnSource& own : sources)
        proposals_.push_back(proposal_of(own, problem, name(), "a kernel of your own, with its tunables turned"));
}

void OwnKernels::add_reference(bool several_compilers) {
    std::string source = reference_as_kernel(problem_, read_cpp_reference(problem_.reference).source);
    const TunableSpace own = parse_tunables(source, problem_.reference.string());
    auto has = [&](Tunable::Kind kind) {
        return std::any_of(own.tunables.begin(), own.tunables.end(),
                           [&](const Tunable& tunable) { return tunable.kind == kind; });
    };
    if (!has(Tunable::Kind::flags)) source = usual_flags + source;
    if (several_compilers && !has(Tunable::Kind::compiler)) source = both_compilers + source;
    reference_ = {proposal_of({"reference", source, Language::cpp}, problem_, name(),
                              "the reference itself, with its tunables, flags and compilers turned")};
}

std::vector<Proposal> OwnKernels::plan() {
    std::vector<Proposal> all = proposals_;
    all.insert(all.end(), reference_.begin(), reference_.end());
    return all;
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
