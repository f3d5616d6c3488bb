#include "playbook/partition.h"

#include <algorithm>
#include <optional>
#include <set>

#include "graph/operations.h"
#include "graph/recurrence.h"
#include "graph/rewrite.h"
#include "playbook/free_nodes.h"
#include "playbook/plain_loops.h"
#include "playbook/values_in_place.h"

namespace strop::playbook {

namespace {

constexpr size_t largest_stage = 48;    // nodes; more would take the emitters long
constexpr size_t largest_plain = 160;   // of plain loops, which take their nodes as they come
constexpr size_t longest_search = 400;  // stages looked at for one circle
constexpr size_t most_steps_apart = 2;  // of a loop, before those that are one stage

size_t at(int id) { return static_cast<size_t>(id); }

class Partitioner {
public:
    Partitioner(const Problem& problem, const Graph& graph, Fusion fusion, const Claims& claims,
                const std::vector<char>& plain_only)
        : problem_(problem),
          graph_(graph),
          fusion_(fusion),
          claims_(claims),
          plain_only_(plain_only),
          free_(free_nodes(graph)),
          group_of_(graph.nodes.size(), -1),
          users_(graph.nodes.size()),
          is_output_(graph.nodes.size(), 0) {
        for (const Node& node : graph.nodes)
            for (int operand : node.operands) users_[at(operand)].push_back(node.id);
        for (int id : graph.outputs) {
            is_output_[at(id)] = 1;
            free_[at(id)] = 0;  // one that is generated is written all the same
        }
        for (const Node& node : graph.nodes) names_.push_back("value_" + std::to_string(node.id));
        for (const Node& node : graph.nodes) sources_.push_back(sources_of(node));
    }

    std::vector<Stage> run() {
        for (const Node& node : graph_.nodes)
            if (node.loop && group_of_[at(node.id)] < 0) place_loop(node);
        if (fusion_ != Fusion::plain)
            for (const Recurrence& loop : find_recurrences(graph_)) place_recurrence(loop);
        for (const Node& node : graph_.nodes)
            if ((node.family == Family::contraction || node.family == Family::convolution) &&
                group_of_[at(node.id)] < 0)
                place_product(node);
        for (const Node& node : graph_.nodes)
            if (!free_[at(node.id)] && group_of_[at(node.id)] < 0) place(node);
        join_plain_readers();
        return ordered();
    }

private:
    struct Group {
        std::vector<int> nodes;
        bool plain = false, product = false, alive = true;
    };
    // A computed value that a node reads, perhaps through views.
    struct Source {
        int node;
        bool in_order;  // element by element, so that it can be computed in the loops of its reader
    };

    std::vector<Source> sources_of(const Node& node) const {
        std::vector<Source> result;
        std::set<std::pair<int, bool>> walked;  // a chain of generated values may reach one in very many ways
        auto walk = [&](auto&& self, const Node& user, bool in_order) -> void {
            for (int id : user.operands) {
                bool direct = in_order && !reads_from_memory(graph_, user, id);
                const Node& source = graph_.at(id);
                if (!free_[at(id)]) result.push_back({id, direct});
                else if (!is_leaf(source) && walked.emplace(id, direct).second) self(self, source, direct);
            }
        };
        walk(walk, node, true);
        return result;
    }

    // ---- loops over time ---------------------------------------------------------------------------------

