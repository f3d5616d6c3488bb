#include "graph/recurrence.h"

#include <algorithm>
#include <optional>
#include <set>

#include "graph/operations.h"
#include "graph/rewrite.h"

namespace strop {

namespace {

constexpr size_t least_steps = 4;         // of which two in the middle are compared
constexpr size_t most_groups = 64;        // of nodes that look alike
constexpr int64_t most_compared = 20000;  // pairs of nodes, of one group: operands that change places double them

bool is_commutative(const Node& node) {
    const Operation* operation = node.family == Family::pointwise ? operation_of(node) : nullptr;
    return operation && operation->commutative;
}

bool is_leaf(const Node& node) { return node.operands.empty(); }

// Equal for nodes of one meaning, whatever the order of commutative operands.
std::string key_of(Node node) {
    if (is_commutative(node)) std::sort(node.operands.begin(), node.operands.end());
    return describe_node(node);
}

std::string key_without_operands(Node node) {
    node.operands.clear();
    return describe_node(node);
}

bool may_repeat(const Node& node) {
    return node.family == Family::pointwise || node.family == Family::contraction || node.family == Family::layout;
}

// What two neighbouring steps have in common.
struct Match {
    std::map<int, int> next;     // of a node of the one step: its counterpart in the other
    std::map<int, int> carried;  // what the one reads of the step before it: what the other reads in its place
    std::map<int, std::vector<int64_t>> moves;
};

// The recurrence whose steps each begin at one of these nodes, which look alike and follow from each other.
class Comparison {
public:
    Comparison(const Graph& graph, const std::map<std::string, int>& known, const std::vector<int>& anchors)
        : graph_(graph),
          known_(known),
          anchors_(anchors),
          level_(graph.nodes.size(), 0) {
        const std::set<int> ours(anchors.begin(), anchors.end());
        for (const Node& node : graph.nodes) {
            int& level = level_[at(node.id)];
            for (int operand : node.operands) level = std::max(level, level_[at(operand)]);
            if (ours.contains(node.id)) ++level;
        }
    }

    std::optional<Recurrence> run() {
        for (size_t k = 0; k < anchors_.size(); ++k)
            if (level_[at(anchors_[k])] != static_cast<int>(k) + 1) return {};
        Match match;
        for (int one : graph_.at(anchors_[2]).operands) {
            if (level_[at(one)] != 2) continue;  // of the third step itself
            const std::vector<int>& others = graph_.at(anchors_[3]).operands;
            if (std::none_of(others.begin(), others.end(),
                             [&](int other) { return alike_or_nothing(one, other, match); }))
                return {};
        }
        match_other_states(match);
        Recurrence result;
        for (const auto& [node, next] : match.next) result.body.push_back(node);
        for (const auto& [before, after] : match.carried) {
            // Of two steps before: what the step before has read of its own predecessor.
            if (!match.next.contains(after) && !match.carried.contains(after)) return {};
            result.carries.push_back({before, after, before});
        }
        result.moves = match.moves;
        const bool something = std::any_of(result.body.begin(), result.body.end(),
                                           [&](int id) { return graph_.at(id).family == Family::contraction; });
        if (result.carries.empty() || (!something && result.moves.empty())) return {};
        Recurrence other = result;
        follow(result);
        for (size_t k = 0; k < other.body.size() && begin_later(other); ++k) {
            Recurrence later = other;
            follow(later);
            const bool is_longer = later.steps.size() > result.steps.size();
            const bool ends = later.steps.size() == result.steps.size() && !ends_a_join(result) && ends_a_join(later);
            if (is_longer || ends) result = std::move(later);
        }
        if (result.steps.size() < least_steps) return {};
        for (const Node& node : graph_.nodes)
            if (node.op == "concatenate" && node.operands.size() == result.steps.size())
                add_made_of_steps(node, result);
        return result;
    }

private:
    static size_t at(int id) { return static_cast<size_t>(id); }

