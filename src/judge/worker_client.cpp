#include "judge/worker_client.h"

#include <iterator>
#include <thread>
#include <utility>

#include <fmt/format.h>

#include "base/base64.h"
#include "judge/worker_connection.h"
#include "judge/worker_message.h"
#include "problem/problem_files.h"

namespace strop::judge {

namespace {

// Before each start of a lost worker; as many in a row without an answer are tried.
constexpr Seconds pauses[] = {Seconds(0), Seconds(2), Seconds(8)};

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
      say_(std::move(say)),
      scratch_("strop-worker") {
    if (command_.is_own()) command_.argv.insert(command_.argv.end(), {"--scratch", scratch_.path().string()});
    connection_ = std::make_unique<WorkerConnection>(command_, idle_);
    greeting_ = connection_->greeting();
}

WorkerClient::~WorkerClient() = default;

Machine WorkerClient::machine(Seconds lasting) {
    return part_of<Machine>(ask(dump({{"op", "machine"}, {"lasting", lasting.count()}})), "machine");
}

void WorkerClient::open(const Problem& problem, const std::vector<std::string>& points, uint64_t seed,
                        Seconds reference_limit) {
    opening_ = Opening{problem,
                       {{"op", "open"},
                        {"folder", problem.folder.string()},
                        {"files", marks_of_files(problem)},
                        {"points", points},
                        {"seed", seed},
                        {"reference_limit", reference_limit.count()}}};
    std::optional<Json> reply = open_once();
    if (!reply) throw LostWorker(fmt::format("{} ended: {}", command_.name(), connection_->end()), "try again");
    toolchain_ = part_of<std::string>(*reply, "toolchain");
    toolchains_ = part_of<std::map<std::string, std::string>>(*reply, "toolchains");
}

std::optional<Json> WorkerClient::open_once() {
    const std::string message = dump(opening_->message);
    std::string line;
    if (!ask_once(message, line)) return std::nullopt;
    Json reply = parse_answer(line);
    if (!reply.contains("wanted")) return reply;
    Json files = Json::object();
    for (const auto& [name, bytes] : read_files(opening_->problem, opening_->message["files"].get<FileMarks>()))
        files[name] = base64(bytes);
    if (!ask_once(dump({{"op", "files"}, {"files", files}}), line)) return std::nullopt;
    parse_answer(line);
    if (!ask_once(message, line)) return std::nullopt;
    reply = parse_answer(line);
    if (reply.contains("wanted")) fail_answer("it wants files that it has");
    return reply;
}

const std::string& WorkerClient::toolchain(const std::string& compiler) const {
    auto found = toolchains_.find(compiler);
    return found == toolchains_.end() ? toolchain_ : found->second;
}

bool WorkerClient::ask_once(const std::string& message, std::string& answer) {
    return connection_ && connection_->ask(message, answer, idle_);
}

Json WorkerClient::ask(const std::string& message) {
    std::string line;
    for (size_t losses = 0; !ask_once(message, line); ++losses) {
        if (connection_) how_it_was_lost_ = connection_->end();
        connection_.reset();
        if (losses == std::size(pauses))
            throw LostWorker(fmt::format("{} was lost and does not come back: {}", command_.name(), how_it_was_lost_),
                             command_.is_own() ? "run again with --verbose" : "is its machine up?");
        wait(pauses[losses], idle_);
        start_again();
    }
    Json reply = parse_answer(line);
    if (reply.contains("reference_seconds")) reference_seconds_ = part_of<double>(reply, "reference_seconds");
    return reply;
}

void WorkerClient::start_again() try {
    connection_ = std::make_unique<WorkerConnection>(command_, idle_);
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
    if (say_) say_(fmt::format("{} was lost ({}) and started again", command_.name(), how_it_was_lost_));
} catch (const LostWorker&) {
    throw;
} catch (const EnvironmentError& error) {
    how_it_was_lost_ = error.what();
    connection_.reset();
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

Evaluation WorkerClient::emulate(const EvaluationRequest& request, Seconds limit) {
    return part_of<Evaluation>(ask(dump({{"op", "emulate"}, {"request", request}, {"seconds", limit.count()}})),
                               "evaluation");
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

void WorkerClient::reseed(uint64_t seed) {
    ask(dump({{"op", "reseed"}, {"seed", seed}}));
    opening_->message["seed"] = seed;  // of a worker that is started again
}

}  // namespace strop::judge
