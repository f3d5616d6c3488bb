// Programs of several stages, for graphs that no emitter writes as one kernel.
#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "base/strings.h"
#include "graph/operations.h"
#include "graph/recurrence.h"
#include "graph/rewrite.h"
#include "graph/work.h"
#include "language/contract.h"
#include "playbook/contraction_form.h"
#include "playbook/convolution_form.h"
#include "playbook/doubles.h"
#include "playbook/halves.h"
#include "playbook/loop_form.h"
#include "playbook/operand_copies.h"
#include "playbook/orders.h"
#include "playbook/partition.h"
#include "playbook/place_form.h"
#include "playbook/plain_loops.h"
#include "playbook/program_text.h"
#include "playbook/recipe.h"
#include "playbook/recurrence_form.h"
#include "playbook/scan_form.h"
#include "playbook/short_reductions.h"
#include "playbook/table_text.h"
#include "playbook/value_names.h"
#include "playbook/window_form.h"

namespace strop::playbook {

namespace {

constexpr size_t most_nodes = 4000;      // of a graph that is searched for large stages
constexpr size_t most_fast_stages = 64;  // that differ: each has code of its own
constexpr size_t most_stages = 2000;
constexpr double most_plain_cost = 4;    // of an operation, in additions, that compilers have vectors for
constexpr size_t most_tuned_stages = 8;  // of a program whose plain stages have a tunable of their own each
constexpr size_t most_variants = 8;
constexpr int most_attempts = 6;                                // to cut a graph into stages
constexpr double most_buffer_bytes = 6.0 * (int64_t{1} << 30);  // what a kernel may have beside its tensors

bool claimed(const StageProblem& given) {
    const std::optional<StageProblem> single = in_single(given.problem, given.graph);
    const StageProblem& whole = single ? *single : given;
    if (recurrence_form(whole.problem, whole.graph).lacks.empty()) return true;
    const StageProblem stage = with_merged_axes(whole);
    for (const Node& node : stage.graph.nodes) {
        if (node.family == Family::contraction) return find_contraction(stage.problem, stage.graph).lacks.empty();
        if (node.family == Family::convolution) return recognise_convolution(stage.problem, stage.graph).lacks.empty();
    }
    return loop_form(stage.problem, stage.graph).lacks.empty() ||
           window_form(stage.problem, stage.graph).lacks.empty() ||
           place_form(stage.problem, stage.graph).lacks.empty() || scan_form(stage.problem, stage.graph).lacks.empty();
}

// A program with one kernel for each stage, and what else could stand in its places.
struct Draft {
    std::string lacks;
    std::vector<StageKernel> kernels;
    std::vector<std::vector<Recipe>> alternatives;  // one list a stage; the first is what the kernel has
    std::vector<Buffer> buffers;
    std::map<std::string, size_t> known;  // stages by their content
};

class Drafter {
public:
    Drafter(const Problem& problem, const Graph& graph, const Machine& machine)
        : problem_(problem),
          graph_(own_outputs(problem, own_loop_operands(problem, arranged_operands(widened_operands(problem, graph))))),
          machine_(machine),
          plain_only_(graph_.nodes.size(), 0) {}

