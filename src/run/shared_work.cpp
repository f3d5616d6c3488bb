#include "run/shared_work.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <thread>

#include "base/error.h"
#include "base/hash.h"

namespace strop {

namespace {

constexpr Seconds lasting{120};  // a claim, longer than most batches take, and a run's word that it is there
constexpr Seconds recent{24 * 3600};
constexpr Seconds pause{0.1};          // between two looks at the store
constexpr Seconds least_patience{5};   // with another run
constexpr double patience_factor = 2;  // of what an equal part took here

bool is_time(double value) { return std::isfinite(value) && value > 0; }

bool can_be(const PointResult& result) {
    const std::vector<double>& samples = result.time.samples_ns;
    if (result.verdict != Verdict::ok) return true;
    return is_time(result.time.median_ns) && !samples.empty() && std::all_of(samples.begin(), samples.end(), is_time);
}

// What another run has written is not believed to be what it should be.
bool can_be_of(const Evaluation& evaluation, const EvaluationRequest& request, const std::string& key) {
    if (evaluation.key != key || evaluation.configuration != request.configuration) return false;
    if (evaluation.ok() && evaluation.points.empty()) return false;
    return std::all_of(evaluation.points.begin(), evaluation.points.end(), [&](const PointResult& result) {
        return can_be(result) &&
               std::any_of(request.points.begin(), request.points.end(), [&](const ShapePoint& point) {
                   return point.label == result.point.label && point.dims == result.point.dims;
               });
    });
}

}  // namespace

// The evaluations of a batch, as they come in.
class SharedWork::Batch {
public:
    Batch(SharedWork& shared, std::vector<EvaluationRequest> requests, const std::vector<std::string>& keys)
        : shared_(shared),
          requests_(std::move(requests)),
          keys_(keys),
          found_(keys.size()) {}

    std::vector<Evaluation> done(const Measure& measure) {
        std::optional<Clock::time_point> waiting_since;
        Seconds longest{0};  // that an own part took
        note_others();
        for (std::vector<size_t> open = missing(); !open.empty(); open = missing()) {
            const bool is_patient = !waiting_since || seconds_since(*waiting_since) <
                                                          std::max(least_patience, patience_factor * longest).count();
            const std::vector<size_t> mine = claimed(open, is_patient);
            if (!mine.empty()) {
                const Clock::time_point start = Clock::now();
                judge(mine, measure);
                longest = std::max(longest, Seconds(seconds_since(start)));
                note_others();
                waiting_since.reset();
            } else if (missing().size() == open.size()) {
                if (!waiting_since) waiting_since = Clock::now();
                shared_.idle_();
                std::this_thread::sleep_for(pause);
            }
        }
        std::vector<Evaluation> evaluations;
        for (std::optional<Evaluation>& one : found_) evaluations.push_back(std::move(*one));
        return evaluations;
    }

private:
    std::vector<size_t> missing() const {
        std::vector<size_t> open;
        for (size_t i = 0; i < found_.size(); ++i)
            if (!found_[i]) open.push_back(i);
        return open;
    }

    // Not while it waits: that writes to the store.
    void note_others() {
        others_ = static_cast<size_t>(shared_.store_.others_at(shared_.run_, shared_.work_, lasting));
    }

    // Those that this run is to judge: what became its own, an equal part at most, or all where others have been waited
    // for long enough, whatever became of their claims. What others have done is taken over.
    std::vector<size_t> claimed(const std::vector<size_t>& open, bool is_patient) {
        const size_t runs = is_patient ? 1 + others_ : 1;
        const Seconds holding = is_patient ? lasting : Seconds(0);
        std::vector<std::string> keys;
        for (size_t i : open) keys.push_back(keys_[i]);
        const std::vector<Claim> claims =
            shared_.store_.claim(shared_.run_, shared_.work_, keys, (keys_.size() + runs - 1) / runs, holding, recent);
        std::vector<size_t> mine;
        std::vector<Evaluation> taken;
        for (size_t k = 0; k < open.size(); ++k) {
            const EvaluationRequest& request = requests_[open[k]];
            const bool is_done = claims[k].state == Claim::State::done;
            if (!is_done || !claims[k].evaluation || !can_be_of(*claims[k].evaluation, request, keys[k])) {
                if (is_done || !is_patient || claims[k].state == Claim::State::mine) mine.push_back(open[k]);
                continue;
            }
            Evaluation evaluation = *claims[k].evaluation;
            evaluation.kernel = request.kernel.id;
            if (evaluation.judged_by.empty()) evaluation.judged_by = claims[k].run;
            taken.push_back(evaluation);
            found_[open[k]] = std::move(evaluation);
        }
        if (!taken.empty()) shared_.store_.add_evaluations(shared_.run_, taken);
        return mine;
    }

    void judge(const std::vector<size_t>& mine, const Measure& measure) {
        std::vector<EvaluationRequest> requests;
        for (size_t i : mine) requests.push_back(requests_[i]);
        std::vector<Evaluation> evaluations;
        try {
            evaluations = measure(std::move(requests));
        } catch (...) {
            give_up(mine);
            throw;
        }
        for (size_t k = 0; k < mine.size(); ++k) found_[mine[k]] = std::move(evaluations[k]);
    }

    // Where the store is gone too, the claims run out by themselves.
    void give_up(const std::vector<size_t>& mine) {
        std::vector<std::string> keys;
        for (size_t i : mine) keys.push_back(keys_[i]);
        try {
            shared_.store_.give_up(shared_.run_, keys);
        } catch (const Error&) {
        }
    }

    SharedWork& shared_;
    const std::vector<EvaluationRequest> requests_;
    const std::vector<std::string>& keys_;
    std::vector<std::optional<Evaluation>> found_;
    size_t others_ = 0;  // that are at the work too
};

SharedWork::SharedWork(Store& store, std::string run, const std::string& work, std::function<void()> idle)
    : store_(store),
      run_(std::move(run)),
      work_(content_hash("work\n" + work)),
      idle_(std::move(idle)) {
    store_.others_at(run_, work_, lasting);
}

std::vector<Evaluation> SharedWork::evaluate(std::vector<EvaluationRequest> requests,
                                             const std::vector<std::string>& keys, const Measure& measure) {
    return Batch(*this, std::move(requests), keys).done(measure);
}

}  // namespace strop