    // What the third step reads of the second beside what leads to its anchor: a second layer's state, say.
    void match_other_states(Match& match) const {
        std::set<int> read;
        for (const Node& node : graph_.nodes)
            if (level_[at(node.id)] == 3)
                for (int operand : node.operands)
                    if (level_[at(operand)] == 2) read.insert(operand);
        for (int one : read) {
            if (match.next.contains(one)) continue;
            const std::string key = key_without_operands(graph_.at(one));
            for (const Node& other : graph_.nodes)
                if (level_[at(other.id)] == 3 && key_without_operands(other) == key &&
                    alike_or_nothing(one, other.id, match))
                    break;
        }
    }

    // Where a step ends with an operation that only the next step needs, the next begins with it: the last step has no
    // such operation.
    bool begin_later(Recurrence& result) const {
        for (size_t k = 0; k < result.carries.size(); ++k)
            if (std::optional<Recurrence> later = without_end(result, k)) {
                result = std::move(*later);
                return true;
            }
        return false;
    }

    std::optional<Recurrence> without_end(const Recurrence& loop, size_t k) const {
        const Recurrence::Carry& carry = loop.carries[k];
        const Node &end = graph_.at(carry.after), &start = graph_.at(carry.before);
        if (end.operands.size() != start.operands.size() || key_without_operands(end) != key_without_operands(start))
            return {};
        const std::vector<int> ours = others(end.operands, start.operands),
                               theirs = others(start.operands, end.operands);
        if (ours.empty() || ours.size() != theirs.size() || reads_inside(loop, carry.after, carry.after) ||
            loop.moves.contains(carry.after) || leaves(carry.after))
            return {};
        Recurrence later = loop;
        later.carries.erase(later.carries.begin() + static_cast<std::ptrdiff_t>(k));
        std::replace(later.body.begin(), later.body.end(), carry.after, carry.before);
        for (size_t i = 0; i < ours.size(); ++i) {
            const bool is_carried = std::any_of(loop.carries.begin(), loop.carries.end(),
                                                [&](const Recurrence::Carry& one) { return one.before == ours[i]; });
            if (!is_carried && !std::binary_search(loop.body.begin(), loop.body.end(), ours[i])) return {};
            if (auto move = loop.moves.find(ours[i]);
                move != loop.moves.end() && !reads_inside(loop, ours[i], carry.after)) {
                if (graph_.at(theirs[i]).begin.size() != move->second.size()) return {};  // no slice of the same value
                std::replace(later.body.begin(), later.body.end(), ours[i], theirs[i]);
                later.moves.erase(ours[i]);
                later.moves[theirs[i]] = move->second;
                continue;
            }
            auto known = std::find_if(later.carries.begin(), later.carries.end(),
                                      [&](const Recurrence::Carry& one) { return one.before == theirs[i]; });
            if (known == later.carries.end()) later.carries.push_back({theirs[i], ours[i], theirs[i]});
            else if (known->after != ours[i]) return {};
        }
        std::sort(later.body.begin(), later.body.end());
        return later;
    }

    // Whether it is a result, or is put side by side with those of other steps.
    bool leaves(int id) const {
        if (std::count(graph_.outputs.begin(), graph_.outputs.end(), id) > 0) return true;
        const std::vector<int> users = graph_.users(id);
        return std::any_of(users.begin(), users.end(), [&](int one) {
            const Node& user = graph_.at(one);
            if (user.family != Family::layout && user.op != "cast") return false;
            return user.operands.size() > 1 || leaves(user.id);
        });
    }

    static std::vector<int> others(const std::vector<int>& ids, const std::vector<int>& known) {
        std::vector<int> result;
        for (int id : ids)
            if (std::count(known.begin(), known.end(), id) == 0 && std::count(result.begin(), result.end(), id) == 0)
                result.push_back(id);
        return result;
    }