    // With what puts its values where they belong, if that is claimed.
    void place_loop(const Node& node) {
        std::vector<int> loop;
        for (const Node& other : graph_.nodes)
            if (are_of_one_loop(node, other)) loop.push_back(other.id);
        const auto following = [&](const std::vector<int>& nodes, const std::string& op, bool all) {
            std::vector<int> result = nodes;
            for (const Node& other : graph_.nodes) {
                if (other.op != op || group_of_[at(other.id)] >= 0 || free_[at(other.id)]) continue;
                const auto reads = [&](const Source& source) {
                    return std::count(nodes.begin(), nodes.end(), source.node) > 0;
                };
                const std::vector<Source>& sources = sources_[at(other.id)];
                if (all ? !sources.empty() && std::all_of(sources.begin(), sources.end(), reads)
                        : std::any_of(sources.begin(), sources.end(), reads))
                    result.push_back(other.id);
            }
            std::sort(result.begin(), result.end());
            return result;
        };
        const std::vector<int> with_joins = following(loop, "concatenate", false);
        const std::vector<int> with_copies = following(with_joins, "cast", true);
        for (const std::vector<int>* nodes : {&with_copies, &with_joins}) {
            const bool refused = std::any_of(nodes->begin(), nodes->end(), [&](int id) { return plain_only_[at(id)]; });
            if (refused || fusion_ == Fusion::plain || nodes->size() == loop.size() || needs_itself(*nodes)) continue;
            if (!claims_(stage_problem(problem_, graph_, stage_of(*nodes), names_, "stage"))) continue;
            return open({*nodes, false, true});
        }
        open({loop, false, true});
    }

    // All steps, with the node that puts their values side by side and the copy that turns it round, if that is
    // claimed.
    void place_recurrence(const Recurrence& loop) {
        for (size_t first = 0; first <= most_steps_apart; ++first)
            if (place_steps(loop, first)) return;
    }

    // Those from the first one on: what it makes may be needed for what the second begins with.
    bool place_steps(const Recurrence& loop, size_t first) {
        std::set<int> steps;
        for (size_t k = first; k < loop.steps.size(); ++k)
            for (int id : loop.steps[k])
                if (!free_[at(id)]) steps.insert(id);
        std::vector<std::vector<int>> choices(1);
        for (int join : joins_of(steps)) {
            choices.insert(choices.begin(), {join});
            if (const std::vector<int> readers = readers_of(join);
                readers.size() == 1 && graph_.at(readers[0]).op == "cast" && !is_output_[at(join)])
                choices.insert(choices.begin(), {join, readers[0]});
        }
        for (std::vector<int> nodes : choices) {
            nodes.insert(nodes.end(), steps.begin(), steps.end());
            std::sort(nodes.begin(), nodes.end());
            const bool plain_only =
                std::any_of(nodes.begin(), nodes.end(), [&](int id) { return plain_only_[at(id)]; });
            if (plain_only || needs_itself(nodes)) continue;
            if (!claims_(stage_problem(problem_, graph_, stage_of(nodes), names_, "stage"))) continue;
            open({nodes, false, true});
            return true;
        }
        return false;
    }

    // Whether others that read what these make, perhaps through views, are read by these.
    bool needs_itself(const std::vector<int>& nodes) const {
        enum : char { before, view, after };
        std::vector<char> stands(graph_.nodes.size(), before);
        for (const Node& node : graph_.nodes) {
            const bool ours = std::binary_search(nodes.begin(), nodes.end(), node.id);
            for (int operand : node.operands) {
                char from = stands[at(operand)];
                if (ours && from == after) return true;
                if (ours) continue;
                if (std::binary_search(nodes.begin(), nodes.end(), operand)) from = view;
                if (from == view && !free_[at(node.id)]) from = after;
                stands[at(node.id)] = std::max(stands[at(node.id)], from);
            }
        }
        return false;
    }

    // Concatenations of nothing but these.
    std::vector<int> joins_of(const std::set<int>& nodes) const {
        std::vector<int> result;
        for (const Node& node : graph_.nodes) {
            if (node.family != Family::layout || node.op != "concatenate") continue;
            const std::vector<Source>& sources = sources_[at(node.id)];
            if (!sources.empty() && std::all_of(sources.begin(), sources.end(),
                                                [&](const Source& source) { return nodes.contains(source.node); }))
                result.push_back(node.id);
        }
        return result;
    }

