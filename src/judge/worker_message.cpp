#include "judge/worker_message.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <string_view>

#include <fmt/format.h>

#include "base/base64.h"
#include "base/error.h"
#include "base/line.h"
#include "base/strings.h"
#include "language/contract.h"

namespace strop::judge {

namespace {

constexpr size_t longest_phrase = 2000;  // of a worker's error
constexpr Seconds longest_limit{1e6};    // a poll's milliseconds are bounded, and nobody waits for days

template <typename... Case>
struct Visitor : Case... {
    using Case::operator()...;
};

Seconds duration_of(const Json& json, const char* key, bool may_be_none = true) {
    Seconds limit(json.at(key).get<double>());
    const bool fits = limit.count() >= 0 && limit <= longest_limit && (may_be_none || limit.count() > 0);
    if (!fits)
        throw UsageError(fmt::format("worker: {} {} is no time to wait", key, limit.count()),
                         fmt::format("a number of seconds up to {:.0f}", longest_limit.count()));
    return limit;
}

Seconds limit_of(const Json& json, const char* key) { return duration_of(json, key, false); }

WorkerMessage files_message(const Json& json) {
    FilesMessage message;
    for (const auto& [name, text] : json.at("files").get<std::map<std::string, std::string>>()) {
        std::optional<std::string> bytes = from_base64(text);
        if (!bytes) throw UsageError(fmt::format("worker: the content of '{}' is not in base64", name));
        message.files[name] = std::move(*bytes);
    }
    return message;
}

WorkerMessage open_message(const Json& json) {
    OpenMessage message;
    message.folder = json.at("folder").get<std::string>();
    message.files = json.at("files").get<FileMarks>();
    message.points = json.value("points", message.points);
    message.seed = seed_from_json(json.at("seed"));
    if (json.contains("reference_limit")) message.reference_limit = limit_of(json, "reference_limit");
    return message;
}

// Of a kernel that is given by its place in `kernels`, or as it is.
EvaluationRequest request_of(Json json, const std::vector<Kernel>& kernels) {
    if (!json.at("kernel").is_number()) return json.get<EvaluationRequest>();
    const size_t place = json["kernel"].get<size_t>();
    if (place >= kernels.size()) throw UsageError(fmt::format("worker: there is no kernel {}", dump(json["kernel"])));
    json["kernel"] = Kernel{};
    EvaluationRequest request = json.get<EvaluationRequest>();
    request.kernel = kernels[place];
    return request;
}

EvaluateMessage evaluate_message(const Json& json) {
    const std::vector<Kernel> kernels = json.value("kernels", std::vector<Kernel>{});
    EvaluateMessage message;
    for (const Json& request : json.at("requests")) message.requests.push_back(request_of(request, kernels));
    return message;
}

WorkerMessage message_of(const Json& json) {
    const std::string op = json.at("op").get<std::string>();
    if (op == "hello") return HelloMessage{json.value("target", ""), json.value("device", "")};
    if (op == "ping") return PingMessage{};
    if (op == "languages") return LanguagesMessage{};
    if (op == "machine") return MachineMessage{duration_of(json, "lasting")};
    if (op == "files") return files_message(json);
    if (op == "open") return open_message(json);
    if (op == "baselines") return BaselinesMessage{};
    if (op == "evaluate") return evaluate_message(json);
    if (op == "probe") return ProbeMessage{json.at("requests").get<std::vector<EvaluationRequest>>()};
    if (op == "profile") return ProfileMessage{json.at("request").get<EvaluationRequest>()};
    if (op == "sanitize")
        return SanitizeMessage{json.at("request").get<EvaluationRequest>(), limit_of(json, "seconds")};
    if (op == "emulate") return EmulateMessage{json.at("request").get<EvaluationRequest>(), limit_of(json, "seconds")};
    if (op == "compare") return CompareMessage{json.at("request").get<ComparisonRequest>()};
    if (op == "vectors") return VectorsMessage{json.at("points").get<std::vector<ShapePoint>>()};
    if (op == "reseed") return ReseedMessage{seed_from_json(json.at("seed"))};
    throw UsageError(fmt::format("worker: unknown op '{}'", op));
}

void check_points(const std::vector<ShapePoint>& points, const Problem& problem) {
    for (const ShapePoint& point : points) {
        bool same = point.dims.size() == problem.dimensions.size() &&
                    std::all_of(problem.dimensions.begin(), problem.dimensions.end(),
                                [&](const std::string& name) { return point.dims.count(name) > 0; });
        if (!same)
            throw UsageError(
                fmt::format("worker: the shape '{}' ({}) is none of the problem's", point.label, describe(point.dims)),
                "its dimensions are " + join(problem.dimensions, ", "));
        for (const auto* tensors : {&problem.inputs, &problem.outputs})
            for (const Tensor& tensor : *tensors) bytes_of(problem, tensor, point.dims);  // throws when too large
    }
}

void check_kernel(const Kernel& kernel, const Configuration& configuration) {
    check_source_size(kernel.source.size(), kernel.id);
    std::set<std::string> names;
    for (const Tunable& tunable : kernel.space.tunables) {
        auto whole = [](const Value& value) { return std::holds_alternative<int64_t>(value); };
        bool usable = is_identifier(tunable.name) && !tunable.values.empty() && names.insert(tunable.name).second;
        if (tunable.kind == Tunable::Kind::late)
            usable = usable && std::all_of(tunable.values.begin(), tunable.values.end(), whole);
        if (!usable)
            throw UsageError(fmt::format("worker: '{}' is no tunable of kernel '{}'", tunable.name, kernel.id));
        auto chosen = configuration.find(tunable.name);
        if (chosen == configuration.end()) continue;
        if (std::find(tunable.values.begin(), tunable.values.end(), chosen->second) == tunable.values.end())
            throw UsageError(fmt::format("worker: '{}' is not a value of '{}' in kernel '{}'",
                                         to_string(chosen->second), tunable.name, kernel.id));
    }
    for (const auto& [name, value] : configuration)
        if (!names.count(name))
            throw UsageError(fmt::format("worker: kernel '{}' has no tunable '{}'", kernel.id, name));
}

void check_comparison(const ComparisonRequest& request, const Problem& problem) {
    check_points(request.points, problem);
    if (!std::isfinite(request.seconds_per_point) || request.seconds_per_point < 0)
        throw UsageError(fmt::format("worker: seconds_per_point is {}", request.seconds_per_point));
    if (!std::isfinite(request.patience_seconds) || request.patience_seconds < 0)
        throw UsageError(fmt::format("worker: patience_seconds is {}", request.patience_seconds));
    for (const Contender& contender : request.contenders)
        if (contender.baseline.empty()) check_kernel(contender.kernel, contender.configuration);
}

Error reported(const Json& error) {
    Exit code = Exit::bug;
    for (Exit known : {Exit::usage, Exit::environment, Exit::interrupted})
        if (error.at("exit") == static_cast<int>(known)) code = known;
    const auto text = [&](const char* key) { return shortened(error.at(key).get<std::string>(), longest_phrase); };
    return Error(code, text("phrase"), text("hint"));
}

}  // namespace

std::string evaluate_line(const std::vector<EvaluationRequest>& requests) {
    Json kernels = Json::array(), asked = Json::array();
    std::map<std::pair<std::string_view, std::string_view>, size_t> places;  // by name and source
    for (const EvaluationRequest& request : requests) {
        const auto [known, is_new] = places.try_emplace({request.kernel.id, request.kernel.source}, kernels.size());
        if (is_new) kernels.push_back(request.kernel);
        asked.push_back(EvaluationRequest{{}, request.configuration, request.points, request.effort, request.best_ns});
        asked.back()["kernel"] = known->second;
    }
    return dump({{"op", "evaluate"}, {"kernels", std::move(kernels)}, {"requests", std::move(asked)}});
}

WorkerMessage parse_message(const std::string& line) try {
    return message_of(Json::parse(line));
} catch (const Json::exception& error) {
    throw UsageError(fmt::format("worker: malformed message: {}", error.what()));
}

void check_message(const WorkerMessage& message, const Problem& problem) {
    auto check_requests = [&](const std::vector<EvaluationRequest>& requests) {
        for (const EvaluationRequest& request : requests) {
            check_points(request.points, problem);
            check_kernel(request.kernel, request.configuration);
        }
    };
    std::visit(Visitor{[&](const EvaluateMessage& asked) { check_requests(asked.requests); },
                       [&](const ProbeMessage& asked) { check_requests(asked.requests); },
                       [&](const ProfileMessage& asked) { check_requests({asked.request}); },
                       [&](const SanitizeMessage& asked) { check_requests({asked.request}); },
                       [&](const EmulateMessage& asked) { check_requests({asked.request}); },
                       [&](const CompareMessage& asked) { check_comparison(asked.request, problem); },
                       [&](const VectorsMessage& asked) { check_points(asked.points, problem); }, [](const auto&) {}},
               message);
}

Json parse_answer(const std::string& line) try {
    Json answer = Json::parse(line);
    if (answer.contains("error")) throw reported(answer["error"]);
    if (!answer.is_object()) fail_answer("it is no object");
    return answer;
} catch (const Json::exception& error) {
    fail_answer(error.what());
}

void fail_answer(const std::string& why) {
    throw MalformedAnswer(Exit::bug, "the worker's answer is malformed: " + why, "run again with --verbose");
}

}  // namespace strop::judge