    // Whether a node of the body reads a value, beside one that does.
    bool reads_inside(const Recurrence& loop, int value, int beside) const {
        return std::any_of(loop.body.begin(), loop.body.end(), [&](int id) {
            const std::vector<int>& operands = graph_.at(id).operands;
            return id != beside && std::count(operands.begin(), operands.end(), value) > 0;
        });
    }

    // Whether the last value that a concatenation puts side by side, or the first one, is of the last step.
    bool ends_a_join(const Recurrence& result) const {
        const std::vector<int>& last = result.steps.back();
        const auto is_last = [&](int value) {
            while (graph_.at(value).family == Family::layout && graph_.at(value).operands.size() == 1)
                value = graph_.at(value).operands[0];
            return std::count(last.begin(), last.end(), value) > 0;
        };
        return std::any_of(graph_.nodes.begin(), graph_.nodes.end(), [&](const Node& node) {
            return node.op == "concatenate" && (is_last(node.operands.front()) || is_last(node.operands.back()));
        });
    }

    // What a concatenation puts side by side, where it is made of each step in one way: an output layer.
    void add_made_of_steps(const Node& join, Recurrence& result) const {
        for (bool backwards : {false, true}) {
            const size_t place = backwards ? result.steps.size() - 1 - result.body_step : result.body_step;
            std::vector<int> made;
            std::set<int> other;  // not of this step
            auto collect = [&](auto&& self, int id) -> bool {
                if (std::binary_search(result.body.begin(), result.body.end(), id)) return true;
                if (level_[at(id)] == 0 || other.contains(id)) return false;
                if (std::find(made.begin(), made.end(), id) != made.end()) return true;
                const Node& node = graph_.at(id);
                other.insert(id);
                bool of_step = may_repeat(node);
                bool any = false;
                for (int operand : node.operands) {
                    const bool inside = self(self, operand);
                    of_step = of_step && (inside || level_[at(operand)] == 0);
                    any = any || inside;
                }
                if (!of_step || !any) return false;
                other.erase(id);
                made.push_back(id);
                return true;
            };
            if (!collect(collect, join.operands[place])) continue;
            const bool is_view = std::all_of(made.begin(), made.end(), [&](int id) {
                return graph_.at(id).family == Family::layout && graph_.at(id).op == "reshape";
            });
            if (!is_view && append(made, result)) return;
        }
    }

    // Further nodes of each step, if every step has them.
    bool append(std::vector<int> made, Recurrence& result) const {
        std::sort(made.begin(), made.end());
        std::vector<std::map<int, int>> now(result.steps.size());
        for (size_t k = 0; k < now.size(); ++k) {
            for (size_t b = 0; b < result.body.size(); ++b) now[k][result.body[b]] = result.steps[k][b];
            for (int id : made) {
                auto found = known_.find(key_of(with_operands(graph_.at(id), now[k])));
                if (found == known_.end()) return false;
                now[k][id] = found->second;
            }
        }
        result.body.insert(result.body.end(), made.begin(), made.end());
        std::sort(result.body.begin(), result.body.end());
        for (size_t k = 0; k < now.size(); ++k) {
            result.steps[k].clear();
            for (int id : result.body) result.steps[k].push_back(now[k].at(id));
        }
        return true;
    }

    static Node with_operands(Node node, const std::map<int, int>& places) {
        for (int& operand : node.operands)
            if (auto there = places.find(operand); there != places.end()) operand = there->second;
        return node;
    }

    bool alike_or_nothing(int one, int other, Match& match) const {
        Match tried = match;
        if (!alike(one, other, tried)) return false;
        match = std::move(tried);
        return true;
    }

    bool alike_operands(int one, int other, Match& match) const {
        const Node &a = graph_.at(one), &b = graph_.at(other);
        if (a.operands.size() != b.operands.size()) return false;
        Match tried = match;
        bool same = true;
        for (size_t k = 0; k < a.operands.size() && same; ++k) same = alike(a.operands[k], b.operands[k], tried);
        if (!same && is_commutative(a) && a.operands.size() == 2) {
            tried = match;
            same = alike(a.operands[0], b.operands[1], tried) && alike(a.operands[1], b.operands[0], tried);
        }
        if (same) match = std::move(tried);
        return same;
    }

