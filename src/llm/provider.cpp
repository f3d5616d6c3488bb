#include "llm/provider.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <ctime>
#include <mutex>
#include <random>

#include <fmt/format.h>

#include "base/error.h"
#include "base/strings.h"
#include "llm/http.h"
#include "llm/retry.h"
#include "llm/sse.h"

namespace strop::llm {

namespace {

using Json = nlohmann::json;

constexpr size_t longest_error = size_t{1} << 20;
constexpr int bytes_a_token = 3;
constexpr double most_tokens = 1e12;    // beyond it a number is nonsense
constexpr size_t shortest_secret = 16;  // a local server's "none" may well occur in a reply

// The outcome of one attempt.
struct Outcome {
    HttpResponse response;
    Answer answer;
    std::string error_body;  // of a status other than 200
    std::string plain_body;  // of an answer that is no stream
    bool foreign = false;    // an event that is not of the protocol
};

bool is_stream(const HttpResponse& response) {
    auto type = response.headers.find("content-type");
    return type == response.headers.end() || lower(type->second).starts_with("text/event-stream");
}

void take_data(const Protocol& protocol, const std::string& data, Outcome& outcome) {
    if (trim(data) == "[DONE]") {
        outcome.answer.last = true;
        return;
    }
    Json event = Json::parse(data, nullptr, false);
    if (!event.is_object()) {
        outcome.foreign = true;
        return;
    }
    try {
        protocol.take(event, outcome.answer);
    } catch (const Json::exception&) {
        outcome.foreign = true;
    }
}

Outcome attempt(const Protocol& protocol, const HttpRequest& request, const Cancel& cancel) {
    Outcome outcome;
    SseParser parser([&](const SseEvent& event) {
        if (!outcome.answer.last) take_data(protocol, event.data, outcome);
    });
    auto on_body = [&](const HttpResponse& response, std::string_view piece) {
        if (response.status != 200) {
            outcome.error_body.append(piece.substr(0, longest_error - outcome.error_body.size()));
            return outcome.error_body.size() < longest_error;
        }
        if (!is_stream(response)) {
            outcome.plain_body += piece;
            return true;
        }
        parser.push(piece);
        return !outcome.answer.last && !outcome.answer.error;
    };
    outcome.response = http_post(request, on_body, cancel);
    // Some servers give a stream of events another name.
    bool events = outcome.plain_body.starts_with("data:") || outcome.plain_body.starts_with("event:");
    if (events) parser.push(outcome.plain_body);
    parser.finish();
    if (!events && !outcome.plain_body.empty()) take_data(protocol, outcome.plain_body, outcome);
    return outcome;
}

void add(Usage& sum, const Usage& usage) {
    sum.input_tokens += usage.input_tokens;
    sum.cached_tokens += usage.cached_tokens;
    sum.cache_write_tokens += usage.cache_write_tokens;
    sum.output_tokens += usage.output_tokens;
    sum.reasoning_tokens += usage.reasoning_tokens;
    sum.known = usage.known;
}

int64_t estimate(size_t bytes) { return static_cast<int64_t>((bytes + bytes_a_token - 1) / bytes_a_token); }

void estimate_usage(const Request& request, Reply& reply) {
    size_t bytes = request.system.size() + request.schema.size();
    for (const Message& message : request.messages) bytes += message.content.size();
    reply.usage.input_tokens += estimate(bytes);
    reply.usage.output_tokens += estimate(reply.text.size());
}

double jitter() {
    thread_local std::minstd_rand generator(std::random_device{}());
    return std::uniform_real_distribution<double>(0, 1)(generator);
}

std::string strip_slashes(std::string text) {
    while (text.ends_with('/')) text.pop_back();
    return text;
}

// For messages: "http://user:secret@host" may hold a secret, too.
std::string without_login(const std::string& url) {
    size_t begin = url.find("://"), at = url.find('@');
    if (begin == std::string::npos || at == std::string::npos || at > url.find('/', begin + 3)) return url;
    return url.substr(0, begin + 3) + url.substr(at + 1);
}

bool is_sendable(const std::string& key) {
    return std::all_of(key.begin(), key.end(), [](char c) { return c > ' ' && c < 0x7F; });
}

class RemoteModel : public Model {
public:
    RemoteModel(const Spec& spec, const Connection& connection, std::string key, const Provider& provider,
                std::unique_ptr<Protocol> protocol)
        : name_(spec.provider + "/" + spec.model),
          model_(spec.model),
          connection_(connection),
          key_(std::move(key)),
          provider_(provider),
          protocol_(std::move(protocol)),
          accepts_(capabilities_of(spec.provider, spec.model)) {
        base_ = strip_slashes(connection.base_url.empty() ? provider.base_url : connection.base_url);
        if (base_.empty())
            throw UsageError(fmt::format("{} has no base URL", name_),
                             "give that of its server, such as http://127.0.0.1:8080/v1");
    }

