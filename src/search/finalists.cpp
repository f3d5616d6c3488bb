#include "search/finalists.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>
#include <utility>

namespace strop::search {

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr size_t finalists_per_point = 3, finalists_over_all = 4;
constexpr double within = 1.08;  // of the best at a point

using Times = std::map<std::string, double>;  // label -> nanoseconds; none or infinity: it did not run there

class Finalists {
public:
    Finalists(const std::vector<ShapePoint>& points, const std::vector<const Track*>& tracks, const Leaders& leaders,
              bool one_for_all)
        : points_(points),
          tracks_(tracks),
          leaders_(leaders),
          one_for_all_(one_for_all) {}

    std::vector<Candidate> choose() {
        choose_compiler();
        if (one_for_all_) add_best_over_all();
        else
            for (const ShapePoint& point : points_) add_best_of(point.label);
        for (const Track* track : tracks_)
            if (track->strategy.state != Strategy::State::pruned)
                if (const Evaluation* best = best_of(*track)) add(*track, *best);
        add_unconditional();
        return best_first();
    }

    std::vector<Candidate> reserves() {
        choose_compiler();
        for (const Track* track : tracks_)
            if (const Evaluation* best = best_of(*track)) add(*track, *best);
        return best_first();
    }

private:
    std::vector<Candidate> best_first() {
        std::stable_sort(chosen_.begin(), chosen_.end(), [&](const Candidate& a, const Candidate& b) {
            return slowness(a.nanoseconds) < slowness(b.nanoseconds);
        });
        return std::move(chosen_);
    }

    // Of those that are asked for the one that is faster over the points.
    void choose_compiler() {
        std::map<std::string, Times> best;  // by compiler
        for (const Track* track : tracks_)
            for (const Evaluation& evaluation : track->evaluations())
                if (std::string asked = compiler_of(track->kernel.space, evaluation.configuration); !asked.empty())
                    for (const auto& [label, leader] : leaders_) {
                        double& least = best[asked].try_emplace(label, infinity).first->second;
                        least = std::min(least, usable_nanoseconds(evaluation, label));
                    }
        double lowest = infinity;
        for (const auto& [asked, times] : best)
            if (double sum = slowness(times); sum < lowest) {
                lowest = sum;
                compiler_ = asked;
            }
    }

    bool compatible(const Track& track, const Evaluation& evaluation) const {
        const std::string asked = compiler_of(track.kernel.space, evaluation.configuration);
        return asked.empty() || asked == compiler_;
    }

    const Evaluation* best_of(const Track& track) const {
        const Evaluation* best = track.best_evaluation(leaders_);
        if (!best || compatible(track, *best)) return best;
        best = nullptr;
        double lowest = infinity;
        for (const Evaluation& evaluation : track.evaluations()) {
            if (!evaluation.ok() || !compatible(track, evaluation)) continue;
            if (double sum = slowness(times_of(track, evaluation)); sum < lowest) {
                lowest = sum;
                best = &evaluation;
            }
        }
        return best;
    }

    void add(const Track& track, const Evaluation& evaluation) {
        if (!seen_.insert({track.kernel.id, evaluation.configuration}).second) return;
        chosen_.push_back({track.kernel, evaluation.configuration, times_of(track, evaluation)});
    }

    static Times times_of(const Track& track, const Evaluation& evaluation) {
        Times times;
        for (const ShapePoint& point : track.points) {
            double nanoseconds = usable_nanoseconds(evaluation, point.label);
            if (nanoseconds < infinity) times[point.label] = nanoseconds;
        }
        return times;
    }

    struct Entry {
        double cost;
        const Track* track;
        const Evaluation* evaluation;
    };

    void add_first(std::vector<Entry> entries, size_t most) {
        std::stable_sort(entries.begin(), entries.end(),
                         [](const Entry& a, const Entry& b) { return a.cost < b.cost; });
        for (size_t i = 0; i < std::min(entries.size(), most); ++i) add(*entries[i].track, *entries[i].evaluation);
    }

    void add_best_over_all() {
        std::vector<Entry> entries;
        for (const Track* track : tracks_)
            for (const Evaluation& evaluation : track->evaluations())
                if (evaluation.ok() && !track->kernel.condition && compatible(*track, evaluation))
                    entries.push_back({slowness(times_of(*track, evaluation)), track, &evaluation});
        add_first(std::move(entries), finalists_over_all);
    }

    void add_best_of(const std::string& label) {
        auto leader = leaders_.find(label);
        if (leader == leaders_.end()) return;
        std::vector<Entry> entries;
        for (const Track* track : tracks_)
            for (const Evaluation& evaluation : track->evaluations()) {
                double nanoseconds = usable_nanoseconds(evaluation, label);
                if (nanoseconds <= leader->second.nanoseconds * within && compatible(*track, evaluation))
                    entries.push_back({nanoseconds, track, &evaluation});
            }
        add_first(std::move(entries), finalists_per_point);
    }

    void add_unconditional() {
        auto free = [](const Candidate& candidate) { return !candidate.kernel.condition; };
        if (std::any_of(chosen_.begin(), chosen_.end(), free)) return;
        const Track* best = nullptr;
        for (const Track* track : tracks_) {
            if (track->kernel.condition || !best_of(*track)) continue;
            if (!best || track->mean_share(leaders_) > best->mean_share(leaders_)) best = track;
        }
        if (const Evaluation* evaluation = best ? best_of(*best) : nullptr) add(*best, *evaluation);
    }

    // Geometric mean of time over the best; a point without a time counts tenfold.
    double slowness(const Times& times) const {
        double sum = 0;
        for (const auto& [label, leader] : leaders_) {
            auto own = times.find(label);
            const bool timed = own != times.end() && own->second < infinity;
            sum += std::log(timed ? own->second / leader.nanoseconds : 10);
        }
        return sum;
    }

    const std::vector<ShapePoint>& points_;
    const std::vector<const Track*>& tracks_;
    const Leaders& leaders_;
    const bool one_for_all_;
    std::set<std::pair<std::string, Configuration>> seen_;
    std::vector<Candidate> chosen_;
    std::string compiler_;  // that all of them can be built with; empty: the usual one
};

}  // namespace

std::vector<Candidate> choose_finalists(const std::vector<ShapePoint>& points, const std::vector<const Track*>& tracks,
                                        const Leaders& leaders, bool one_for_all) {
    return Finalists(points, tracks, leaders, one_for_all).choose();
}

std::vector<Candidate> choose_reserves(const std::vector<ShapePoint>& points, const std::vector<const Track*>& tracks,
                                       const Leaders& leaders) {
    return Finalists(points, tracks, leaders, false).reserves();
}

}  // namespace strop::search