    // Whether `other` is in its step what `one` is in the step before. The steps are those after the second and the
    // third anchor: level 2 and 3.
    bool alike(int one, int other, Match& match) const {
        if (one == other) return true;
        if (auto known = match.next.find(one); known != match.next.end()) return known->second == other;
        const int level = level_[at(one)];
        if (++compared_ > most_compared) return false;
        if (level_[at(other)] != (level == 0 ? 0 : level + 1)) return false;
        if (level == 1) return match.carried.try_emplace(one, other).first->second == other;
        if (level > 2) return false;
        const Node &a = graph_.at(one), &b = graph_.at(other);
        if (!may_repeat(a) || !may_repeat(b)) return false;
        if (std::optional<std::vector<int64_t>> move = moved(a, b)) {
            match.moves[one] = *move;
        } else if (key_without_operands(a) != key_without_operands(b) || !alike_operands(one, other, match)) {
            return false;
        }
        match.next[one] = other;
        return true;
    }

    // By what the second of two slices of one value begins later.
    static std::optional<std::vector<int64_t>> moved(const Node& a, const Node& b) {
        if (a.family != Family::layout || a.op != "slice" || b.op != "slice" || a.operands != b.operands) return {};
        if (a.shape != b.shape || a.step != b.step) return {};
        std::vector<int64_t> move;
        for (size_t axis = 0; axis < a.begin.size(); ++axis) {
            const Expression by = b.begin[axis] - a.begin[axis];
            if (a.begin[axis] == b.begin[axis]) {
                move.push_back(0);
            } else if (by.is_literal() && b.end[axis] - a.end[axis] == by) {
                move.push_back(by.evaluate_integer({}));
            } else {
                return {};
            }
        }
        return move;
    }

    static Node moved_by(Node slice, const std::vector<int64_t>& move, int64_t steps) {
        for (size_t axis = 0; axis < move.size(); ++axis) {
            if (move[axis] == 0) continue;
            slice.begin[axis] = slice.begin[axis] + Expression(move[axis] * steps);
            slice.end[axis] = slice.end[axis] + Expression(move[axis] * steps);
        }
        return slice;
    }

    // All steps, from the first that there is.
    void follow(Recurrence& result) const {
        result.steps = {result.body};
        while (std::optional<std::vector<int>> before = step_before(result)) {
            result.steps.insert(result.steps.begin(), *before);
            ++result.body_step;
        }
        while (std::optional<std::vector<int>> next = step_after(result)) result.steps.push_back(*next);
    }

    std::optional<std::vector<int>> step_after(const Recurrence& result) const {
        std::map<int, int> now;  // of a node of the body
        for (const Recurrence::Carry& carry : result.carries)
            now[carry.before] = left_for(result, carry, result.steps.size());
        std::vector<int> step;
        const int64_t distance = static_cast<int64_t>(result.steps.size() - result.body_step);
        for (int id : result.body) {
            Node node = with_operands(graph_.at(id), now);
            if (auto move = result.moves.find(id); move != result.moves.end())
                node = moved_by(node, move->second, distance);
            auto found = known_.find(key_of(node));
            if (found == known_.end()) return {};
            now[id] = found->second;
            step.push_back(found->second);
        }
        if (step == result.steps.back()) return {};  // what does not depend on its step has no next one
        return step;
    }

    // What a step, not before the body's, reads of those before it.
    static int left_for(const Recurrence& result, const Recurrence::Carry& carry, size_t step) {
        if (step == result.body_step) return carry.before;
        const size_t place = at(place_in(result.body, carry.after));
        if (place < result.body.size()) return result.steps[step - 1][place];
        for (const Recurrence::Carry& other : result.carries)
            if (other.before == carry.after) return left_for(result, other, step - 1);
        return -1;
    }