    const std::string& name() const override { return name_; }

    Reply ask(const Request& request, const Cancel& cancel) override {
        auto start = Clock::now();
        Reply reply;
        if (key_.empty() && provider_.needs_key) {
            reply.failure = Failure::no_key;
            reply.why = fmt::format("no key for {}: set {}", name_, provider_.key_variable);
        } else if (!is_sendable(key_)) {
            reply.failure = Failure::no_key;
            reply.why = fmt::format("the key for {} holds spaces or control characters", name_);
        } else {
            ask_until_done(request, cancel, reply);
        }
        reply.seconds = seconds_since(start);
        return reply;
    }

private:
    Capabilities accepts() const {
        std::lock_guard lock(mutex_);
        return accepts_;
    }

    HttpRequest http_request(const Body& body) const {
        HttpRequest http;
        http.url = protocol_->url(base_, model_);
        http.headers = protocol_->headers(key_);
        http.headers.emplace_back("Accept", "text/event-stream");
        http.body = body.dump(-1, ' ', false, Body::error_handler_t::replace);
        http.timeout = connection_.timeout;
        http.connect_timeout = connection_.connect_timeout;
        return http;
    }

    void ask_until_done(const Request& request, const Cancel& cancel, Reply& reply) {
        while (true) {
            Capabilities accepted = accepts();
            Body body = protocol_->body(request, model_, accepted);
            apply_drops(accepted, body);
            Outcome outcome = attempt(*protocol_, http_request(body), cancel);
            Attempt failed = judge(request, outcome, reply);
            if (reply.ok() || reply.failure == Failure::cancelled) return;
            if (drop_rejected(failed.error, body, accepted)) continue;
            if (!is_transient(outcome, reply)) return;
            auto pause = wait_before_retry(failed, reply.retries, jitter(), std::time(nullptr));
            if (!pause || reply.retries >= connection_.retries) return;
            spdlog::debug("{}: {}; again in {:.1f} s", name_, reply.why, pause->count());
            if (!wait(*pause * connection_.retry_scale, cancel)) {
                set(reply, Failure::cancelled, "cancelled");
                return;
            }
            ++reply.retries;
        }
    }

    // Whether more patience may help: not with what the model itself decided, nor after the whole time-out.
    static bool is_transient(const Outcome& outcome, const Reply& reply) {
        if (outcome.answer.finished || outcome.foreign) return false;
        HttpEnd end = outcome.response.end;
        return (end == HttpEnd::complete || end == HttpEnd::broken || end == HttpEnd::no_connection) &&
               reply.failure != Failure::malformed;
    }

    void set(Reply& reply, Failure failure, const std::string& why) const {
        reply.failure = failure;
        reply.why = one_line(why, key_);
    }

    void set_error(Reply& reply, const WireError& error, const char* place) const {
        std::string code = error.code.empty() ? "" : fmt::format(" ({})", error.code);
        set(reply, failure_of(error),
            fmt::format("{} answered {}{}{}: {}", provider_name(), error.status, place, code, error.message));
    }

    std::string provider_name() const { return name_.substr(0, name_.find('/')); }

    // Fills the reply with what an attempt came to, and says what a retry needs to know.
    Attempt judge(const Request& request, const Outcome& outcome, Reply& reply) const {
        const Answer& answer = outcome.answer;
        Attempt failed{false, {}, outcome.response.headers};
        set(reply, Failure::none, "");
        reply.text = key_.size() < shortest_secret ? answer.text : redact(answer.text, key_);
        if (!answer.model.empty()) reply.model = one_line(answer.model, key_);
        add(reply.usage, answer.usage);
        if (judge_transport(outcome, reply, failed)) return failed;
        if (outcome.response.status != 200) {
            failed.error = parse_error(outcome.response.status, outcome.error_body);
            set_error(reply, failed.error, "");
        } else if (answer.error && !answer.finished) {
            failed.error = *answer.error;
            failed.headers.clear();
            set_error(reply, failed.error, " in its stream");
        } else {
            judge_answer(outcome, reply, failed);
            if (!answer.usage.known) estimate_usage(request, reply);
        }
        return failed;
    }

