// Loops nest as strongly connected components do: a loop without the branches to its head falls apart into its inner
// loops (Steensgaard, "Sequentializing program dependence graphs for irreducible programs", 1993). That holds in any
// layout of the blocks, where "a branch backward" does not: compilers rotate loops, enter them in their middle, and
// leave them backward.
#include "language/loops.h"

#include <algorithm>
#include <array>

namespace strop {

namespace {

constexpr size_t none = static_cast<size_t>(-1);
constexpr int deepest_nest = 32;  // of a stranger's code: bounds the work

struct Part {
    std::vector<size_t> members;  // ascending
    size_t head = none;           // branches to it do not count
    int id = 0, depth = 0;
};

// The control flow, an instruction a node.
class Graph {
public:
    explicit Graph(const Function& function);
    std::vector<std::vector<size_t>> innermost_cycles();

private:
    struct Step {
        size_t node, edge;
    };

    std::vector<std::vector<size_t>> cycles(const Part& part);
    Part before(const Part& part, const std::vector<size_t>& inner, int id);
    void visit(const Part& part, size_t start, std::vector<std::vector<size_t>>& found);
    std::vector<size_t> take_component(size_t root);
    size_t entry(const std::vector<size_t>& members, int id) const;
    bool follows(const Part& part, size_t to) const { return to != none && to != part.head && part_[to] == part.id; }