    static int place_in(const std::vector<int>& body, int id) {
        return static_cast<int>(std::find(body.begin(), body.end(), id) - body.begin());
    }

    // The step before the first that is known. Where its carries have their first values, 0 may have been folded away.
    std::optional<std::vector<int>> step_before(Recurrence& result) const {
        First first{&result, {}, {}};
        for (const Recurrence::Carry& carry : result.carries)
            if (carry.initial < 0 || !is_first(carry.after, carry.initial, first)) return {};
        std::vector<int> step;
        for (int id : result.body) {
            auto found = first.nodes.find(id);
            if (found == first.nodes.end()) return {};
            step.push_back(found->second);
        }
        for (const Recurrence::Carry& carry : result.carries)
            if (!first.initial.contains(carry.before)) return {};
        for (Recurrence::Carry& carry : result.carries) carry.initial = first.initial.at(carry.before);
        return step;
    }

    struct First {
        const Recurrence* recurrence;
        std::map<int, int> nodes, initial;  // of a node of the body: its counterpart
    };

    bool is_first(int id, int candidate, First& first) const {
        const Recurrence& loop = *first.recurrence;
        for (const Recurrence::Carry& carry : loop.carries)
            if (carry.before == id) return first.initial.try_emplace(id, candidate).first->second == candidate;
        if (!std::binary_search(loop.body.begin(), loop.body.end(), id)) return id == candidate;
        if (auto known = first.nodes.find(id); known != first.nodes.end()) return known->second == candidate;
        if (++compared_ > most_compared) return false;
        const Node &node = graph_.at(id), &one = graph_.at(candidate);
        First tried = first;
        bool same = false;
        if (auto move = loop.moves.find(id); move != loop.moves.end()) {
            const auto distance = static_cast<int64_t>(loop.body_step) + 1;
            same = key_of(moved_by(node, move->second, -distance)) == key_of(one);
        } else if (key_without_operands(node) == key_without_operands(one) &&
                   node.operands.size() == one.operands.size()) {
            same = first_operands(node, one.operands, tried);
            if (!same && is_commutative(node) && node.operands.size() == 2) {
                tried = first;
                same = first_operands(node, {one.operands[1], one.operands[0]}, tried);
            }
        }
        if (!same) {
            tried = first;
            same = is_first_without_zero(node, candidate, tried);
        }
        if (!same) return false;
        first = std::move(tried);
        first.nodes[id] = candidate;
        return true;
    }

    bool first_operands(const Node& node, const std::vector<int>& candidates, First& first) const {
        for (size_t k = 0; k < candidates.size(); ++k)
            if (!is_first(node.operands[k], candidates[k], first)) return false;
        return true;
    }

    // 0 - x is the node -x, 0 + x is x.
    bool is_first_without_zero(const Node& node, int candidate, First& first) const {
        if (node.op != "subtract" && node.op != "add") return false;
        for (const Recurrence::Carry& carry : first.recurrence->carries) {
            auto zero = std::find(node.operands.begin(), node.operands.end(), carry.before);
            if (zero == node.operands.end() || (node.op == "subtract" && zero != node.operands.begin())) continue;
            const int other = node.operands[zero == node.operands.begin() ? 1 : 0];
            const Node& one = graph_.at(candidate);
            if (node.op == "subtract" && one.op != "negative") continue;
            const int value = node.op == "subtract" ? one.operands[0] : candidate;
            auto known = first.initial.find(carry.before);
            if (known != first.initial.end() && !is_zero(known->second)) continue;
            if (!is_first(other, value, first)) continue;
            if (known == first.initial.end()) first.initial[carry.before] = -1;
            return true;
        }
        return false;
    }

    bool is_zero(int id) const {
        if (id < 0) return true;
        const Node& node = graph_.at(id);
        if (node.family == Family::layout && node.op == "broadcast") return is_zero(node.operands[0]);
        return node.family == Family::constant && !node.dim && node.value == 0;
    }

