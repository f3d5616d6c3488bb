#include "run/recorder.h"

#include <algorithm>

#include "base/hash.h"
#include "core/json.h"
#include "run/recording.h"

namespace strop {

namespace {

constexpr size_t most_evidence = 2000;  // characters, of each entry of the history

}  // namespace

HistoryEntry history_entry(const Evaluation& evaluation, const Kernel& kernel, double elapsed) {
    HistoryEntry entry;
    entry.seconds = elapsed;
    entry.kernel = kernel.id;
    entry.strategy = kernel.strategy;
    entry.configuration = evaluation.configuration;
    entry.verdict = evaluation.verdict;
    entry.evidence = evaluation.evidence.substr(0, most_evidence);
    for (const PointResult& result : evaluation.points)
        if (!result.time.samples_ns.empty()) entry.nanoseconds[result.point.label] = result.time.median_ns;
    entry.compile_seconds = evaluation.compile_seconds;
    entry.check_seconds = evaluation.check_seconds;
    entry.time_seconds = evaluation.time_seconds;
    return entry;
}

Recorder::Recorder(judge::WorkerPool& worker, Store& store, const RunRecord& record, std::function<void()> idle)
    : worker_(worker),
      store_(store),
      run_(record.run),
      problem_hash_(record.problem_hash) {
    if (record.settings.share)
        shared_ = std::make_unique<SharedWork>(store, run_,
                                               record.strop_version + "\n" + problem_hash_ + "\n" +
                                                   worker.machine_fingerprint() + "\n" + worker.toolchain(),
                                               std::move(idle));
}

std::string Recorder::key_of(const EvaluationRequest& request) const {
    return evaluation_key(request, worker_.toolchain(), worker_.machine_fingerprint(), problem_hash_);
}

template <typename Answer>
Answer Recorder::once(const std::string& key, const std::function<Answer()>& ask) {
    if (std::optional<std::string> known = store_.find_document(run_, key)) {
        return Json::parse(*known).get<Answer>();
    }
    Answer answer = ask();
    store_.add_document(run_, key, dump(Json(answer)));
    return answer;
}

template <typename Answer>
Answer Recorder::timed(double& seconds, const std::function<Answer()>& ask) {
    const double reference_before = worker_.reference_seconds();
    const Clock::time_point start = Clock::now();
    Answer answer = ask();
    const double reference = worker_.reference_seconds() - reference_before;
    seconds_.reference += reference;
    seconds += seconds_since(start) - reference;
    return answer;
}

std::vector<Evaluation> Recorder::evaluate(std::vector<EvaluationRequest> requests) {
    std::vector<std::optional<Evaluation>> known;
    for (const EvaluationRequest& request : requests) known.push_back(store_.find_evaluation(run_, key_of(request)));
    if (std::none_of(known.begin(), known.end(), [](const auto& one) { return one.has_value(); }))
        return judge(std::move(requests));
    std::vector<EvaluationRequest> unknown;
    for (size_t i = 0; i < requests.size(); ++i)
        if (!known[i]) unknown.push_back(std::move(requests[i]));
    std::vector<Evaluation> fresh = unknown.empty() ? std::vector<Evaluation>{} : judge(std::move(unknown)), results;
    auto next = fresh.begin();
    for (std::optional<Evaluation>& one : known) results.push_back(std::move(one ? *one : *next++));
    return results;
}

// Screenings only: what finals and verification go by, each run has measured itself.
std::vector<Evaluation> Recorder::judge(std::vector<EvaluationRequest> requests) {
    const bool are_screenings = std::all_of(requests.begin(), requests.end(),
                                            [](const auto& request) { return request.effort == Effort::screen; });
    if (!shared_ || !are_screenings) return measure(std::move(requests));
    std::vector<std::string> keys;
    for (const EvaluationRequest& request : requests) keys.push_back(key_of(request));
    for (const EvaluationRequest& request : requests) keep(request.kernel);
    return shared_->evaluate(std::move(requests), keys,
                             [this](std::vector<EvaluationRequest> part) { return measure(std::move(part)); });
}

void Recorder::keep(const Kernel& kernel) {
    if (kept_.insert(kernel.id).second) store_.add_kernel(run_, kernel);
}

std::vector<Evaluation> Recorder::measure(std::vector<EvaluationRequest> requests) {
    for (const EvaluationRequest& request : requests) keep(request.kernel);
    const double reference_before = worker_.reference_seconds();
    const Clock::time_point start = Clock::now();
    std::vector<Evaluation> evaluations = worker_.evaluate(std::move(requests));
    PhaseSeconds spent;
    spent.total = seconds_since(start);
    spent.reference = worker_.reference_seconds() - reference_before;
    for (Evaluation& evaluation : evaluations) evaluation.judged_by.clear();
    store_.add_evaluations(run_, evaluations);
    for (const Evaluation& evaluation : evaluations) {
        spent.compile += evaluation.compile_seconds;
        spent.check += evaluation.check_seconds;
        spent.time += evaluation.time_seconds;
    }
    add_wall(spent);
    return evaluations;
}

// Several workers spend more seconds than pass here.
void Recorder::add_wall(const PhaseSeconds& spent) {
    const double sum = spent.reference + spent.compile + spent.check + spent.time;
    const double share = sum > spent.total ? spent.total / sum : 1;
    seconds_.reference += share * spent.reference;
    seconds_.compile += share * spent.compile;
    seconds_.check += share * spent.check;
    seconds_.time += share * spent.time;
}

// Probes of one experiment are measured side by side, and kept so.
std::vector<ProbeResult> Recorder::probe(const std::vector<EvaluationRequest>& requests) {
    std::string keys;
    for (const EvaluationRequest& request : requests) keys += key_of(request) + "\n";
    return once<std::vector<ProbeResult>>(probe_prefix + content_hash(keys), [&] {
        const double reference_before = worker_.reference_seconds();
        std::vector<ProbeResult> results = worker_.probe(requests);
        seconds_.reference += worker_.reference_seconds() - reference_before;
        for (const ProbeResult& result : results) {
            seconds_.compile += result.compile_seconds;
            seconds_.time += result.time_seconds;
        }
        return results;
    });
}

Comparison Recorder::compare(const ComparisonRequest& request) {
    ++comparisons_;
    Json described = request;
    for (const char* time : {"seconds_per_point", "patience_seconds"})
        described.erase(time);  // follows from the time that was left: other on the way back
    const std::string key = content_hash("compare\n" + worker_.toolchain() + worker_.machine_fingerprint() +
                                         problem_hash_ + dump(described));
    return once<Comparison>(key, [&] {
        Comparison comparison = worker_.compare(request);
        seconds_.compile += comparison.compile_seconds;
        seconds_.check += comparison.check_seconds;
        seconds_.time += comparison.time_seconds;
        seconds_.reference += comparison.reference_seconds;
        return comparison;
    });
}

Profile Recorder::profile(const EvaluationRequest& request) {
    return once<Profile>(content_hash("profile\n" + key_of(request)),
                         [&] { return timed<Profile>(seconds_.time, [&] { return worker_.profile(request); }); });
}

std::vector<SanitizerRun> Recorder::sanitize(const EvaluationRequest& request, Seconds limit) {
    using Runs = std::vector<SanitizerRun>;
    return once<Runs>(content_hash("sanitize\n" + key_of(request)),
                      [&] { return timed<Runs>(seconds_.check, [&] { return worker_.sanitize(request, limit); }); });
}

InProcess Recorder::in_process(const std::string& source, const std::function<InProcess()>& measure) {
    const std::string key = content_hash("in_process\n" + worker_.machine_fingerprint() + problem_hash_ + source);
    return once<InProcess>(key, [&] { return timed<InProcess>(seconds_.time, measure); });
}

}  // namespace strop