    // Computed nodes and outputs that read this one, perhaps through views.
    std::vector<int> readers_of(int id) const {
        std::set<int> result;
        auto walk = [&](auto&& self, int one) -> void {
            for (int user : users_[at(one)]) {
                if (!free_[at(user)] || is_output_[at(user)]) result.insert(user);
                if (free_[at(user)]) self(self, user);
            }
        };
        walk(walk, id);
        return {result.begin(), result.end()};
    }

    // ---- stages of products ------------------------------------------------------------------------------

    void place_product(const Node& node) {
        std::vector<int> group = {node.id};
        std::vector<int> after = fusion_ == Fusion::fused ? followers(node) : std::vector<int>{};
        bool claimed = false;
        for (size_t length = after.size() + 1; length-- > 0 && !claimed && fusion_ != Fusion::plain;) {
            group.assign(1, node.id);
            group.insert(group.end(), after.begin(), after.begin() + static_cast<std::ptrdiff_t>(length));
            claimed = is_claimed(group);
        }
        open({group, !claimed, true});
    }

    // Pointwise operations that need this product, and nothing else that needs it.
    std::vector<int> followers(const Node& product) const {
        constexpr size_t most = 24;
        std::vector<int> result;
        std::set<int> inside = {product.id}, tainted;
        for (size_t i = at(product.id) + 1; i < graph_.nodes.size() && result.size() < most; ++i) {
            const Node& node = graph_.nodes[i];
            bool needs = false, outside = false;
            for (int id : node.operands) {
                needs = needs || inside.contains(id) || tainted.contains(id);
                outside = outside || tainted.contains(id);
            }
            if (!needs) continue;
            bool follows = !outside && group_of_[i] < 0 && (node.family == Family::pointwise || is_view(graph_, node));
            (follows ? inside : tainted).insert(node.id);
            if (follows && !free_[i]) result.push_back(node.id);
        }
        return result;
    }

    // ---- all other stages --------------------------------------------------------------------------------

    void place(const Node& node) {
        std::set<int> before;
        for (const Source& source : sources_[at(node.id)])
            if (int group = group_of_[at(source.node)]; group >= 0 && !groups_[at(group)].product) before.insert(group);
        if (fusion_ != Fusion::plain && !plain_only_[at(node.id)]) {
            std::vector<std::set<int>> choices;
            std::set<int> further = before;  // what a fast stage may read through plain ones: a padded value
            for (int group : before)
                if (groups_[at(group)].plain) further.merge(groups_before(groups_[at(group)]));
            if (further.size() > before.size()) choices.push_back(further);
            if (before.size() > 1) choices.push_back(before);
            for (auto group = before.rbegin(); group != before.rend(); ++group) choices.push_back({*group});
            choices.push_back({});
            for (const std::set<int>& choice : choices)
                if (!makes_circle(choice, node) && is_claimed(merged(choice, node))) return join(choice, node, false);
        }
        std::set<int> inlined;
        for (const Source& source : sources_[at(node.id)])
            if (can_be_inlined(source, node)) inlined.insert(group_of_[at(source.node)]);
        join(inlined, node, true);
    }

    std::set<int> groups_before(const Group& group) const {
        std::set<int> result;
        for (int id : group.nodes)
            for (const Source& source : sources_[at(id)])
                if (int from = group_of_[at(source.node)]; from >= 0 && !groups_[at(from)].product) result.insert(from);
        return result;
    }

    // A plain value that only this node reads, and each element once.
    bool can_be_inlined(const Source& source, const Node& node) const {
        int group = group_of_[at(source.node)];
        if (group < 0 || is_output_[at(source.node)]) return false;
        if (!groups_[at(group)].plain && !(node.family == Family::reduction && is_light(groups_[at(group)])))
            return false;
        if (!source.in_order || !computes_in_place(graph_, source.node)) return false;
        const std::vector<int> readers = readers_of(source.node);
        bool roomy = groups_[at(group)].nodes.size() < largest_stage;
        return roomy && readers.size() == 1 && readers[0] == node.id;
    }