    std::vector<std::array<size_t, 2>> next_;
    std::vector<std::vector<size_t>> previous_;
    std::vector<int> part_;               // that a node belongs to
    std::vector<size_t> order_, lowest_;  // of Tarjan's algorithm
    std::vector<bool> on_path_;
    std::vector<size_t> path_;
    size_t visited_ = 0;
};

size_t index_of(const Function& function, uint64_t address) {
    const std::vector<Instruction>& all = function.instructions;
    auto found = std::lower_bound(all.begin(), all.end(), address,
                                  [](const Instruction& one, uint64_t at) { return one.address < at; });
    return found != all.end() && found->address == address ? static_cast<size_t>(found - all.begin()) : none;
}

Graph::Graph(const Function& function)
    : next_(function.instructions.size(), {none, none}),
      previous_(next_.size()),
      part_(next_.size()),
      order_(next_.size()),
      lowest_(next_.size()),
      on_path_(next_.size()) {
    for (size_t i = 0; i < next_.size(); ++i) {
        const Instruction& instruction = function.instructions[i];
        if (i > 0 && is_padding(instruction) && previous_[i].empty()) continue;  // behind a jump: never reached
        Flow flow = flow_of(instruction);
        if (flow != Flow::jump && flow != Flow::end && i + 1 < next_.size()) next_[i][0] = i + 1;
        if (flow == Flow::branch || flow == Flow::jump)
            if (std::optional<uint64_t> target = target_of(instruction)) next_[i][1] = index_of(function, *target);
        for (size_t to : next_[i])
            if (to != none) previous_[to].push_back(i);
    }
}

// The lowest node of a cycle that is reached from elsewhere.
size_t Graph::entry(const std::vector<size_t>& members, int id) const {
    for (size_t member : members) {
        if (member == 0) return member;
        for (size_t from : previous_[member])
            if (part_[from] != id) return member;
    }
    return members.front();
}

std::vector<std::vector<size_t>> Graph::innermost_cycles() {
    Part whole;
    for (size_t i = 0; i < next_.size(); ++i) whole.members.push_back(i);
    std::vector<Part> open = {std::move(whole)};
    std::vector<std::vector<size_t>> innermost;
    int parts = 1;
    while (!open.empty()) {
        Part part = std::move(open.back());
        open.pop_back();
        std::vector<std::vector<size_t>> inner;
        if (part.depth < deepest_nest) inner = cycles(part);
        std::vector<size_t> inner_members;
        for (std::vector<size_t>& members : inner) {
            int id = parts++;
            inner_members.insert(inner_members.end(), members.begin(), members.end());
            for (size_t member : members) part_[member] = id;
            size_t head = entry(members, id);
            open.push_back({std::move(members), head, id, part.depth + 1});
        }
        if (part.id == 0) continue;
        if (inner.empty()) {
            innermost.push_back(std::move(part.members));
            continue;
        }
        for (std::vector<size_t>& members : cycles(before(part, inner_members, parts++)))
            innermost.push_back(std::move(members));
    }
    return innermost;
}

// Of a loop with inner ones, what control reaches before any of these. When that returns to the head already, it is
// another inner loop, which shares its head with the outer one.
Part Graph::before(const Part& part, const std::vector<size_t>& inner, int id) {
    std::vector<size_t> open = inner;
    constexpr int after = -1;
    while (!open.empty()) {
        size_t node = open.back();
        open.pop_back();
        for (size_t to : next_[node])
            if (follows(part, to)) {
                part_[to] = after;
                open.push_back(to);
            }
    }
    Part result;
    result.id = id;
    for (size_t member : part.members)
        if (part_[member] == part.id) {
            part_[member] = id;
            result.members.push_back(member);
        }
    return result;
}

// Where each instruction reaches every other one without the branches to the part's head.
std::vector<std::vector<size_t>> Graph::cycles(const Part& part) {
    std::vector<std::vector<size_t>> found;
    for (size_t member : part.members) order_[member] = 0;
    visited_ = 0;
    for (size_t member : part.members)
        if (order_[member] == 0) visit(part, member, found);
    return found;
}

// Tarjan's algorithm from one node, without recursion: functions may be long.
void Graph::visit(const Part& part, size_t start, std::vector<std::vector<size_t>>& found) {
    std::vector<Step> steps = {{start, 0}};
    while (!steps.empty()) {
        const size_t node = steps.back().node;
        if (order_[node] == 0) {
            order_[node] = lowest_[node] = ++visited_;
            path_.push_back(node);
            on_path_[node] = true;
        }
        if (steps.back().edge < 2) {
            size_t to = next_[node][steps.back().edge++];
            if (!follows(part, to)) continue;
            if (order_[to] == 0) steps.push_back({to, 0});
            else if (on_path_[to]) lowest_[node] = std::min(lowest_[node], order_[to]);
            continue;
        }
        steps.pop_back();
        if (!steps.empty()) lowest_[steps.back().node] = std::min(lowest_[steps.back().node], lowest_[node]);
        if (lowest_[node] != order_[node]) continue;
        std::vector<size_t> component = take_component(node);
        if (component.size() > 1 || (next_[node][1] == node && follows(part, node)))
            found.push_back(std::move(component));
    }
}

std::vector<size_t> Graph::take_component(size_t root) {
    std::vector<size_t> component;
    for (size_t node = none; node != root;) {
        node = path_.back();
        path_.pop_back();
        on_path_[node] = false;
        component.push_back(node);
    }
    std::sort(component.begin(), component.end());
    return component;
}

// The range that holds most of a loop: of its blocks those that are no farther apart than they are long.
std::pair<size_t, size_t> range_of(const std::vector<size_t>& members) {
    std::vector<std::pair<size_t, size_t>> runs;
    for (size_t member : members)
        if (!runs.empty() && runs.back().second + 1 == member) runs.back().second = member;
        else runs.emplace_back(member, member);
    auto size = [](const std::pair<size_t, size_t>& run) { return run.second - run.first + 1; };
    size_t low = 0;
    for (size_t i = 1; i < runs.size(); ++i)
        if (size(runs[i]) > size(runs[low])) low = i;
    std::pair<size_t, size_t> range = runs[low];
    for (size_t high = low;;) {
        if (high + 1 < runs.size() && runs[high + 1].first - range.second <= size(range) + size(runs[high + 1]))
            range.second = runs[++high].second;
        else if (low > 0 && range.first - runs[low - 1].second <= size(range) + size(runs[low - 1]))
            range.first = runs[--low].first;
        else return range;
    }
}

}  // namespace

std::vector<std::pair<size_t, size_t>> innermost_loops(const Function& function) {
    std::vector<std::pair<size_t, size_t>> loops;
    for (const std::vector<size_t>& members : Graph(function).innermost_cycles()) loops.push_back(range_of(members));
    std::sort(loops.begin(), loops.end());
    return loops;
}

}  // namespace strop
