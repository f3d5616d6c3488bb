#include "search/finalists.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <utility>

namespace strop::search {

namespace {

constexpr size_t finalists_per_point = 3;
constexpr double within = 1.08;  // of the best at a point

class Finalists {
public:
    Finalists(const std::vector<ShapePoint>& points, const std::vector<const Track*>& tracks,
              const Leaders& leaders)
        : points_(points), tracks_(tracks), leaders_(leaders) {}

    std::vector<Candidate> choose() {
        for (const ShapePoint& point : points_) add_best_of(point.label);
        for (const Track* track : tracks_)
            if (track->strategy.state != Strategy::State::pruned)
                if (const Evaluation* best = track->best_evaluation(leaders_)) add(*track, *best);
        add_unconditional();
        std::stable_sort(chosen_.begin(), chosen_.end(),
                         [&](const Candidate& a, const Candidate& b) { return slowness(a) < slowness(b); });
        return std::move(chosen_);
    }

private:
    void add(const Track& track, const Evaluation& evaluation) {
        if (!seen_.insert({track.kernel.id, evaluation.configuration}).second) return;
        Candidate candidate{track.kernel, evaluation.configuration, {}};
        for (const ShapePoint& point : track.points) {
            double nanoseconds = usable_nanoseconds(evaluation, point.label);
            if (nanoseconds < std::numeric_limits<double>::infinity())
                candidate.nanoseconds[point.label] = nanoseconds;
        }
        chosen_.push_back(std::move(candidate));
    }

    void add_best_of(const std::string& label) {
        struct Entry {
            double nanoseconds;
            const Track* track;
            const Evaluation* evaluation;
        };
        auto leader = leaders_.find(label);
        if (leader == leaders_.end()) return;
        std::vector<Entry> entries;
        for (const Track* track : tracks_)
            for (const Evaluation& evaluation : track->evaluations()) {
                double nanoseconds = usable_nanoseconds(evaluation, label);
                if (nanoseconds <= leader->second.nanoseconds * within)
                    entries.push_back({nanoseconds, track, &evaluation});
            }
        std::stable_sort(entries.begin(), entries.end(),
                         [](const Entry& a, const Entry& b) { return a.nanoseconds < b.nanoseconds; });
        for (size_t i = 0; i < std::min(entries.size(), finalists_per_point); ++i)
            add(*entries[i].track, *entries[i].evaluation);
    }

    void add_unconditional() {
        auto free = [](const Candidate& candidate) { return !candidate.kernel.condition; };
        if (std::any_of(chosen_.begin(), chosen_.end(), free)) return;
        const Track* best = nullptr;
        for (const Track* track : tracks_) {
            if (track->kernel.condition || !track->succeeded()) continue;
            if (!best || track->mean_share(leaders_) > best->mean_share(leaders_)) best = track;
        }
        if (best) add(*best, *best->best_evaluation(leaders_));
    }

    // Geometric mean of time over the best; a point without a time counts tenfold.
    double slowness(const Candidate& candidate) const {
        double sum = 0;
        for (const auto& [label, leader] : leaders_) {
            auto own = candidate.nanoseconds.find(label);
            sum += std::log(own == candidate.nanoseconds.end() ? 10 : own->second / leader.nanoseconds);
        }
        return sum;
    }

    const std::vector<ShapePoint>& points_;
    const std::vector<const Track*>& tracks_;
    const Leaders& leaders_;
    std::set<std::pair<std::string, Configuration>> seen_;
    std::vector<Candidate> chosen_;
};

}  // namespace

std::vector<Candidate> choose_finalists(const std::vector<ShapePoint>& points,
                                        const std::vector<const Track*>& tracks, const Leaders& leaders) {
    return Finalists(points, tracks, leaders).choose();
}

}  // namespace strop::search