    // Little arithmetic, which plain loops do as well: not worth a pass through memory before a sum.
    bool is_light(const Group& group) const {
        static const std::set<std::string> light = {"add",    "subtract", "multiply", "negative",
                                                    "square", "absolute", "maximum",  "minimum"};
        return std::all_of(group.nodes.begin(), group.nodes.end(), [&](int id) {
            return graph_.at(id).family == Family::pointwise && light.contains(graph_.at(id).op);
        });
    }

    // What several nodes of one plain stage read, and nobody else, is computed there. Backwards, so that a chain of
    // such values ends up in its last reader.
    void join_plain_readers() {
        std::set<int> again;  // nodes of which a reader may compute an element more than once
        for (size_t k = groups_.size(); k-- > 0;) {
            if (!groups_[k].alive || !groups_[k].plain || groups_[k].product) continue;
            const Reader reader = plain_reader_of(groups_[k], again);
            if (reader.group < 0 || groups_[at(reader.group)].nodes.size() + groups_[k].nodes.size() > largest_plain)
                continue;
            if (reader.again) again.insert(groups_[k].nodes.begin(), groups_[k].nodes.end());
            std::vector<int>& nodes = groups_[at(reader.group)].nodes;
            nodes.insert(nodes.end(), groups_[k].nodes.begin(), groups_[k].nodes.end());
            std::sort(nodes.begin(), nodes.end());
            for (int id : groups_[k].nodes) group_of_[at(id)] = reader.group;
            groups_[k].alive = false;
        }
    }

    struct Reader {
        int group = -1;
        bool again = false;  // may compute an element more than once
    };

    // The plain group all of whose readers of this one can compute it in their loops, if there is such a one. Who
    // computes elements more than once does so with cheap ones that are made of what is stored.
    Reader plain_reader_of(const Group& group, const std::set<int>& again) const {
        Reader reader;
        const std::set<int> own(group.nodes.begin(), group.nodes.end());
        for (int id : group.nodes) {
            if (is_output_[at(id)] || !computes_in_place(graph_, id)) return {};
            for (int user : readers_of(id)) {
                if (own.contains(user)) continue;
                const int of = group_of_[at(user)];
                const bool joinable = of >= 0 && groups_[at(of)].plain && !groups_[at(of)].product &&
                                      (reader.group < 0 || of == reader.group);
                if (!joinable || again.contains(user) || !reads_in_order(user, id)) return {};
                reader.group = of;
                reader.again |= !is_read_once(graph_.at(id), graph_.at(user));
            }
        }
        return reader.again && !is_cheap(group) ? Reader{} : reader;
    }

    bool reads_in_order(int user, int id) const {
        const std::vector<Source>& sources = sources_[at(user)];
        return std::all_of(sources.begin(), sources.end(),
                           [&](const Source& source) { return source.node != id || source.in_order; });
    }

    // By this node, each element in the loops that compute one of its own.
    bool is_read_once(const Node& source, const Node& node) const {
        if (node.family != Family::pointwise && !is_joined_in_one_nest(graph_, node)) return false;
        return std::any_of(node.operands.begin(), node.operands.end(), [&](int id) {
            while (graph_.at(id).op == "reshape" &&
                   unit_insertion(graph_.at(graph_.at(id).operands[0]).shape, graph_.at(id).shape))
                id = graph_.at(id).operands[0];
            return id == source.id && (node.family != Family::pointwise || source.shape == node.shape);
        });
    }

    // So little arithmetic that to repeat it takes no longer than to read it.
    bool is_cheap(const Group& group) const {
        constexpr double cheap = 4;  // additions
        double cost = 0;
        for (int id : group.nodes) cost += operation_of(graph_.at(id)) ? operation_of(graph_.at(id))->cost : cheap + 1;
        return cost <= cheap;
    }