    // Whether the transfer itself has failed.
    bool judge_transport(const Outcome& outcome, Reply& reply, Attempt& failed) const {
        if (outcome.answer.finished) return false;
        Failure failure = Failure::network;
        switch (outcome.response.end) {
            case HttpEnd::complete: return false;
            case HttpEnd::unusable_url: failure = Failure::rejected; break;
            case HttpEnd::timed_out: failure = Failure::timed_out; break;
            case HttpEnd::cancelled: failure = Failure::cancelled; break;
            case HttpEnd::too_large: failure = Failure::malformed; break;
            default: failed.no_answer = true;
        }
        set(reply, failure, fmt::format("{}: {}", without_login(base_), outcome.response.why));
        return true;
    }

    void judge_answer(const Outcome& outcome, Reply& reply, Attempt& failed) const {
        const Answer& answer = outcome.answer;
        if (answer.failure != Failure::none) return set(reply, answer.failure, answer.why);
        bool page = !outcome.plain_body.empty() && !answer.finished;
        if (page || (outcome.foreign && !answer.finished)) {
            std::string shown = page ? ": " + parse_error(200, outcome.plain_body).message : "";
            return set(reply, Failure::malformed,
                       without_login(base_) + " does not speak the protocol of " + provider_name() + shown);
        }
        if (!answer.finished && !(answer.last && !answer.text.empty())) {
            failed.no_answer = true;
            return set(reply, Failure::network, fmt::format("{}: the answer broke off", without_login(base_)));
        }
        if (trim(answer.text).empty()) set(reply, Failure::empty, "the reply holds no text");
    }

    // Not merely a value that is too large.
    static bool is_unknown(const WireError& error) {
        std::string text = lower(error.code + " " + error.message);
        for (const char* word : {"unsupported", "unknown", "unrecognized", "not supported", "not permitted"})
            if (text.find(word) != std::string::npos) return true;
        return false;
    }

    // A parameter that the model does not know is left out from now on. True when there was one.
    bool drop_rejected(const WireError& error, const Body& body, const Capabilities& sent) {
        auto known = protocol_->optional_parameters();
        known.push_back(protocol_->schema_path());
        std::string other = sent.output_limit.empty() ? "" : protocol_->other_output_limit(sent.output_limit);
        if (!other.empty() && is_unknown(error)) known.push_back(sent.output_limit);
        auto path = rejected_parameter(error, body, sent, known);
        if (!path) return false;
        std::lock_guard lock(mutex_);
        if (*path == protocol_->schema_path() && protocol_->has_older_schema_form() && !sent.schema_in_json_object &&
            error.message.find("json_object") != std::string::npos) {
            spdlog::debug("{}: {} goes in its older form", name_, *path);
            return accepts_.schema_in_json_object = true;
        }
        spdlog::debug("{}: {} is rejected and not sent again", name_, *path);
        accepts_.dropped.insert(*path);
        if (*path == protocol_->schema_path()) accepts_.json_schema = false;
        if (*path == sent.output_limit) accepts_.output_limit = accepts_.dropped.contains(other) ? "" : other;
        return true;
    }

    std::string name_, model_, base_;
    Connection connection_;
    std::string key_;
    Provider provider_;
    std::unique_ptr<Protocol> protocol_;
    mutable std::mutex mutex_;
    Capabilities accepts_;
};

}  // namespace

std::unique_ptr<Model> make_remote(const Spec& spec, const Connection& connection, const std::string& key,
                                   const Provider& provider, std::unique_ptr<Protocol> protocol) {
    return std::make_unique<RemoteModel>(spec, connection, key, provider, std::move(protocol));
}

int output_limit(const Request& request, const Capabilities& accepts) {
    int most = accepts.most_output_tokens;
    return most > 0 ? std::min(most, request.max_output_tokens) : request.max_output_tokens;
}

std::string system_text(const Request& request, const Capabilities& accepts) {
    if (request.schema.empty() || accepts.json_schema) return request.system;
    return request.system + "\n\nAnswer with nothing but JSON that matches this JSON Schema:\n" + request.schema;
}

int64_t number_at(const Json& value, const std::string& path) {
    Json::json_pointer pointer("/" + path);
    if (!value.contains(pointer) || !value[pointer].is_number()) return 0;
    double number = value[pointer].get<double>();
    return number > 0 && number < most_tokens ? static_cast<int64_t>(number) : 0;
}

std::string string_at(const Json& value, const std::string& path) {
    Json::json_pointer pointer("/" + path);
    return value.contains(pointer) && value[pointer].is_string() ? value[pointer].get<std::string>() : "";
}

void cut_off(Answer& answer, const std::string& why) {
    answer.failure = Failure::cut_off;
    answer.why = why;
}

void refuse(Answer& answer, const std::string& why) {
    answer.failure = Failure::refused;
    answer.why = why;
}

void add_refusal(Answer& answer, const std::string& piece) {
    refuse(answer, (answer.why.empty() ? "the model refused: " : answer.why) + piece);
}

}  // namespace strop::llm
