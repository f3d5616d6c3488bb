#include <algorithm>
#include <map>
#include <set>

#include "report/facts.h"

namespace strop::report {

namespace {

// Winners, then active ones, then pruned ones; the given order within each.
int rank(const Strategy& strategy) {
    switch (strategy.state) {
        case Strategy::State::winner: return 0;
        case Strategy::State::active: return 1;
        case Strategy::State::pruned: return 2;
    }
    return 3;
}

using Children = std::map<std::string, std::vector<const Strategy*>>;

// A parent that is missing makes a root; so does one that would close a circle.
Children children_of(const std::vector<Strategy>& strategies) {
    std::map<std::string, const Strategy*> by_id;
    for (const Strategy& strategy : strategies) by_id.emplace(strategy.id, &strategy);
    Children children;
    for (const Strategy& strategy : strategies) {
        std::set<std::string> seen = {strategy.id};
        std::string ancestor = strategy.parent;
        while (by_id.count(ancestor) && seen.insert(ancestor).second) ancestor = by_id.at(ancestor)->parent;
        bool root = !by_id.count(strategy.parent) || seen.count(ancestor);
        children[root ? "" : strategy.parent].push_back(&strategy);
    }
    return children;
}

int best_rank(const Strategy& strategy, const Children& children) {
    int best = rank(strategy);
    if (auto found = children.find(strategy.id); found != children.end())
        for (const Strategy* child : found->second) best = std::min(best, best_rank(*child, children));
    return best;
}

void append(const std::string& parent, const Children& children, const std::vector<bool>& more,
            std::vector<StrategyLine>& lines) {
    auto found = children.find(parent);
    if (found == children.end()) return;
    std::vector<const Strategy*> sorted = found->second;
    std::stable_sort(sorted.begin(), sorted.end(), [&](const Strategy* a, const Strategy* b) {
        return best_rank(*a, children) < best_rank(*b, children);
    });
    for (size_t i = 0; i < sorted.size(); ++i) {
        std::vector<bool> levels = more;
        levels.push_back(i + 1 < sorted.size());
        lines.push_back({sorted[i], static_cast<int>(more.size()), levels});
        if (!sorted[i]->id.empty()) append(sorted[i]->id, children, levels, lines);
    }
}

}  // namespace

std::vector<StrategyLine> strategy_tree(const RunRecord& record) {
    std::vector<StrategyLine> lines;
    append("", children_of(record.strategies), {}, lines);
    return lines;
}

}  // namespace strop::report