    std::vector<int> merged(const std::set<int>& groups, const Node& node) const {
        std::vector<int> nodes = {node.id};
        for (int group : groups)
            nodes.insert(nodes.end(), groups_[at(group)].nodes.begin(), groups_[at(group)].nodes.end());
        std::sort(nodes.begin(), nodes.end());
        return nodes;
    }

    void join(const std::set<int>& groups, const Node& node, bool plain) {
        std::vector<int> nodes = merged(groups, node);
        for (int group : groups) groups_[at(group)].alive = false;
        open({nodes, plain, false});
    }

    void open(Group group) {
        for (int id : group.nodes) group_of_[at(id)] = static_cast<int>(groups_.size());
        groups_.push_back(std::move(group));
    }

    // Whether something outside of these groups stands between them, or between them and the node.
    bool makes_circle(const std::set<int>& groups, const Node& node) const {
        std::vector<int> open;
        std::set<int> seen;
        auto visit = [&](int id) {
            for (const Source& source : sources_[at(id)]) {
                int group = group_of_[at(source.node)];
                if (group < 0) {  // not placed yet: its own sources count
                    if (seen.insert(-2 - source.node).second) open.push_back(-2 - source.node);
                } else if (!groups.contains(group) && seen.insert(group).second) {
                    open.push_back(group);
                }
            }
        };
        auto reaches = [&](int id) {
            for (const Source& source : sources_[at(id)])
                if (groups.contains(group_of_[at(source.node)])) return true;
            return false;
        };
        visit(node.id);
        for (int group : groups)
            for (int id : groups_[at(group)].nodes) visit(id);
        while (!open.empty()) {
            if (seen.size() > longest_search) return true;
            int next = open.back();
            open.pop_back();
            const std::vector<int> single = {-2 - next};
            for (int id : next < 0 ? single : groups_[at(next)].nodes) {
                if (reaches(id)) return true;
                visit(id);
            }
        }
        return false;
    }

    bool is_claimed(const std::vector<int>& nodes) const {
        if (nodes.size() > largest_stage) return false;
        for (int id : nodes)
            if (plain_only_[at(id)]) return false;
        return claims_(stage_problem(problem_, graph_, stage_of(nodes), names_, "stage"));
    }

    Stage stage_of(const std::vector<int>& nodes) const {
        Stage stage{nodes, {}, false};
        std::set<int> own(nodes.begin(), nodes.end());
        for (int id : nodes)
            if (is_output_[at(id)] || read_elsewhere(id, own)) stage.outputs.push_back(id);
        return stage;
    }

    bool read_elsewhere(int id, const std::set<int>& own) const {
        for (int user : users_[at(id)]) {
            if (free_[at(user)] ? read_elsewhere(user, own) : !own.contains(user)) return true;
            if (free_[at(user)] && is_output_[at(user)]) return true;
        }
        return false;
    }

    // By the first moment at which all that a stage reads is there. Stages that need each other are cut into their
    // nodes, as plain loops.
    std::vector<Stage> ordered() {
        for (;;) {
            std::vector<Stage> result;
            const std::optional<size_t> circle = order(result);
            if (!circle) return result;
            const std::vector<int> nodes = groups_[*circle].nodes;
            groups_[*circle].alive = false;
            for (int id : nodes) open({{id}, !graph_.at(id).loop, false});
        }
    }