    Draft draft(Fusion fusion) {
        // A stage whose structure fits may still hold an operation that its emitter cannot write, and there may be too
        // many of them.
        for (int attempt = 0; attempt < most_attempts; ++attempt) {
            std::vector<Stage> stages = partition(problem_, graph_, fusion, claimed, plain_only_);
            if (stages.size() > most_stages)
                return {fmt::format("a computation of {} stages (at most {}): cut the reference into several problems",
                                    stages.size(), most_stages)};
            names_ = names_of_values(problem_, graph_, stages);
            Draft draft;
            bool complete = true;
            for (const Stage& stage : stages)
                complete = add(stage, stages.size() <= most_tuned_stages, draft) && complete;
            complete = complete && leave_quickest_plain(stages, draft);
            if (!draft.lacks.empty() || complete) {
                find_buffers(stages, draft);
                return draft;
            }
        }
        return {"stages that no emitter writes"};
    }

private:
    bool add(const Stage& stage, bool tuned, Draft& draft) {
        StageProblem part = with_merged_axes(stage_problem(
            problem_, graph_, stage, names_, "compute_" + names_[static_cast<size_t>(stage.outputs.back())]));
        StageKernel kernel;
        kernel.problem = part.problem;
        if (is_between(stage)) kernel.source = table_text(part.problem, part.graph);
        if (!kernel.source.empty()) {
            kernel.is_table = true;
            draft.kernels.push_back(std::move(kernel));
            draft.alternatives.emplace_back();
            return true;
        }
        kernel.seconds = estimate(part, stage.plain);
        const auto [known, is_new] = draft.known.try_emplace(content_of(part, stage.plain), draft.kernels.size());
        if (!is_new) {
            kernel.same_as = known->second;
            draft.kernels[known->second].seconds += std::exchange(kernel.seconds, 0);
            draft.kernels.push_back(std::move(kernel));
            draft.alternatives.emplace_back();
            return true;
        }
        std::vector<Recipe> recipes;
        if (!stage.plain) {
            Recipes found = emit_structure(part.problem, part.graph, machine_);
            recipes = std::move(found.recipes);
            const bool only_a_loop = std::all_of(stage.nodes.begin(), stage.nodes.end(),
                                                 [&](int id) { return graph_.at(id).loop != nullptr; });
            if (recipes.empty() && only_a_loop) {
                draft.lacks = found.lacks;
                return false;
            }
            if (recipes.empty()) {
                for (int id : stage.nodes) plain_only_[static_cast<size_t>(id)] = 1;
                return false;
            }
            // The likeliest first, and what may be called everywhere before what may not.
            std::stable_sort(recipes.begin(), recipes.end(), [](const Recipe& a, const Recipe& b) {
                return std::make_pair(a.condition.has_value(), -a.strategy.confidence) <
                       std::make_pair(b.condition.has_value(), -b.strategy.confidence);
            });
            use(recipes.front(), kernel);
        }
        if (stage.plain || kernel.condition) {
            std::string plain = write_plain(part, stage.plain && tuned, draft);
            (stage.plain ? kernel.source : kernel.otherwise) = plain;
        }
        draft.kernels.push_back(std::move(kernel));
        draft.alternatives.push_back(std::move(recipes));
        return true;
    }

    bool is_between(const Stage& stage) const {
        return std::none_of(stage.outputs.begin(), stage.outputs.end(), [&](int id) {
            return std::find(graph_.outputs.begin(), graph_.outputs.end(), id) != graph_.outputs.end();
        });
    }

    // Of a program with too many kernels of their own, those that should take least become plain loops.
    bool leave_quickest_plain(const std::vector<Stage>& stages, const Draft& draft) {
        std::vector<size_t> fast;
        for (size_t k = 0; k < draft.kernels.size(); ++k)
            if (!stages[k].plain && !draft.kernels[k].same_as && !draft.kernels[k].is_table) fast.push_back(k);
        if (fast.size() <= most_fast_stages) return true;
        std::stable_sort(fast.begin(), fast.end(),
                         [&](size_t a, size_t b) { return draft.kernels[a].seconds > draft.kernels[b].seconds; });
        const std::set<size_t> quickest(fast.begin() + most_fast_stages, fast.end());
        for (size_t k = 0; k < draft.kernels.size(); ++k)
            if (quickest.contains(draft.kernels[k].same_as.value_or(k)))
                for (int id : stages[k].nodes) plain_only_[static_cast<size_t>(id)] = 1;
        return false;
    }

    // All that its function depends on, whatever its tensors are called: layers of a network that repeat have one.
    static std::string content_of(const StageProblem& part, bool plain) {
        std::string content = plain ? "plain" : "";
        for (const auto* tensors : {&part.problem.inputs, &part.problem.outputs})
            for (const Tensor& tensor : *tensors) content += fmt::format(" {}", name_of(tensor.dtype));
        for (const std::string& dimension : part.problem.dimensions) content += " " + dimension;
        for (Node node : part.graph.nodes) {
            for (size_t k = 0; k < part.problem.inputs.size() && node.family == Family::input; ++k)
                if (part.problem.inputs[k].name == node.op) {
                    node.op = fmt::format("{}", k);
                    break;
                }
            content += "\n" + describe_node(node);
        }
        for (int id : part.graph.outputs) content += fmt::format(" {}", id);
        return content;
    }

