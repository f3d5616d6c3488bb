#include <gtest/gtest.h>

#include "base/error.h"
#include "llm/capabilities.h"
#include "llm/retry.h"
#include "llm/wire_error.h"
#include "llm/wire_schema.h"

namespace strop::llm {
namespace {

using Json = nlohmann::json;

constexpr std::time_t now = 784111770;  // Sun, 06 Nov 1994 08:49:30 GMT

Attempt attempt(int status, std::map<std::string, std::string> headers = {}, const std::string& code = "") {
    Attempt result;
    result.error.status = status;
    result.error.code = code;
    result.headers = std::move(headers);
    return result;
}

// -1: no retry.
double wait_of(const Attempt& failed, int retry = 0, double jitter = 0) {
    auto wait = wait_before_retry(failed, retry, jitter, now);
    return wait ? wait->count() : -1;
}

TEST(Retry, WhatIsTransient) {
    for (int status : {408, 409, 429, 500, 502, 503, 504, 529}) EXPECT_GT(wait_of(attempt(status)), 0) << status;
    for (int status : {300, 307, 400, 401, 402, 403, 404, 413, 422}) EXPECT_EQ(wait_of(attempt(status)), -1) << status;
    Attempt broken;
    broken.no_answer = true;
    EXPECT_GT(wait_of(broken), 0);
}

TEST(Retry, WaitsDoubleUpToALimitWithJitter) {
    EXPECT_DOUBLE_EQ(wait_of(attempt(500), 0), 0.5);
    EXPECT_DOUBLE_EQ(wait_of(attempt(500), 1), 1);
    EXPECT_DOUBLE_EQ(wait_of(attempt(500), 3), 4);
    EXPECT_DOUBLE_EQ(wait_of(attempt(500), 4), 8);
    EXPECT_DOUBLE_EQ(wait_of(attempt(500), 900), 8);
    EXPECT_DOUBLE_EQ(wait_of(attempt(500), 0, 1), 0.375);
    EXPECT_DOUBLE_EQ(wait_of(attempt(500), 9, 0.5), 7);
}

TEST(Retry, TheServerSaysHowLong) {
    EXPECT_DOUBLE_EQ(wait_of(attempt(429, {{"retry-after", "3.5"}}), 0, 1), 3.5);
    EXPECT_DOUBLE_EQ(wait_of(attempt(429, {{"retry-after-ms", "250"}, {"retry-after", "9"}})), 0.25);
    EXPECT_DOUBLE_EQ(wait_of(attempt(429, {{"retry-after-ms", "soon"}, {"retry-after", "9"}})), 9);
    EXPECT_DOUBLE_EQ(wait_of(attempt(503, {{"retry-after", "Sun, 06 Nov 1994 08:49:37 GMT"}})), 7);
    EXPECT_DOUBLE_EQ(wait_of(attempt(429, {{"retry-after", "120"}})), 120);
    Attempt in_the_body = attempt(429);
    in_the_body.error.retry_delay = 34;
    EXPECT_DOUBLE_EQ(wait_of(in_the_body), 34);
}

TEST(Retry, NonsenseInTheHeadersIsIgnored) {
    for (const char* text : {"", "nan", "0", "-5", "tomorrow", "3 apples", "Sun, 06 Nov 1994 08:49:00 GMT"})
        EXPECT_DOUBLE_EQ(wait_of(attempt(429, {{"retry-after", text}})), 0.5) << text;
}

TEST(Retry, TooLongAWaitIsGivenUp) {
    EXPECT_EQ(wait_of(attempt(429, {{"retry-after", "121"}})), -1);
    EXPECT_EQ(wait_of(attempt(429, {{"retry-after", "inf"}})), -1);
    EXPECT_EQ(wait_of(attempt(429, {{"retry-after-ms", "120001"}})), -1);
    EXPECT_EQ(wait_of(attempt(429, {{"retry-after", "Sun, 06 Nov 1994 09:49:37 GMT"}})), -1);
}

TEST(Retry, TheServerSaysWhether) {
    EXPECT_EQ(wait_of(attempt(503, {{"x-should-retry", "false"}})), -1);
    EXPECT_GT(wait_of(attempt(400, {{"x-should-retry", "true"}})), 0);
    EXPECT_EQ(wait_of(attempt(400, {{"x-should-retry", "perhaps"}})), -1);
}

TEST(Retry, MissingMoneyDoesNotComeBack) {
    for (const char* code : {"insufficient_quota", "credit_balance_exhausted", "enforced_spend_limit_reached"})
        EXPECT_EQ(wait_of(attempt(429, {{"x-should-retry", "true"}, {"retry-after", "1"}}, code)), -1) << code;
    EXPECT_EQ(wait_of(attempt(402, {{"x-should-retry", "true"}})), -1);
}

TEST(Retry, WaitingCanBeCancelled) {
    EXPECT_TRUE(wait(Seconds(0.01), {}));
    auto start = Clock::now();
    EXPECT_FALSE(wait(Seconds(60), [&] { return seconds_since(start) > 0.05; }));
    EXPECT_LT(seconds_since(start), 30);
}

TEST(WireError, EveryForm) {
    WireError openai = parse_error(400, R"({"error":{"message":"No.","type":"invalid_request_error",
        "param":"reasoning.effort","code":"unsupported_value"}})");
    EXPECT_EQ(openai.code, "unsupported_value");
    EXPECT_EQ(openai.param, "reasoning.effort");
    WireError claude = parse_error(429, R"({"type":"error","error":{"type":"rate_limit_error","message":"No.",
        "details":{"error_code":"enforced_spend_limit_reached"}}})");
    EXPECT_EQ(claude.code, "enforced_spend_limit_reached");
    EXPECT_EQ(failure_of(claude), Failure::denied);
    WireError gemini = parse_error(429, R"([{"error":{"code":429,"message":"No.","status":"RESOURCE_EXHAUSTED",
        "details":[{"retryDelay":"34.5s"}]}}])");
    EXPECT_EQ(gemini.code, "RESOURCE_EXHAUSTED");
    EXPECT_EQ(gemini.retry_delay, 34.5);
    EXPECT_EQ(parse_error(500, R"({"error":"out of memory"})").message, "out of memory");
    EXPECT_EQ(parse_error(400, R"({"error":{"message":null,"code":null,"type":7,"param":[]}})").code, "7");
    WireError fastapi = parse_error(422, R"({"detail":[{"loc":["body","stream_options"],"msg":"extra"}]})");
    EXPECT_EQ(fastapi.param, "stream_options");
    EXPECT_EQ(parse_error(502, "<html><title>Bad Gateway</title>").message, "a page of HTML: Bad Gateway");
    EXPECT_EQ(parse_error(500, "").message, "");
    for (const char* odd : {"[]", "[7]", "7", "null", "\"x\"", "{\"error\":[]}", "{\"detail\":[7]}", "{"})
        EXPECT_EQ(failure_of(parse_error(500, odd)), Failure::overloaded) << odd;
}

