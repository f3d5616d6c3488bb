#include "search/tracks.h"

#include <algorithm>
#include <limits>
#include <set>

#include <fmt/format.h>

namespace strop::search {

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double slow_ns = 1e6;  // shapes with shorter calls cost next to nothing beside the others

std::string root_of(const Track& track, const Tracks& tracks) {
    std::string id = track.strategy.id;
    std::set<std::string> seen;
    while (seen.insert(id).second)
        for (const auto& other : tracks)
            if (other->strategy.id == id && !other->strategy.parent.empty()) {
                id = other->strategy.parent;
                break;
            }
    return id;
}

}  // namespace

void name_uniquely(Proposal& proposal, const Tracks& tracks) {
    std::set<std::string> strategies, kernels;
    for (const auto& track : tracks) {
        strategies.insert(track->strategy.id);
        kernels.insert(track->kernel.id);
    }
    auto unique = [](const std::string& id, const std::set<std::string>& taken) {
        std::string name = id;
        for (int i = 2; taken.count(name); ++i) name = fmt::format("{}_{}", id, i);
        return name;
    };
    proposal.strategy.id = unique(proposal.strategy.id, strategies);
    proposal.kernel.id = unique(proposal.kernel.id, kernels);
    proposal.kernel.strategy = proposal.strategy.id;
}

std::vector<std::string> family_of(const Track& track, const Tracks& tracks) {
    std::vector<std::string> ids;
    std::string root = root_of(track, tracks);
    for (const auto& other : tracks)
        if (root_of(*other, tracks) == root) ids.push_back(other->kernel.id);
    return ids;
}

Configuration inherited(const Kernel& kernel, const Track& parent, const Leaders& leaders) {
    Configuration configuration = kernel.initial;
    const Evaluation* best = parent.best_evaluation(leaders);
    if (!best) return configuration;
    for (const auto& [name, value] : best->configuration) {
        auto own = configuration.find(name);
        if (own != configuration.end()) own->second = value;
    }
    return configuration;
}

void lead(Leaders& leaders, const Tracks& tracks, const Evaluation& evaluation) {
    for (size_t t = 0; t < tracks.size(); ++t) {
        if (tracks[t]->kernel.id != evaluation.kernel) continue;
        for (const ShapePoint& point : tracks[t]->points) {
            const double nanoseconds = usable_nanoseconds(evaluation, point.label);
            auto leader = leaders.find(point.label);
            const double least = leader == leaders.end() ? infinity : leader->second.nanoseconds;
            if (nanoseconds < least) leaders[point.label] = {nanoseconds, t};
        }
    }
}

void leave_slow_points(Track& track, const Leaders& leaders, double reach) {
    for (const ShapePoint& point : track.points_left()) {
        auto leader = leaders.find(point.label);
        const bool slow = leader != leaders.end() && leader->second.nanoseconds > slow_ns;
        if (slow && track.share(point.label, leaders) < reach) track.leave(point.label);
    }
}

std::optional<BestKnown> best_known(const Tracks& tracks, const Leaders& leaders) {
    const Track* best = nullptr;
    for (const auto& track : tracks)
        if (track->succeeded() && (!best || track->mean_share(leaders) > best->mean_share(leaders))) best = track.get();
    if (!best) return std::nullopt;
    BestKnown known{best->kernel, *best->best_evaluation(leaders), {}, {}};
    for (const auto& [label, leader] : leaders) known.least_ns[label] = leader.nanoseconds;
    for (const auto& track : tracks) {
        double& standing = known.standings[track->strategy.proposer];
        standing = std::max(standing, track->mean_share(leaders));
    }
    return known;
}

bool all_exhausted(const Tracks& tracks) {
    return std::all_of(tracks.begin(), tracks.end(), [](const auto& t) { return !t->active() || t->exhausted(); });
}

std::vector<Strategy> strategies_of(const Tracks& tracks) {
    std::vector<Strategy> all;
    for (const auto& track : tracks) all.push_back(track->strategy);
    return all;
}

}  // namespace strop::search