    static void use(const Recipe& recipe, StageKernel& kernel) {
        kernel.source = recipe.source;
        kernel.initial = recipe.initial;
        kernel.condition = recipe.condition;
    }

    std::string write_plain(const StageProblem& part, bool tuned, Draft& draft) const {
        PlainLoops loops = write_plain_loops(part.problem, part.graph);
        if (draft.lacks.empty()) draft.lacks = loops.lacks;
        std::string includes = "#include <stdint.h>\n#include <cmath>\n#include <limits>\n#include <type_traits>\n";
        if (has_sort(loops.helpers)) includes += "#include <memory>\n#include <utility>\n";
        std::string name = part.problem.name.substr(std::string("compute_").size()), settings, constant;
        if (loops.body.find("team::parallel") != std::string::npos) {
            settings = "// strop:team\n";
            if (tuned) settings += "// strop:late PARALLEL_MIN = 16384 | 65536 | 262144\n";
            if (!tuned) constant = "\nconstexpr int64_t PARALLEL_MIN = 16384;\n";
        }
        return fmt::format("// {}: plain loops\n{}{}{}{}{}\n{}", name, settings, includes, constant,
                           half_types(part.problem), plain_helpers(loops.helpers), loops.body);
    }

    // Whether a compiler makes vectors of it by itself.
    static bool is_plainly_fast(const Graph& graph) {
        return std::all_of(graph.nodes.begin(), graph.nodes.end(), [](const Node& node) {
            if (node.family == Family::pointwise) return operation_of(node)->cost <= most_plain_cost;
            return node.family == Family::input || node.family == Family::constant ||
                   node.family == Family::parameter || node.op == "broadcast" || node.op == "reshape";
        });
    }

    // The larger of arithmetic and traffic, at the first shape; plain loops use a tenth of either, if they are more
    // than a few additions.
    double estimate(const StageProblem& part, bool plain) const {
        if (problem_.points.empty()) return 0;
        const Dimensions& dims = problem_.points.front().dims;
        double bytes = 0, flops = count_flops(part.graph, bindings_of(problem_, dims));
        for (const auto* tensors : {&part.problem.inputs, &part.problem.outputs})
            for (const Tensor& tensor : *tensors) bytes += static_cast<double>(bytes_of(problem_, tensor, dims));
        double rate = machine_.ceilings.fma_flops_all_cores > 0 ? machine_.ceilings.fma_flops_all_cores : 1e11;
        double bandwidth = machine_.ceilings.memory_read > 0 ? machine_.ceilings.memory_read : 2e10;
        return std::max(bytes / bandwidth, flops / rate) * (!plain ? 1 : is_plainly_fast(part.graph) ? 1.5 : 10);
    }

    void find_buffers(const std::vector<Stage>& stages, Draft& draft) const {
        std::set<int> outputs(graph_.outputs.begin(), graph_.outputs.end());
        for (size_t k = 0; k < stages.size() && draft.lacks.empty(); ++k)
            for (int id : stages[k].outputs) {
                if (outputs.contains(id) || draft.kernels[k].is_table) continue;
                const Node& node = graph_.at(id);
                Buffer buffer{names_[static_cast<size_t>(id)], node.dtype, node.shape, k, k};
                for (size_t later = k; later < stages.size(); ++later)
                    for (const Tensor& input : draft.kernels[later].problem.inputs)
                        if (input.name == buffer.name) buffer.last = later;
                draft.buffers.push_back(std::move(buffer));
            }
        for (const ShapePoint& point : problem_.points) {
            double bytes = bytes_of_slots(draft.buffers, bindings_of(problem_, point.dims));
            double most = most_buffer_bytes;
            if (machine_.memory_bytes > 0) most = std::min(most, 0.5 * static_cast<double>(machine_.memory_bytes));
            if (bytes > most && draft.lacks.empty())
                draft.lacks = fmt::format(
                    "stages whose buffers take {:.1f} GiB at the shape '{}': make that shape smaller, or leave it out",
                    bytes / (1 << 30), point.label);
        }
    }

