#include <limits>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "llm/caller.h"
#include "llm/text.h"

namespace strop::llm {

namespace {

using nlohmann::json;
using nlohmann::ordered_json;

constexpr int version = 1;

[[noreturn]] void fail(const std::string& phrase) {
    throw UsageError("not a recorded call: " + phrase, "is this a file that --record wrote?");
}

const json& member(const json& object, const char* key) {
    auto found = object.find(key);
    if (found == object.end()) fail(fmt::format("'{}' is missing", key));
    return *found;
}

const json& object(const json& parent, const char* key) {
    const json& found = member(parent, key);
    if (!found.is_object()) fail(fmt::format("'{}' is no object", key));
    return found;
}

std::string text(const json& object, const char* key) {
    const json& found = member(object, key);
    if (!found.is_string()) fail(fmt::format("'{}' is no text", key));
    return found.get<std::string>();
}

double number(const json& object, const char* key) {
    const json& found = member(object, key);
    if (!found.is_number() || !(found.get<double>() >= 0)) fail(fmt::format("'{}' is no number", key));
    return found.get<double>();
}

int64_t count(const json& object, const char* key, int64_t most = int64_t{1} << 50) {
    const json& found = member(object, key);
    if (!found.is_number_unsigned() || found.get<uint64_t>() > static_cast<uint64_t>(most))
        fail(fmt::format("'{}' is no count", key));
    return found.get<int64_t>();
}

int small_count(const json& object, const char* key) {
    return static_cast<int>(count(object, key, std::numeric_limits<int>::max()));
}

bool flag(const json& object, const char* key) {
    const json& found = member(object, key);
    if (!found.is_boolean()) fail(fmt::format("'{}' is neither true nor false", key));
    return found.get<bool>();
}

ordered_json json_of(const Request& request) {
    ordered_json messages = ordered_json::array();
    for (const Message& message : request.messages)
        messages.push_back(
            {{"author", message.author == Message::Author::user ? "user" : "assistant"}, {"content", message.content}});
    return {{"role", request.role},     {"system", request.system},
            {"messages", messages},     {"schema_name", request.schema_name},
            {"schema", request.schema}, {"max_output_tokens", request.max_output_tokens}};
}

Request request_from(const json& document) {
    Request request;
    request.role = text(document, "role");
    request.system = text(document, "system");
    const json& messages = member(document, "messages");
    if (!messages.is_array()) fail("'messages' is no list");
    for (const json& message : messages) {
        if (!message.is_object()) fail("a message is no object");
        std::string author = text(message, "author");
        if (author != "user" && author != "assistant") fail("a message has no author");
        request.messages.push_back(
            {author == "user" ? Message::Author::user : Message::Author::assistant, text(message, "content")});
    }
    request.schema_name = text(document, "schema_name");
    request.schema = text(document, "schema");
    request.max_output_tokens = small_count(document, "max_output_tokens");
    return request;
}

ordered_json json_of(const Usage& usage) {
    return {{"known", usage.known},
            {"input_tokens", usage.input_tokens},
            {"cached_tokens", usage.cached_tokens},
            {"cache_write_tokens", usage.cache_write_tokens},
            {"output_tokens", usage.output_tokens},
            {"reasoning_tokens", usage.reasoning_tokens}};
}

Usage usage_from(const json& document) {
    Usage usage;
    usage.known = flag(document, "known");
    usage.input_tokens = count(document, "input_tokens");
    usage.cached_tokens = count(document, "cached_tokens");
    usage.cache_write_tokens = count(document, "cache_write_tokens");
    usage.output_tokens = count(document, "output_tokens");
    usage.reasoning_tokens = count(document, "reasoning_tokens");
    return usage;
}

Failure failure_from(const std::string& name) {
    for (int i = 0; i <= static_cast<int>(Failure::not_recorded); ++i)
        if (auto failure = static_cast<Failure>(i); name_of(failure) == name) return failure;
    fail(fmt::format("no failure is called '{}'", one_line(name, 60)));
}

Reply reply_from(const json& document) {
    Reply reply;
    reply.failure = failure_from(text(document, "failure"));
    reply.why = text(document, "why");
    reply.text = text(document, "text");
    reply.model = text(document, "model");
    reply.usage = usage_from(object(document, "usage"));
    reply.seconds = number(document, "seconds");
    reply.retries = small_count(document, "retries");
    return reply;
}

}  // namespace

std::string to_json_text(const Call& call) {
    const Reply& reply = call.reply;
    ordered_json document = {{"strop_call", version},
                             {"sequence", call.sequence},
                             {"hash", call.hash},
                             {"model", call.model},
                             {"subject", call.subject},
                             {"started", call.started},
                             {"request", json_of(call.request)},
                             {"reply",
                              {{"failure", name_of(reply.failure)},
                               {"why", reply.why},
                               {"text", reply.text},
                               {"model", reply.model},
                               {"usage", json_of(reply.usage)},
                               {"seconds", reply.seconds},
                               {"retries", reply.retries}}},
                             {"cost", call.cost},
                             {"priced", call.priced},
                             {"replayed", call.replayed}};
    return document.dump(-1, ' ', false, json::error_handler_t::replace);
}

Call call_from_json_text(const std::string& line) {
    json document = json::parse(line, nullptr, false);
    if (document.is_discarded()) fail("malformed JSON");
    if (!document.is_object()) fail("no object of keys");
    if (count(document, "strop_call") > version) fail("it was written by a newer version");
    Call call;
    call.sequence = small_count(document, "sequence");
    call.hash = text(document, "hash");
    call.model = text(document, "model");
    call.subject = text(document, "subject");
    call.started = text(document, "started");
    call.request = request_from(object(document, "request"));
    call.reply = reply_from(object(document, "reply"));
    call.cost = number(document, "cost");
    call.priced = flag(document, "priced");
    call.replayed = flag(document, "replayed");
    return call;
}

}  // namespace strop::llm