    const Graph& graph_;
    const std::map<std::string, int>& known_;
    const std::vector<int>& anchors_;
    std::vector<int> level_;  // how many anchors a node needs
    mutable int64_t compared_ = 0;
};

// Nodes that may begin steps: alike, and with one operand in common that is known from the beginning, a weight or a
// number; or alike only. Contractions first, then the most.
std::vector<std::vector<int>> groups_of(const Graph& graph) {
    auto is_fixed = [&](int id) {
        while (graph.at(id).family == Family::layout && graph.at(id).op != "slice" && graph.at(id).op != "concatenate")
            id = graph.at(id).operands[0];
        return is_leaf(graph.at(id));
    };
    std::map<std::pair<bool, std::string>, std::vector<int>> groups;
    for (const Node& node : graph.nodes) {
        if (node.family != Family::pointwise && node.family != Family::contraction) continue;
        const std::string key = key_without_operands(node);
        bool any = false;
        for (size_t k = 0; k < node.operands.size(); ++k) {
            if (!is_fixed(node.operands[k])) continue;
            const size_t place = is_commutative(node) ? 0 : k;
            groups[{node.family != Family::contraction,
                    key + "/" + std::to_string(place) + "/" + std::to_string(node.operands[k])}]
                .push_back(node.id);
            any = true;
        }
        if (!any) groups[{node.family != Family::contraction, key}].push_back(node.id);
    }
    std::vector<std::pair<bool, std::vector<int>>> found;
    for (auto& [key, nodes] : groups)
        if (nodes.size() >= least_steps) found.emplace_back(key.first, std::move(nodes));
    std::stable_sort(found.begin(), found.end(), [](const auto& a, const auto& b) {
        return std::make_pair(a.first, -static_cast<int64_t>(a.second.size())) <
               std::make_pair(b.first, -static_cast<int64_t>(b.second.size()));
    });
    std::vector<std::vector<int>> result;
    for (auto& [pointwise, nodes] : found) result.push_back(std::move(nodes));
    if (result.size() > most_groups) result.resize(most_groups);
    return result;
}

}  // namespace

std::vector<Recurrence> find_recurrences(const Graph& graph) {
    std::vector<Recurrence> result;
    const std::vector<std::vector<int>> groups = groups_of(graph);
    if (groups.empty()) return result;
    std::map<std::string, int> known;
    for (const Node& node : graph.nodes) known.emplace(key_of(node), node.id);
    std::set<int> taken;
    auto is_free = [&](const std::vector<int>& nodes) {
        return std::none_of(nodes.begin(), nodes.end(), [&](int id) { return taken.contains(id); });
    };
    auto take = [&](Recurrence found) {
        for (const std::vector<int>& step : found.steps)
            for (int id : step)
                if (graph.at(id).family != Family::layout) taken.insert(id);
        result.push_back(std::move(found));
    };
    // Where a step begins decides how many there are, so that the longest of what begins at products is taken, then of
    // what begins at other operations.
    for (Family family : {Family::contraction, Family::pointwise}) {
        std::vector<Recurrence> found;
        for (const std::vector<int>& anchors : groups) {
            if (graph.at(anchors[0]).family != family || !is_free(anchors)) continue;
            if (std::optional<Recurrence> one = Comparison(graph, known, anchors).run())
                found.push_back(std::move(*one));
        }
        std::stable_sort(found.begin(), found.end(), [](const Recurrence& a, const Recurrence& b) {
            return a.steps.size() * a.body.size() > b.steps.size() * b.body.size();
        });
        for (Recurrence& one : found) {
            std::vector<int> nodes;
            for (const std::vector<int>& step : one.steps)
                for (int id : step)
                    if (graph.at(id).family != Family::layout) nodes.push_back(id);
            if (is_free(nodes)) take(std::move(one));
        }
    }
    return result;
}

}  // namespace strop
