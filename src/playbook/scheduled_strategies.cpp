#include "playbook/scheduled_strategies.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "backend/cuda.h"
#include "graph/batch_loops.h"
#include "graph/expand_scatters.h"
#include "graph/unroll.h"
#include "playbook/partition.h"
#include "playbook/stage_schedules.h"
#include "playbook/value_names.h"

namespace strop::playbook {

namespace {

constexpr size_t most_nodes = 1000;  // of a graph that is searched for large stages
constexpr size_t most_launches = 400;
constexpr size_t most_variants = 8;

struct Plan {
    Fusion fusion;
    const char *id, *hypothesis;
};
constexpr Plan plans[] = {
    {Fusion::fused, "fused_stages",
     "each launch fuses as much as one structure can hold, so that few values pass through memory"},
    {Fusion::apart, "stages_apart", "products and convolutions stand alone"},
    {Fusion::plain, "plain_stages", "one launch for each value that is stored, a thread for each element"}};

struct Draft {
    std::string lacks;
    std::vector<std::vector<StageSchedule>> stages;  // the ways of each
    std::vector<schedule::Buffer> buffers;           // between stages
};

class Drafter {
public:
    Drafter(const Problem& problem, const Graph& graph, int64_t kept_bytes)
        : problem_(problem),
          kept_bytes_(kept_bytes),
          graph_(own_outputs(problem, graph)),
          plain_only_(graph_.nodes.size(), 0) {}