TEST(WireError, InsideAStream) {
    auto status = [](const char* text) { return parse_stream_error(Json::parse(text)).status; };
    EXPECT_EQ(status(R"({"type":"error","error":{"type":"overloaded_error","message":""}})"), 529);
    EXPECT_EQ(status(R"({"type":"error","code":"rate_limit_exceeded","message":""})"), 429);
    EXPECT_EQ(status(R"({"error":{"code":503,"status":"UNAVAILABLE"}})"), 503);
    EXPECT_EQ(status(R"({"error":{"type":"BadRequestError","code":400}})"), 400);
    EXPECT_EQ(status(R"({"error":"what"})"), 500);
}

TEST(WireError, TextsBecomeOneValidLineWithoutTheKey) {
    EXPECT_EQ(one_line("a\r\n\tb \xff\x1b[31m", ""), "a b ? [31m");
    EXPECT_EQ(one_line("key sk-123456 and sk-123456.", "sk-123456"), "key [key] and [key].");
    EXPECT_EQ(one_line("\xED\xA0\x80|\xC0\xAF|\xF5\x80\x80\x80|\xE4\xB8", ""), "???|??|????|??");
    std::string line = one_line(std::string(299, 'x') + "世界世界", "");
    EXPECT_EQ(line, std::string(299, 'x') + "世");
}

const char* const table = R"({"models": [
    {"provider": "openai", "prefix": "gpt-6", "accepts": {"body": {"reasoning": {"effort": "low"}}}},
    {"provider": "openai", "prefix": "", "accepts": {"output_limit": "max_output_tokens", "json_schema": true}},
    {"provider": "openai", "prefix": "gpt-6-mini",
     "accepts": {"body": {"reasoning": null}, "json_schema": false}}]})";

