#include "judge/worker.h"

#include <cstdlib>
#include <iostream>

#include <fmt/format.h>

#include "base/error.h"
#include "base/log.h"
#include "core/json.h"
#include "device/machine.h"
#include "judge/referee.h"
#include "problem/loader.h"
#include "sandbox/line_process.h"

namespace strop::judge {

namespace {

class Worker {
public:
    Json answer(const Json& message) {
        const std::string op = message.at("op").get<std::string>();
        if (op == "open") return open(message);
        if (!referee_) throw UsageError("worker: no problem is open", "send {\"op\": \"open\", ...} first");
        Json reply = Json::object();
        if (op == "baselines") {
            reply["baselines"] = referee_->baselines();
            reply["missing"] = Json::array();
            for (const MissingBaseline& baseline : referee_->missing_baselines())
                reply["missing"].push_back({{"name", baseline.name}, {"how", baseline.how}});
        } else if (op == "evaluate") {
            reply["evaluations"] = referee_->evaluate(message.at("requests").get<std::vector<EvaluationRequest>>());
        } else if (op == "compare") {
            reply["comparison"] = referee_->compare(message.at("request").get<ComparisonRequest>());
        } else if (op == "vectors") {
            reply["vectors"] = Json::array();
            for (const ShapePoint& point : message.at("points").get<std::vector<ShapePoint>>())
                reply["vectors"].push_back(referee_->test_vector(point));
        } else if (op == "reseed") {
            referee_->reseed(message.at("seed").get<uint64_t>());
        } else {
            throw UsageError(fmt::format("worker: unknown op '{}'", op));
        }
        reply["reference_seconds"] = referee_->reference_seconds();
        return reply;
    }

private:
    Json open(const Json& message) {
        Problem problem = load_problem(message.at("problem").get<std::string>());
        keep_points(problem, message.value("points", std::vector<std::string>{}));
        // On a machine that is not the asker's there is no such folder; then the worker's own temporary one has to do.
        std::string scratch = message.value("scratch", std::string());
        if (fs::is_directory(scratch)) ::setenv("TMPDIR", scratch.c_str(), 1);
        Machine machine = measured_machine();
        RefereeOptions options;
        options.seed = message.at("seed").get<uint64_t>();
        options.reference_limit = Seconds(message.value("reference_limit", options.reference_limit.count()));
        referee_ = std::make_unique<Referee>(problem, machine, options);
        return {{"toolchain", referee_->toolchain().description()}, {"machine", machine.fingerprint},
                {"reference_seconds", 0.0}};
    }

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
            reply = worker.answer(Json::parse(line));
        } catch (const Json::exception& error) {
            reply = failure(Exit::usage, fmt::format("worker: malformed message: {}", error.what()), "");
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
    Json reply = Json::parse(ask(dump({{"op", "open"},
                                       {"problem", problem_folder},
                                       {"points", points},
                                       {"seed", seed},
                                       {"reference_limit", reference_limit.count()},
                                       {"scratch", scratch_.path().string()}})));
    toolchain_ = reply.at("toolchain").get<std::string>();
    fingerprint_ = reply.at("machine").get<std::string>();
}

WorkerClient::~WorkerClient() = default;

std::string WorkerClient::ask(const std::string& message) {
    std::string line;
    if (!process_->write_line(message) || !process_->read_line(line, idle_))
        throw Error(Exit::bug, "the worker ended: " + process_->end(), "run again with --verbose");
    Json reply = Json::parse(line);
    if (reply.contains("error")) {
        const Json& error = reply["error"];
        throw Error(static_cast<Exit>(error.at("exit").get<int>()), error.at("phrase").get<std::string>(),
                    error.at("hint").get<std::string>());
    }
    reference_seconds_ = reply.value("reference_seconds", reference_seconds_);
    return line;
}

std::vector<Evaluation> WorkerClient::evaluate(const std::vector<EvaluationRequest>& requests) {
    Json reply = Json::parse(ask(dump({{"op", "evaluate"}, {"requests", requests}})));
    return reply.at("evaluations").get<std::vector<Evaluation>>();
}

Comparison WorkerClient::compare(const ComparisonRequest& request) {
    Json reply = Json::parse(ask(dump({{"op", "compare"}, {"request", request}})));
    return reply.at("comparison").get<Comparison>();
}

std::vector<std::string> WorkerClient::baselines(std::vector<MissingBaseline>& missing) {
    Json reply = Json::parse(ask(dump({{"op", "baselines"}})));
    missing.clear();
    for (const Json& entry : reply.at("missing"))
        missing.push_back({entry.at("name").get<std::string>(), entry.at("how").get<std::string>()});
    return reply.at("baselines").get<std::vector<std::string>>();
}

std::vector<TestVector> WorkerClient::test_vectors(const std::vector<ShapePoint>& points) {
    Json reply = Json::parse(ask(dump({{"op", "vectors"}, {"points", points}})));
    return reply.at("vectors").get<std::vector<TestVector>>();
}

void WorkerClient::reseed(uint64_t seed) { ask(dump({{"op", "reseed"}, {"seed", seed}})); }

}  // namespace strop::judge
