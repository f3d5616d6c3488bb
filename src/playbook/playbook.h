// The built-in proposer: strategies for the structure of the traced graph, and their variants for deepening.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "core/proposer.h"
#include "playbook/recipe.h"

namespace strop::playbook {

class Playbook : public Proposer {
public:
    // `graph_json`: the tracer's document. `language`: of its kernels, C++, OpenCL or CUDA.
    Playbook(const Problem& problem, const std::string& graph_json, const Machine& machine,
             Language language = Language::cpp);

    std::string name() const override { return "playbook"; }
    std::vector<Proposal> plan() override;
    // From then on: lower ranks come first, equal ones in the playbook's own order. Strategies that are not named: 0.
    void arrange(const std::map<std::string, int>& ranks);
    std::string why_nothing() const override { return why_nothing_; }
    std::vector<Proposal> deepen(const Strategy& strategy, const Kernel& kernel, const Evaluation& evaluation,
                                 const std::vector<std::string>& tried) override;

    const Graph& graph() const { return graph_; }

private:
    Proposal propose(const Recipe& recipe, const std::string& parent);

    Graph graph_;
    std::vector<Recipe> recipes_;
    std::map<std::string, const Recipe*> by_strategy_;  // where a strategy's variants are
    std::string why_nothing_;
};

}  // namespace strop::playbook
