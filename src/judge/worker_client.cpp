#include "judge/worker_client.h"

#include <algorithm>
#include <iterator>
#include <thread>
#include <utility>

#include <fmt/format.h>

#include "base/base64.h"
#include "judge/worker_connection.h"
#include "judge/worker_message.h"
#include "judge/worker_place.h"
#include "problem/problem_files.h"

namespace strop::judge {

namespace {

// Before each start of a lost worker; as many in a row without an answer are tried.
constexpr Seconds pauses[] = {Seconds(0), Seconds(2), Seconds(8)};

constexpr int pings = 3;

void wait(Seconds pause, const std::function<void()>& idle) {
    for (const Clock::time_point start = Clock::now(); seconds_since(start) < pause.count();) {
        idle();
        std::this_thread::sleep_for(std::chrono::milliseconds(50));
    }
}

}  // namespace

WorkerClient::WorkerClient(WorkerCommand command, std::function<void()> idle,
                           std::function<void(const std::string&)> say)
    : command_(std::move(command)),
      idle_(std::move(idle)),
      say_(std::move(say)) {
    if (command_.is_own()) command_.argv.insert(command_.argv.end(), {"--scratch", scratch_.path().string()});
    connection_ = connect(command_, idle_, say_);
    greeting_ = connection_->greeting();
    banner_ = connection_->banner();
}

WorkerClient::~WorkerClient() = default;

Machine WorkerClient::machine(Seconds lasting) {
    return ask_for<Machine>("machine", {{"op", "machine"}, {"lasting", lasting.count()}});
}

Seconds WorkerClient::round_trip() {
    Seconds least = no_limit;
    for (int i = 0; i < pings; ++i) {
        const Clock::time_point start = Clock::now();
        ask({{"op", "ping"}}, [](const Json&) {});
        least = std::min(least, Seconds(seconds_since(start)));
    }
    return least;
}

std::vector<std::string> WorkerClient::languages() {
    return ask_for<std::vector<std::string>>("languages", {{"op", "languages"}});
}

Problem with_least_extents(Problem problem, const std::map<std::string, int64_t>& least) {
    for (auto& [name, range] : problem.range)
        if (const auto found = least.find(name); found != least.end() && !range.declared)
            range.low = std::clamp(found->second, range.low, range.high);
    return problem;
}

Problem WorkerClient::open(const Problem& problem, const std::vector<std::string>& points, uint64_t seed,
                           Seconds reference_limit) {
    opening_ = Opening{problem,
                       reference_limit,
                       {{"op", "open"},
                        {"folder", problem.folder.string()},
                        {"files", marks_of_files(problem)},
                        {"points", points},
                        {"seed", seed},
                        {"reference_limit", reference_limit.count()}}};
    std::optional<Json> reply = open_once();
    if (!reply) throw LostWorker(fmt::format("{} ended: {}", command_.name(), how_it_was_lost_), "try again");
    toolchain_ = part_of<std::string>(*reply, "toolchain");
    toolchains_ = part_of<std::map<std::string, std::string>>(*reply, "toolchains");
    reference_note_ = reply->contains("note") ? part_of<std::string>(*reply, "note") : "";
    least_.clear();
    if (reply->contains("least")) least_ = part_of<std::map<std::string, int64_t>>(*reply, "least");
    return with_least_extents(problem, least_);
}

std::optional<Json> WorkerClient::open_once() {
    const std::string message = dump(opening_->message);
    std::optional<Json> reply = exchange(message, no_limit);
    if (!reply || !reply->contains("wanted")) return reply;
    Json files = Json::object();
    for (const auto& [name, bytes] : read_files(opening_->problem, opening_->message["files"].get<FileMarks>()))
        files[name] = base64(bytes);
    if (!exchange(dump({{"op", "files"}, {"files", files}}), no_limit)) return std::nullopt;
    reply = exchange(message, no_limit);
    if (reply && reply->contains("wanted")) fail_answer("it wants files that it has");
    return reply;
}

const std::string& WorkerClient::toolchain(const std::string& compiler) const {
    auto found = toolchains_.find(compiler);
    return found == toolchains_.end() ? toolchain_ : found->second;
}

std::optional<Json> WorkerClient::exchange(const std::string& message, Seconds limit) {
    std::string line;
    if (!connection_ || !connection_->ask(message, line, limit, idle_)) {
        lose();
        return std::nullopt;
    }
    try {
        return parse_answer(line);
    } catch (const MalformedAnswer& error) {
        lose(error.what());
        return std::nullopt;
    }
}

void WorkerClient::lose(const std::string& how) {
    const std::string ending = connection_ ? connection_->end() : how_it_was_lost_;
    how_it_was_lost_ = how.empty() ? ending : how;
    connection_.reset();
    ++losses_in_a_row_;
}

bool WorkerClient::ask_once(const std::string& message, const Reading& read, Seconds limit) try {
    const std::optional<Json> answer = exchange(message, limit);
    if (!answer) return false;
    try {
        read(*answer);
        if (answer->contains("reference_seconds")) reference_seconds_ = part_of<double>(*answer, "reference_seconds");
    } catch (const MalformedAnswer& error) {
        lose(error.what());
        return false;
    }
    losses_in_a_row_ = 0;
    return true;
} catch (const Error& error) {
    // Something is wrong with its machine, such as a full disk: others can go on, and so can the run once it is mended.
    if (!opening_ || error.code() != Exit::environment) throw;
    if (command_.is_own()) throw LostWorker(error.what(), error.hint());
    throw LostWorker(fmt::format("{} cannot go on: {}", command_.name(), error.what()), error.hint());
}

void WorkerClient::ask(const Json& message, const Reading& read, Seconds limit) {
    for (const std::string line = dump(message); !ask_once(line, read, limit);) revive();
}

template <typename Part>
Part WorkerClient::ask_for(const char* key, const Json& message, Seconds limit) {
    Part part;
    ask(message, [&](const Json& answer) { part = part_of<Part>(answer, key); }, limit);
    return part;
}

void WorkerClient::revive() {
    while (!connection_) {
        if (losses_in_a_row_ > std::size(pauses))
            throw LostWorker(fmt::format("{} was lost and does not come back: {}", command_.name(), how_it_was_lost_),
                             command_.is_own() ? "run again with --verbose" : "is its machine up?");
        wait(pauses[losses_in_a_row_ - 1], idle_);
        start_again();
    }
}

void WorkerClient::start_again() try {
    connection_ = connect(command_, idle_, say_);
    const Machine &now = connection_->greeting().machine, &before = greeting_.machine;
    if (now.fingerprint != before.fingerprint)
        throw LostWorker(fmt::format("{} was lost and came back on another machine: {}, before: {}", command_.name(),
                                     machine_text(now), machine_text(before)),
                         "measurements of two machines are not mixed: name a command that leads to the same one");
    earlier_reference_seconds_ += std::exchange(reference_seconds_, 0);
    if (opening_) {
        const std::optional<Json> reply = open_once();
        if (!reply) return;  // gone again
        if (part_of<std::string>(*reply, "toolchain") != toolchain_)
            throw LostWorker(fmt::format("{} was lost and came back with another compiler: {}", command_.name(),
                                         part_of<std::string>(*reply, "toolchain")),
                             "it was " + toolchain_);
    }
    ++losses_;
    if (say_) say_(fmt::format("{} was lost ({}) and started again", command_.name(), how_it_was_lost_));
} catch (const LostWorker&) {
    connection_.reset();
    throw;
} catch (const MalformedAnswer& error) {
    lose(error.what());
} catch (const EnvironmentError& error) {
    lose(error.what());
}

namespace {

// As many as were asked for, each of what was asked.
void check_evaluations(const std::vector<EvaluationRequest>& requests, const std::vector<Evaluation>& evaluations) {
    if (evaluations.size() != requests.size())
        fail_answer(fmt::format("{} evaluations of {}", evaluations.size(), requests.size()));
    for (size_t i = 0; i < requests.size(); ++i)
        if (evaluations[i].kernel != requests[i].kernel.id ||
            evaluations[i].configuration != requests[i].configuration || evaluations[i].key.empty())
            fail_answer(fmt::format("evaluation {} is not of {}", i + 1, requests[i].kernel.id));
}

}  // namespace

std::optional<std::vector<Evaluation>> WorkerClient::evaluate_once(const std::vector<EvaluationRequest>& requests) {
    std::vector<Evaluation> evaluations;
    const Reading read = [&](const Json& answer) {
        evaluations = part_of<std::vector<Evaluation>>(answer, "evaluations");
        check_evaluations(requests, evaluations);
    };
    const Seconds limit = limit_of_batch(batch_limit(requests, opening_->reference_limit));
    if (!ask_once(evaluate_line(requests), read, limit)) return std::nullopt;
    return evaluations;
}

std::vector<Evaluation> WorkerClient::evaluate(std::vector<EvaluationRequest> requests) {
    for (;;) {
        if (std::optional<std::vector<Evaluation>> evaluations = evaluate_once(requests)) return *evaluations;
        revive();
    }
}

std::vector<ProbeResult> WorkerClient::probe(const std::vector<EvaluationRequest>& requests) {
    return ask_for<std::vector<ProbeResult>>("probes", {{"op", "probe"}, {"requests", requests}},
                                             limit_of_batch(batch_limit(requests, opening_->reference_limit)));
}

Profile WorkerClient::profile(const EvaluationRequest& request) {
    return ask_for<Profile>("profile", {{"op", "profile"}, {"request", request}});
}

std::vector<SanitizerRun> WorkerClient::sanitize(const EvaluationRequest& request, Seconds limit) {
    return ask_for<std::vector<SanitizerRun>>("sanitizers",
                                              {{"op", "sanitize"}, {"request", request}, {"seconds", limit.count()}});
}

Evaluation WorkerClient::emulate(const EvaluationRequest& request, Seconds limit) {
    return ask_for<Evaluation>("evaluation", {{"op", "emulate"}, {"request", request}, {"seconds", limit.count()}});
}

Comparison WorkerClient::compare(const ComparisonRequest& request) {
    return ask_for<Comparison>("comparison", {{"op", "compare"}, {"request", request}},
                               limit_of_batch(batch_limit(request, opening_->reference_limit)));
}

std::vector<std::string> WorkerClient::baselines(std::vector<MissingBaseline>& missing) {
    std::vector<std::string> names;
    ask({{"op", "baselines"}}, [&](const Json& answer) {
        missing.clear();
        for (const Json& entry : part_of<std::vector<Json>>(answer, "missing"))
            missing.push_back({part_of<std::string>(entry, "name"), part_of<std::string>(entry, "how")});
        names = part_of<std::vector<std::string>>(answer, "baselines");
    });
    return names;
}

std::vector<TestVector> WorkerClient::test_vectors(const std::vector<ShapePoint>& points) {
    return ask_for<std::vector<TestVector>>("vectors", {{"op", "vectors"}, {"points", points}});
}

void WorkerClient::reseed(uint64_t seed) {
    ask({{"op", "reseed"}, {"seed", seed}}, [](const Json&) {});
    opening_->message["seed"] = seed;  // of a worker that is started again
}

}  // namespace strop::judge