    // A group of several nodes that needs itself, if there is one.
    std::optional<size_t> order(std::vector<Stage>& result) const {
        enum : char { untouched, open, done };
        std::vector<char> state(groups_.size(), untouched);
        std::vector<size_t> walked;
        std::optional<size_t> circle;
        auto finish = [&](auto&& self, size_t group) -> void {
            if (state[group] == done || circle) return;
            if (state[group] == open) {
                const auto begin = std::find(walked.begin(), walked.end(), group);
                const auto found = std::find_if(begin, walked.end(), [&](size_t one) { return can_be_cut(one); });
                if (found != walked.end()) circle = *found;
                return;
            }
            state[group] = open;
            walked.push_back(group);
            for (int id : groups_[group].nodes)
                for (const Source& source : sources_[at(id)])
                    if (const size_t from = at(group_of_[at(source.node)]); from != group) self(self, from);
            walked.pop_back();
            state[group] = done;
            Stage stage = stage_of(groups_[group].nodes);
            stage.plain = groups_[group].plain;
            if (!stage.outputs.empty()) result.push_back(std::move(stage));
        };
        for (const Node& node : graph_.nodes)
            if (group_of_[at(node.id)] >= 0) finish(finish, at(group_of_[at(node.id)]));
        return circle;
    }

    bool can_be_cut(size_t group) const {
        const std::vector<int>& nodes = groups_[group].nodes;
        return std::any_of(nodes.begin(), nodes.end(), [&](int id) {
            return !are_of_one_loop(graph_.at(nodes[0]), graph_.at(id)) && id != nodes[0];
        });
    }

    const Problem& problem_;
    const Graph& graph_;
    const Fusion fusion_;
    const Claims& claims_;
    const std::vector<char>& plain_only_;
    std::vector<char> free_;
    std::vector<int> group_of_;
    std::vector<std::vector<int>> users_;
    std::vector<char> is_output_;
    std::vector<std::string> names_;
    std::vector<std::vector<Source>> sources_;
    std::vector<Group> groups_;
};

}  // namespace

std::vector<Stage> partition(const Problem& problem, const Graph& graph, Fusion fusion, const Claims& claims,
                             const std::vector<char>& plain_only) {
    return Partitioner(problem, graph, fusion, claims, plain_only).run();
}

Graph own_outputs(const Problem& problem, const Graph& graph) {
    Graph result = graph;
    const std::vector<char> free = free_nodes(graph);
    std::set<int> taken;
    for (size_t k = 0; k < result.outputs.size(); ++k) {
        int id = result.outputs[k];
        DType dtype = problem.outputs.at(k).dtype;
        const Node& node = graph.at(id);
        // Who reads on reads what was computed; some write their own type only, and what is scattered meets there.
        const bool whole = node.family == Family::convolution || node.family == Family::scatter || node.loop;
        const bool apart = is_half(dtype) && (whole || !graph.users(id).empty());
        if (!free[at(id)] && !apart && taken.insert(id).second && node.dtype == computed_in(dtype)) continue;
        Node copy = copied(node, computed_in(dtype));
        copy.id = result.outputs[k] = static_cast<int>(result.nodes.size());
        result.nodes.push_back(std::move(copy));
    }
    return result;
}

Graph own_loop_operands(const Problem& problem, const Graph& graph) {
    const auto is_of_16_bits = [&](const Node& node) {
        return node.family == Family::input &&
               std::any_of(problem.inputs.begin(), problem.inputs.end(),
                           [&](const Tensor& input) { return input.name == node.op && is_half(input.dtype); });
    };
    Graph result;
    std::map<int, int> places, copies;
    const auto append = [&](Node node) {
        node.id = static_cast<int>(result.nodes.size());
        result.nodes.push_back(std::move(node));
        return result.nodes.back().id;
    };
    for (const Node& node : graph.nodes) {
        Node moved = node;
        for (size_t k = 0; k < moved.operands.size(); ++k) {
            const Node& source = graph.at(node.operands[k]);
            moved.operands[k] = places.at(source.id);
            if (!node.loop || !is_of_16_bits(source)) continue;
            const auto [copy, is_new] = copies.try_emplace(source.id, 0);
            if (is_new) copy->second = append(copied(result.at(places.at(source.id)), source.dtype));
            moved.operands[k] = copy->second;
        }
        places[node.id] = append(std::move(moved));
    }
    for (int id : graph.outputs) result.outputs.push_back(places.at(id));
    return result;
}

}  // namespace strop::playbook
