#include "run/recorder.h"

#include "base/hash.h"
#include "core/json.h"
#include "run/recording.h"

namespace strop {

Recorder::Recorder(judge::WorkerClient& worker, Store& store, const RunRecord& record)
    : worker_(worker), store_(store), run_(record.run), problem_hash_(record.problem_hash) {}

std::vector<Evaluation> Recorder::evaluate(const std::vector<EvaluationRequest>& requests) {
    std::vector<Evaluation> results(requests.size());
    std::vector<EvaluationRequest> unknown;
    std::vector<size_t> places;
    for (size_t i = 0; i < requests.size(); ++i) {
        std::string key = evaluation_key(requests[i], worker_.toolchain(), worker_.machine_fingerprint(), problem_hash_);
        if (std::optional<Evaluation> known = store_.find_evaluation(run_, key)) {
            results[i] = *known;
            ++replayed_;
            continue;
        }
        unknown.push_back(requests[i]);
        places.push_back(i);
    }
    if (unknown.empty()) return results;
    double reference_before = worker_.reference_seconds();
    std::vector<Evaluation> fresh = worker_.evaluate(unknown);
    seconds_.reference += worker_.reference_seconds() - reference_before;
    for (size_t i = 0; i < fresh.size(); ++i) {
        store_.add_evaluation(run_, fresh[i]);
        seconds_.compile += fresh[i].compile_seconds;
        seconds_.check += fresh[i].check_seconds;
        seconds_.time += fresh[i].time_seconds;
        results[places[i]] = std::move(fresh[i]);
    }
    return results;
}

// Probes of one experiment are measured side by side, and kept so.
std::vector<ProbeResult> Recorder::probe(const std::vector<EvaluationRequest>& requests) {
    std::string keys;
    for (const EvaluationRequest& request : requests)
        keys += evaluation_key(request, worker_.toolchain(), worker_.machine_fingerprint(), problem_hash_) + "\n";
    const std::string key = probe_prefix + content_hash(keys);
    if (std::optional<std::string> known = store_.find_document(run_, key)) {
        ++replayed_;
        return Json::parse(*known).get<std::vector<ProbeResult>>();
    }
    double reference_before = worker_.reference_seconds();
    std::vector<ProbeResult> results = worker_.probe(requests);
    store_.add_document(run_, key, dump(Json(results)));
    seconds_.reference += worker_.reference_seconds() - reference_before;
    for (const ProbeResult& result : results) {
        seconds_.compile += result.compile_seconds;
        seconds_.time += result.time_seconds;
    }
    return results;
}

Comparison Recorder::compare(const ComparisonRequest& request) {
    ++comparisons_;
    Json described = request;
    described.erase("seconds_per_point");   // follows from the time that was left: other on the way back
    std::string key = content_hash("compare\n" + worker_.toolchain() + worker_.machine_fingerprint() + problem_hash_ +
                                   dump(described));
    if (std::optional<std::string> known = store_.find_document(run_, key)) {
        ++replayed_;
        return Json::parse(*known).get<Comparison>();
    }
    Comparison comparison = worker_.compare(request);
    Json text = comparison;
    store_.add_document(run_, key, dump(text));
    seconds_.compile += comparison.compile_seconds;
    seconds_.check += comparison.check_seconds;
    seconds_.time += comparison.time_seconds;
    seconds_.reference += comparison.reference_seconds;
    return comparison;
}

template <typename Answer>
Answer Recorder::once(const std::string& what, const EvaluationRequest& request, double& seconds,
                      const std::function<Answer()>& ask) {
    const std::string key = content_hash(what + "\n" + evaluation_key(request, worker_.toolchain(),
                                                                      worker_.machine_fingerprint(), problem_hash_));
    if (std::optional<std::string> known = store_.find_document(run_, key)) {
        ++replayed_;
        return Json::parse(*known).get<Answer>();
    }
    const double reference_before = worker_.reference_seconds();
    const Clock::time_point start = Clock::now();
    Answer answer = ask();
    const double reference = worker_.reference_seconds() - reference_before;
    seconds_.reference += reference;
    seconds += seconds_since(start) - reference;
    store_.add_document(run_, key, dump(Json(answer)));
    return answer;
}

Profile Recorder::profile(const EvaluationRequest& request) {
    return once<Profile>("profile", request, seconds_.time, [&] { return worker_.profile(request); });
}

std::vector<SanitizerRun> Recorder::sanitize(const EvaluationRequest& request, Seconds limit) {
    return once<std::vector<SanitizerRun>>("sanitize", request, seconds_.check,
                                           [&] { return worker_.sanitize(request, limit); });
}

}  // namespace strop