TEST(Capabilities, LongerPrefixesOverrideShorterOnes) {
    auto of = [](const char* model) { return capabilities_from(table, "models.json", "openai", model); };
    EXPECT_EQ(of("gpt-4").body, Json::object());
    EXPECT_EQ(of("gpt-6-pro").body, Json::parse(R"({"reasoning":{"effort":"low"}})"));
    EXPECT_TRUE(of("gpt-6-pro").json_schema);
    EXPECT_EQ(of("gpt-6-mini").body, Json::object());
    EXPECT_FALSE(of("gpt-6-mini").json_schema);
    EXPECT_EQ(of("gpt-6-mini").output_limit, "max_output_tokens");
    EXPECT_THROW(capabilities_from("{", "models.json", "openai", "x"), UsageError);
    EXPECT_THROW(capabilities_from(R"({"models":[{}]})", "models.json", "openai", "x"), UsageError);
}

std::string rejected(const std::string& message, const std::string& param = "", int status = 400) {
    WireError error{status, "", message, param};
    Capabilities accepts;
    accepts.body = Json::parse(R"({"thinking":{"type":"adaptive"},"reasoning":{"effort":"low"}})");
    Json body = accepts.body;
    body["text"]["format"]["type"] = "json_schema";
    body["store"] = false;
    return rejected_parameter(error, body, accepts, {"store", "text.format", "absent"}).value_or("");
}

TEST(Capabilities, AParameterThatIsRejectedByName) {
    EXPECT_EQ(rejected("", "reasoning.effort"), "reasoning.effort");
    EXPECT_EQ(rejected("", "reasoning"), "reasoning.effort");
    EXPECT_EQ(rejected("", "text.format.schema"), "text.format");
    EXPECT_EQ(rejected("Unsupported parameter: 'store'."), "store");
    EXPECT_EQ(rejected("reasoning.effort: Extra inputs are not permitted"), "reasoning.effort");
    EXPECT_EQ(rejected("Unknown name \"effort\" at 'reasoning': Cannot find field."), "reasoning.effort");
    EXPECT_EQ(rejected("", "messages"), "");
    EXPECT_EQ(rejected("", "absent"), "");
    EXPECT_EQ(rejected("the store is closed, the format is wrong, no effort was made"), "");
    EXPECT_EQ(rejected("restore 'storefront'"), "");
    EXPECT_EQ(rejected("Unsupported parameter: 'store'.", "", 500), "");
}

TEST(Capabilities, DroppingLeavesNoEmptyObjectBehind) {
    Capabilities accepts;
    accepts.dropped = {"a.b", "x", "missing.thing"};
    Body body = Body::parse(R"({"a":{"b":1},"x":2,"y":{"z":3}})");
    apply_drops(accepts, body);
    EXPECT_EQ(body, Body::parse(R"({"y":{"z":3}})"));
}

TEST(WireSchema, IsClosedAndFreeOfWhatIsNotKnown) {
    Json schema = Json::parse(R"({"type":"object","required":["minimum","list"],"properties":{
        "minimum":{"type":"integer","minimum":1},
        "list":{"type":"array","minItems":2,"items":{"type":"object","required":[],
                "properties":{"a":{"type":"string","minLength":1}}}}}})");
    Json closed = closed_schema(schema, {"minimum", "minLength", "minItems"});
    EXPECT_EQ(closed, Json::parse(R"({"type":"object","required":["minimum","list"],"additionalProperties":false,
        "properties":{"minimum":{"type":"integer"},
        "list":{"type":"array","items":{"type":"object","required":[],"additionalProperties":false,
                "properties":{"a":{"type":"string"}}}}}})"));
    EXPECT_FALSE(requires_all(closed));
    closed["properties"]["list"]["items"]["required"].push_back("a");
    EXPECT_TRUE(requires_all(closed));
    EXPECT_TRUE(requires_all(Json::parse(R"({"type":"string"})")));
}

TEST(WireSchema, KeepsTheOrderOfProperties) {
    const char* text = R"({"type":"object","properties":{"source":{"type":"string"},"condition":{"type":"string"}},)"
                       R"("additionalProperties":false})";
    EXPECT_EQ(closed_schema(Body::parse(text), {}).dump(), text);
}

}  // namespace
}  // namespace strop::llm
