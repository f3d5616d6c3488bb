#include "playbook/playbook.h"

#include <algorithm>
#include <iterator>
#include <set>

#include <fmt/format.h>

#include "base/strings.h"
#include "graph/batch_loops.h"
#include "language/contract.h"
#include "playbook/partition.h"

namespace strop::playbook {

namespace {

// The recipe's guess where it is valid; else the space's own default.
Configuration valid_guess(const TunableSpace& space, const Configuration& guess) {
    Configuration configuration = default_configuration(space);
    for (const Tunable& tunable : space.tunables) {
        auto wanted = guess.find(tunable.name);
        if (wanted == guess.end()) continue;
        if (std::find(tunable.values.begin(), tunable.values.end(), wanted->second) != tunable.values.end())
            configuration[tunable.name] = wanted->second;
    }
    Bindings bindings(configuration.begin(), configuration.end());
    for (const Expression& constraint : space.constraints)
        if (!truthy(constraint.evaluate(bindings))) return default_configuration(space);
    return configuration;
}

using Emitter = Recipes (*)(const Problem&, const Graph&, const Machine&);

// In the order in which they are asked.
std::vector<Emitter> emitters_of(Language language) {
    if (language == Language::opencl) return {emit_opencl};
    if (language == Language::cuda) return {emit_cuda};
    return {emit_structure, emit_program};
}

// Sources that no kernel may have.
void drop_too_long(Recipes& found) {
    auto too_long = [](const Recipe& recipe) { return recipe.source.size() > longest_source; };
    for (Recipe& recipe : found.recipes) std::erase_if(recipe.variants, too_long);
    if (std::erase_if(found.recipes, too_long) > 0 && found.recipes.empty())
        found.lacks = fmt::format("a source of more than {}", human_bytes(static_cast<double>(longest_source)));
}

// The least number of steps that a loop has at these dimensions, also of those within others; 0 if there is no loop.
int64_t least_steps(const Problem& problem, const Graph& graph, const Dimensions& dims) {
    int64_t least = 0;
    const auto bindings = bindings_of(problem, dims);
    for (const Node& node : graph.nodes) {
        if (!node.loop) continue;
        const std::set<std::string> symbols = node.loop->count.symbols();
        const bool known = std::all_of(symbols.begin(), symbols.end(),
                                       [&](const std::string& symbol) { return bindings.contains(symbol); });
        if (known) least = std::min(least, node.loop->count.evaluate_integer(bindings));
        least = std::min(least, least_steps(problem, node.loop->body, dims));
    }
    return least;
}

// A loop over range(2, T) is traced for two steps before it: where the range allows an extent at which there are not as
// many, NumPy may do less, and the graph does not say what. Empty if there is none.
std::string smallest_extents_lack(const Problem& problem, const Graph& graph) {
    constexpr int64_t most_steps_before = 16;
    if (!has_loops(graph) || problem.points.empty()) return {};
    for (const std::string& name : problem.dimensions) {
        auto range = problem.range.find(name);
        if (range == problem.range.end()) continue;
        Dimensions dims = problem.points.front().dims;
        const int64_t low = dims[name] = range->second.low;
        const int64_t steps = least_steps(problem, graph, dims);
        if (steps >= 0 || !admits(problem, dims)) continue;
        while (least_steps(problem, graph, dims) < 0 && dims[name] < low + most_steps_before) ++dims[name];
        return fmt::format(
            "a loop of {} steps, as there are at {}={}: let the range begin at {} (range: {{{}: [{}, {}]}})", steps,
            name, low, dims[name], name, dims[name], range->second.high);
    }
    return {};
}

Recipes found_for(const Problem& problem, const Graph& graph, const Machine& machine, Language language) {
    Recipes result;
    StageProblem whole{problem, graph};
    if (language == Language::cpp) whole = with_shapes_as_used(std::move(whole));
    for (Emitter emit : emitters_of(language)) {
        Recipes found = emit(whole.problem, whole.graph, machine);
        drop_too_long(found);
        if (!found.recipes.empty()) return found;
        if (!found.lacks.empty()) result.lacks = found.lacks;
    }
    return result;
}

// A way to see the loops of a graph.
struct Way {
    Graph graph;
    std::string name, hypothesis;
};

// The likeliest first.
std::vector<Way> ways_to_loop(const Graph& graph, Language language) {
    if (!has_loops(graph) || language != Language::cpp) return {{graph, "", ""}};
    std::vector<Way> all = {{simplify(batched_loops(graph)), "", ""},
                            {simplify(batched_loops(graph, Products::before_loops)), "products_before_loops",
                             "products that need no state are made before the loop, all of them at once: "},
                            {graph, "step_by_step", "the steps of the loop one after the other: "}};
    std::vector<Way> ways;
    std::set<std::string> known;
    for (Way& way : all)
        if (known.insert(describe(way.graph)).second) ways.push_back(std::move(way));
    return ways;
}

// Beside those of a likelier way.
void become_another_way(std::vector<Recipe>& recipes, const Way& way) {
    constexpr size_t most = 2;
    if (recipes.size() > most) recipes.resize(most);
    for (Recipe& recipe : recipes) {
        recipe.strategy.id += "_" + way.name;
        recipe.strategy.hypothesis = way.hypothesis + recipe.strategy.hypothesis;
        recipe.strategy.confidence *= 0.7;
        recipe.variants.clear();
    }
}

}  // namespace

Playbook::Playbook(const Problem& problem, const std::string& graph_json, const Machine& machine, Language language)
    : graph_(parse_graph(graph_json)) {
    if (!graph_.untraceable.empty()) {
        why_nothing_ = fmt::format("the reference cannot be traced: {}", graph_.untraceable);
        return;
    }
    graph_ = simplify(graph_);
    std::string lacks = smallest_extents_lack(problem, graph_);
    if (!lacks.empty()) {
        why_nothing_ = fmt::format("the playbook has no emitter for {}", lacks);
        return;
    }
    for (const Way& way : ways_to_loop(graph_, language)) {
        Recipes found = found_for(problem, way.graph, machine, language);
        if (lacks.empty()) lacks = found.lacks;
        const bool another = !recipes_.empty();
        if (another) become_another_way(found.recipes, way);
        std::move(found.recipes.begin(), found.recipes.end(), std::back_inserter(recipes_));
        if (!another) continue;
        for (Recipe& recipe : recipes_) recipe.strategy.excludes.clear();
        exclude_each_other(recipes_);
    }
    if (!recipes_.empty()) return;
    if (lacks.empty()) lacks = "this combination of operations";
    why_nothing_ = fmt::format("the playbook has no emitter for {}", lacks);
}

Proposal Playbook::propose(const Recipe& recipe, const std::string& parent) {
    Proposal proposal;
    proposal.strategy = recipe.strategy;
    proposal.strategy.proposer = name();
    proposal.strategy.parent = parent;
    if (!recipe.suffix.empty() && !parent.empty()) proposal.strategy.id = parent + "+" + recipe.suffix;
    Kernel& kernel = proposal.kernel;
    kernel.id = kernel.strategy = proposal.strategy.id;
    kernel.language = recipe.language;
    kernel.source = recipe.source;
    kernel.space = parse_tunables(recipe.source, kernel.id);
    kernel.initial = valid_guess(kernel.space, recipe.initial);
    kernel.author = name();
    kernel.parent = parent;
    kernel.condition = recipe.condition;
    by_strategy_[proposal.strategy.id] = &recipe;
    return proposal;
}

std::vector<Proposal> Playbook::plan() {
    std::vector<Proposal> proposals;
    for (const Recipe& recipe : recipes_) proposals.push_back(propose(recipe, {}));
    return proposals;
}

void Playbook::arrange(const std::map<std::string, int>& ranks) {
    auto rank_of = [&](const Recipe& recipe) {
        auto found = ranks.find(recipe.strategy.id);
        return found == ranks.end() ? 0 : found->second;
    };
    by_strategy_.clear();  // recipes move
    std::stable_sort(recipes_.begin(), recipes_.end(),
                     [&](const Recipe& a, const Recipe& b) { return rank_of(a) < rank_of(b); });
}

std::vector<Proposal> Playbook::deepen(const Strategy& strategy, const Kernel&, const Evaluation&,
                                       const std::vector<std::string>& tried) {
    auto found = by_strategy_.find(strategy.id);
    if (found == by_strategy_.end()) return {};
    for (const Recipe& variant : found->second->variants) {
        std::string id = strategy.id + "+" + variant.suffix;
        if (std::find(tried.begin(), tried.end(), id) == tried.end()) return {propose(variant, strategy.id)};
    }
    return {};
}

}  // namespace strop::playbook