    Draft draft(Fusion fusion) const {
        const auto claimed = [](const StageProblem& stage) { return is_structure(stage.graph); };
        const std::vector<Stage> stages = partition(problem_, graph_, fusion, claimed, plain_only_);
        if (stages.size() > most_launches)
            return {fmt::format("a computation of {} stages (at most {}): cut the reference into several problems",
                                stages.size(), most_launches),
                    {},
                    {}};
        const std::vector<std::string> names = names_of_values(problem_, graph_, stages);
        const std::set<int> outputs(graph_.outputs.begin(), graph_.outputs.end());
        Draft draft;
        for (const Stage& stage : stages) {
            const std::string name = "compute_" + names[static_cast<size_t>(stage.outputs.back())];
            const StageProblem part = stage_problem(problem_, graph_, stage, names, name);
            std::vector<StageSchedule> ways = schedule_stage(part.problem, part.graph, name, stage.plain, kept_bytes_);
            if (ways.empty() && draft.lacks.empty()) draft.lacks = "a value in the middle of a launch";
            draft.stages.push_back(std::move(ways));
            for (int id : stage.outputs)
                if (!outputs.contains(id))
                    draft.buffers.push_back({names[static_cast<size_t>(id)], graph_.at(id).dtype, graph_.at(id).shape});
        }
        return draft;
    }

private:
    const Problem& problem_;
    const int64_t kept_bytes_;
    const Graph graph_;
    const std::vector<char> plain_only_;
};

// The whole of a draft with one way for each stage.
schedule::Schedule joined(const Draft& draft, const std::vector<size_t>& ways, const std::string& hypothesis) {
    schedule::Schedule whole;
    whole.hypothesis = hypothesis;
    whole.buffers = draft.buffers;
    for (size_t k = 0; k < ways.size(); ++k) {
        const StageSchedule& stage = draft.stages[k][ways[k]];
        whole.launches.insert(whole.launches.end(), stage.launches.begin(), stage.launches.end());
        whole.buffers.insert(whole.buffers.end(), stage.buffers.begin(), stage.buffers.end());
        for (const Tunable& tunable : stage.space.tunables)
            if (std::none_of(whole.space.tunables.begin(), whole.space.tunables.end(),
                             [&](const Tunable& one) { return one.name == tunable.name; }))
                whole.space.tunables.push_back(tunable);
        if (!stage.condition) continue;
        whole.condition =
            whole.condition
                ? Expression::parse(fmt::format("({}) and ({})", whole.condition->text(), stage.condition->text()))
                : *stage.condition;
    }
    return whole;
}

// Each way of the only stage is a strategy.
std::vector<ScheduledStrategy> of_one_stage(const Draft& draft) {
    std::vector<ScheduledStrategy> strategies;
    for (size_t way = 0; way < draft.stages[0].size(); ++way) {
        const StageSchedule& stage = draft.stages[0][way];
        ScheduledStrategy one;
        one.schedule = joined(draft, {way}, stage.hypothesis);
        one.strategy.id = stage.id;
        one.strategy.family = "launch";
        one.strategy.hypothesis = stage.hypothesis;
        one.strategy.bottleneck = stage.bottleneck;
        one.strategy.confidence = stage.confidence;
        strategies.push_back(std::move(one));
    }
    return strategies;
}

// The likeliest way of each stage; variants exchange one of them.
ScheduledStrategy of_stages(const Draft& draft, const Plan& plan) {
    const std::vector<size_t> first(draft.stages.size(), 0);
    ScheduledStrategy base;
    base.schedule = joined(draft, first, plan.hypothesis);
    base.strategy.id = plan.id;
    base.strategy.family = "program";
    base.strategy.hypothesis = plan.hypothesis;
    base.strategy.bottleneck = "memory";
    base.strategy.confidence = plan.fusion == Fusion::fused ? 0.6 : plan.fusion == Fusion::apart ? 0.5 : 0.3;
    for (size_t k = 0; k < draft.stages.size(); ++k)
        for (size_t way = 1; way < draft.stages[k].size() && base.variants.size() < most_variants; ++way) {
            std::vector<size_t> ways = first;
            ways[k] = way;
            ScheduledStrategy variant;
            variant.strategy = base.strategy;
            variant.suffix = fmt::format("stage_{}_{}", k + 1, draft.stages[k][way].id);
            variant.schedule = joined(draft, ways, plan.hypothesis);
            base.variants.push_back(std::move(variant));
        }
    return base;
}

}  // namespace

Abilities abilities_of(Language language) {
    if (language == Language::cuda) return {backend::cuda_kept_bytes, true};
    return {0, language == Language::opencl};
}

ScheduledStrategies scheduled_strategies(const Problem& problem, const Graph& given, const Abilities& abilities) {
    const Graph graph =
        expand_scatters(has_loops(given) ? simplify(unrolled_loops(simplify(batched_loops(given)))) : given);
    if (has_loops(graph)) return {{}, "a loop whose number of steps varies (C++ has one), or is large"};
    if (graph.outputs.size() != problem.outputs.size()) return {{}, "as many results as outputs"};
    if (has_halves(problem) && !abilities.halves)
        return {{}, "16-bit tensors, which Triton and TileLang modules do not read and write yet"};
    ScheduledStrategies result;
    for (const Plan& plan : plans) {
        if (plan.fusion != Fusion::plain && graph.nodes.size() > most_nodes) continue;
        const Draft draft = Drafter(problem, graph, abilities.kept_bytes).draft(plan.fusion);
        if (!draft.lacks.empty()) {
            if (result.lacks.empty()) result.lacks = draft.lacks;
            continue;
        }
        if (draft.stages.size() == 1 && plan.fusion == Fusion::fused) {
            result.strategies = of_one_stage(draft);
            // Cut otherwise, a single stage is the same or falls apart.
            if (!result.strategies.empty()) break;
        }
        result.strategies.push_back(of_stages(draft, plan));
    }
    for (ScheduledStrategy& one : result.strategies)
        for (const ScheduledStrategy& other : result.strategies)
            if (other.strategy.id != one.strategy.id) one.strategy.excludes.push_back(other.strategy.id);
    std::stable_sort(result.strategies.begin(), result.strategies.end(),
                     [](const ScheduledStrategy& a, const ScheduledStrategy& b) {
                         return a.strategy.confidence > b.strategy.confidence;
                     });
    return result;
}

}  // namespace strop::playbook