    const Problem& problem_;
    const Graph graph_;
    const Machine& machine_;
    std::vector<char> plain_only_;
    std::vector<std::string> names_;
};

struct Plan {
    Fusion fusion;
    std::string id, hypothesis;
};

double total_of(const Draft& draft) {
    double total = 0;
    for (const StageKernel& kernel : draft.kernels) total += kernel.seconds;
    return total;
}

// Another kernel in one of the stages, those that should take longest first.
std::vector<Recipe> variants_of(const Problem& problem, const Draft& draft, const Recipe& base,
                                const std::string& comment) {
    std::vector<size_t> order;
    for (size_t k = 0; k < draft.kernels.size(); ++k) order.push_back(k);
    std::stable_sort(order.begin(), order.end(),
                     [&](size_t a, size_t b) { return draft.kernels[a].seconds > draft.kernels[b].seconds; });
    std::vector<Recipe> variants;
    for (size_t place = 1; variants.size() < most_variants; ++place) {
        bool any = false;
        for (size_t k : order) {
            if (place >= draft.alternatives[k].size() || variants.size() >= most_variants) continue;
            any = true;
            const Recipe& other = draft.alternatives[k][place];
            if (other.condition) continue;
            std::vector<StageKernel> kernels = draft.kernels;
            kernels[k].source = other.source;
            kernels[k].initial = other.initial;
            ProgramText text = write_program(problem, comment, kernels, draft.buffers);
            Recipe variant;
            variant.strategy = base.strategy;
            variant.suffix = fmt::format("stage_{}_{}", k + 1, other.strategy.id);
            variant.source = text.source;
            variant.initial = text.initial;
            variants.push_back(std::move(variant));
        }
        if (!any) break;
    }
    return variants;
}

}  // namespace

Recipes emit_program(const Problem& problem, const Graph& given, const Machine& machine) {
    if (given.outputs.size() != problem.outputs.size()) return {{}, "as many results as outputs"};
    const Graph graph = simplify(with_orders(unrolled_short_reductions(given)));
    const std::vector<Plan> plans = {
        {Fusion::fused, "fused_stages",
         "each stage fuses as much as one kernel can hold, so that few values pass through memory"},
        {Fusion::apart, "stages_apart", "products and convolutions stand alone, as plain as their kernels can be"},
        {Fusion::plain, "plain_stages",
         "one loop nest for each value that is stored, with what is cheap computed where it is read"}};
    // A loop over time is one stage, however many its steps are.
    size_t nodes = graph.nodes.size();
    for (const Recurrence& loop : find_recurrences(graph)) nodes -= (loop.steps.size() - 1) * loop.body.size();
    Recipes result;
    double least = 0;
    for (const Plan& plan : plans) {
        if (plan.fusion != Fusion::plain && nodes > most_nodes) continue;
        Draft draft = Drafter(problem, graph, machine).draft(plan.fusion);
        if (!draft.lacks.empty()) {
            if (result.lacks.empty()) result.lacks = draft.lacks;
            continue;
        }
        const std::string comment = problem.name + ": " + plan.hypothesis;
        ProgramText text = write_program(problem, comment, draft.kernels, draft.buffers);
        bool known = std::any_of(result.recipes.begin(), result.recipes.end(), [&](const Recipe& other) {
            return other.source.substr(other.source.find('\n')) == text.source.substr(text.source.find('\n'));
        });
        if (known) continue;
        Recipe recipe;
        recipe.source = text.source;
        recipe.initial = text.initial;
        recipe.strategy.id = plan.id;
        recipe.strategy.family = "program";
        recipe.strategy.proposer = "playbook";
        recipe.strategy.hypothesis = plan.hypothesis;
        recipe.strategy.bottleneck = "memory";
        double seconds = total_of(draft);
        if (least == 0) least = seconds;
        recipe.strategy.confidence = seconds > 0 ? std::min(0.7, 0.6 * least / seconds) : 0.5;
        recipe.variants = variants_of(problem, draft, recipe, comment);
        result.recipes.push_back(std::move(recipe));
    }
    exclude_each_other(result.recipes);
    std::stable_sort(result.recipes.begin(), result.recipes.end(),
                     [](const Recipe& a, const Recipe& b) { return a.strategy.confidence > b.strategy.confidence; });
    return result;
}

}  // namespace strop::playbook
