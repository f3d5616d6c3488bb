#include "judge/worker.h"

#include <cstdlib>
#include <iostream>

#include <fmt/format.h>

#include "base/error.h"
#include "base/log.h"
#include "device/machine.h"
#include "judge/referee.h"
#include "judge/worker_message.h"
#include "problem/loader.h"
#include "sandbox/line_process.h"

namespace strop::judge {

namespace {

class Worker {
public:
    Json answer(const WorkerMessage& message) {
        if (const auto* opening = std::get_if<OpenMessage>(&message)) return open(*opening);
        if (!referee_) throw UsageError("worker: no problem is open", "send {\"op\": \"open\", ...} first");
        check_message(message, problem_);
        Json reply = std::visit([&](const auto& asked) { return answer_to(asked); }, message);
        reply["reference_seconds"] = referee_->reference_seconds();
        return reply;
    }

private:
    Json open(const OpenMessage& message) {
        Problem problem = load_problem(message.problem);
        keep_points(problem, message.points);
        // On a machine that is not the asker's there is no such folder; then the worker's own temporary one has to do.
        std::error_code failed;
        if (fs::is_directory(message.scratch, failed)) ::setenv("TMPDIR", message.scratch.c_str(), 1);
        Machine machine = measured_machine();
        RefereeOptions options;
        options.seed = message.seed;
        options.reference_limit = message.reference_limit;
        referee_ = std::make_unique<Referee>(problem, machine, options);
        problem_ = std::move(problem);
        return {{"toolchain", referee_->toolchain().description()},
                {"toolchains", referee_->toolchain().descriptions()},
                {"machine", machine.fingerprint},
                {"reference_seconds", 0.0}};
    }

    Json answer_to(const OpenMessage&) { return Json::object(); }   // answered before
    Json answer_to(const BaselinesMessage&) {
        Json reply = {{"baselines", referee_->baselines()}, {"missing", Json::array()}};
        for (const MissingBaseline& baseline : referee_->missing_baselines())
            reply["missing"].push_back({{"name", baseline.name}, {"how", baseline.how}});
        return reply;
    }
    Json answer_to(const EvaluateMessage& asked) { return {{"evaluations", referee_->evaluate(asked.requests)}}; }
    Json answer_to(const ProbeMessage& asked) { return {{"probes", referee_->probe(asked.requests)}}; }
    Json answer_to(const ProfileMessage& asked) { return {{"profile", referee_->profile(asked.request)}}; }
    Json answer_to(const SanitizeMessage& asked) {
        return {{"sanitizers", referee_->sanitize(asked.request, asked.limit)}};
    }
    Json answer_to(const CompareMessage& asked) { return {{"comparison", referee_->compare(asked.request)}}; }
    Json answer_to(const VectorsMessage& asked) {
        Json vectors = Json::array();
        for (const ShapePoint& point : asked.points) vectors.push_back(referee_->test_vector(point));
        return {{"vectors", vectors}};
    }
    Json answer_to(const ReseedMessage& asked) {
        referee_->reseed(asked.seed);
        return Json::object();
    }

    Problem problem_;
    std::unique_ptr<Referee> referee_;
};

Json failure(Exit code, const std::string& phrase, const std::string& hint) {
    return {{"error", {{"phrase", phrase}, {"hint", hint}, {"exit", static_cast<int>(code)}}}};
}

}  // namespace

void serve_worker(std::istream& in, std::ostream& out) {
    Worker worker;
    std::string line;
    while (std::getline(in, line)) {
        Json reply;
        try {
            reply = worker.answer(parse_message(line));
        } catch (const Error& error) {
            reply = failure(error.code(), error.what(), error.hint());
        } catch (const std::exception& error) {
            reply = failure(Exit::bug, error.what(), "");
        }
        out << dump(reply) << std::endl;
    }
}

WorkerClient::WorkerClient(const std::vector<std::string>& command, const std::string& problem_folder,
                           const std::vector<std::string>& points, uint64_t seed, std::function<void()> idle,
                           Seconds reference_limit)
    : scratch_("strop-worker"), process_(std::make_unique<sandbox::LineProcess>(command)), idle_(std::move(idle)) {
    Json reply = ask(dump({{"op", "open"},
                                       {"problem", problem_folder},
                                       {"points", points},
                                       {"seed", seed},
                                       {"reference_limit", reference_limit.count()},
                                       {"scratch", scratch_.path().string()}}));
    toolchain_ = part_of<std::string>(reply, "toolchain");
    toolchains_ = part_of<std::map<std::string, std::string>>(reply, "toolchains");
    fingerprint_ = part_of<std::string>(reply, "machine");
}

WorkerClient::~WorkerClient() = default;

const std::string& WorkerClient::toolchain(const std::string& compiler) const {
    auto found = toolchains_.find(compiler);
    return found == toolchains_.end() ? toolchain_ : found->second;
}

Json WorkerClient::ask(const std::string& message) {
    std::string line;
    if (!process_->write_line(message) || !process_->read_line(line, idle_))
        throw Error(Exit::bug, "the worker ended: " + process_->end().describe(), "run again with --verbose");
    Json reply = parse_answer(line);
    reference_seconds_ = part_of<double>(reply, "reference_seconds");
    return reply;
}

std::vector<Evaluation> WorkerClient::evaluate(const std::vector<EvaluationRequest>& requests) {
    return part_of<std::vector<Evaluation>>(ask(dump({{"op", "evaluate"}, {"requests", requests}})), "evaluations");
}

std::vector<ProbeResult> WorkerClient::probe(const std::vector<EvaluationRequest>& requests) {
    return part_of<std::vector<ProbeResult>>(ask(dump({{"op", "probe"}, {"requests", requests}})), "probes");
}

Profile WorkerClient::profile(const EvaluationRequest& request) {
    return part_of<Profile>(ask(dump({{"op", "profile"}, {"request", request}})), "profile");
}

std::vector<SanitizerRun> WorkerClient::sanitize(const EvaluationRequest& request, Seconds limit) {
    return part_of<std::vector<SanitizerRun>>(
        ask(dump({{"op", "sanitize"}, {"request", request}, {"seconds", limit.count()}})), "sanitizers");
}

Comparison WorkerClient::compare(const ComparisonRequest& request) {
    return part_of<Comparison>(ask(dump({{"op", "compare"}, {"request", request}})), "comparison");
}

std::vector<std::string> WorkerClient::baselines(std::vector<MissingBaseline>& missing) {
    Json reply = ask(dump({{"op", "baselines"}}));
    missing.clear();
    for (const Json& entry : part_of<std::vector<Json>>(reply, "missing"))
        missing.push_back({part_of<std::string>(entry, "name"), part_of<std::string>(entry, "how")});
    return part_of<std::vector<std::string>>(reply, "baselines");
}

std::vector<TestVector> WorkerClient::test_vectors(const std::vector<ShapePoint>& points) {
    return part_of<std::vector<TestVector>>(ask(dump({{"op", "vectors"}, {"points", points}})), "vectors");
}

void WorkerClient::reseed(uint64_t seed) { ask(dump({{"op", "reseed"}, {"seed", seed}})); }

}  // namespace strop::judge
