// Every provider against the fake of its protocol (tests/fakes/model_server.py).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <memory>
#include <ostream>
#include <string>
#include <thread>
#include <vector>

#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/file.h"
#include "llm/http.h"
#include "llm/spec.h"
#include "sandbox/line_process.h"

namespace strop::llm {
namespace {

using Json = nlohmann::json;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

const std::string key = "test-key-0123456789abcdef";

class Fake {
public:
    explicit Fake(std::vector<std::string> more = {}) : process_(command(std::move(more))) {
        setenv("no_proxy", "127.0.0.1", 1);
        process_.read_line(port_, [] {});
    }

    std::string url(const std::string& path) const { return "http://127.0.0.1:" + port_ + path; }

    nlohmann::ordered_json control(const std::string& what) const {
        HttpRequest request;
        request.url = url("/control/" + what);
        std::string body;
        http_post(request, [&](const HttpResponse&, std::string_view piece) { return body += piece, true; });
        return nlohmann::ordered_json::parse(body);
    }

    int count() const { return control("count")["total"]; }

private:
    static std::vector<std::string> command(std::vector<std::string> more) {
        std::vector<std::string> argv = {"python3", STROP_SOURCE_DIR "/tests/fakes/model_server.py", "--key", key};
        argv.insert(argv.end(), more.begin(), more.end());
        return argv;
    }

    sandbox::LineProcess process_;
    std::string port_;
};

const Fake& fake() {
    static Fake fake;
    return fake;
}

using Make = std::unique_ptr<Model> (*)(const Spec&, const Connection&, const std::string&);

struct Kind {
    const char* provider;
    const char* model;
    const char* path;      // of the base URL
    const char* variable;  // that holds the key
    Make make;
};

const Kind kinds[] = {
    {"openai", "gpt-6.2-sol", "/v1", "OPENAI_API_KEY", make_openai_responses},
    {"openai-chat", "gpt-6.2-sol", "/v1", "OPENAI_API_KEY", make_openai_chat},
    {"anthropic", "claude-opus-5-5", "", "ANTHROPIC_API_KEY", make_anthropic},
    {"gemini", "gemini-3-pro", "", "GEMINI_API_KEY", make_gemini},
    {"compatible", "qwen3", "/compatible/v1", "", make_openai_chat},
};

const char* const schema = R"({"type":"object","additionalProperties":false,"required":["name","steps","count"],
    "properties":{"name":{"type":"string","minLength":1},"count":{"type":"integer","minimum":1,"maximum":9},
    "steps":{"type":"array","minItems":2,"maxItems":4,"items":{"type":"object","required":["title"],
             "properties":{"title":{"type":"string"}}}}}})";

Request simple() {
    Request request;
    request.role = "planner";
    request.system = "role: planner\nYou plan.";
    request.messages = {{Message::Author::user, "Größe?"}};
    return request;
}

void PrintTo(const Kind& kind, std::ostream* out) { *out << kind.provider; }

class Providers : public testing::TestWithParam<Kind> {
protected:
    void SetUp() override {
        fake().control("reset");
        connection_.base_url = fake().url(GetParam().path);
        connection_.retry_scale = 0.01;
    }

    std::unique_ptr<Model> make(const std::string& words, const std::string& with_key = key) {
        return GetParam().make({"", GetParam().provider, GetParam().model + words}, connection_, with_key);
    }

    Reply ask(const std::string& words, const Cancel& cancel = {}) { return make(words)->ask(simple(), cancel); }

    bool is(const char* provider) const { return std::string(GetParam().provider) == provider; }

    std::string expected() const {
        return std::string("Grüße, 世界 🚀: this reply is for ") + GetParam().model + ".\nIt has two lines.";
    }

    Connection connection_;
};

TEST_P(Providers, StreamsATextInAwkwardPieces) {
    for (const char* words : {"", "--bytes", "--crlf", "--cr--bytes", "--pings", "--bom--pings--crlf--bytes", "--whole",
                              "--foreign-fields", "--no-done"}) {
        Reply reply = ask(words);
        EXPECT_TRUE(reply.ok()) << words << ": " << reply.why;
        EXPECT_EQ(reply.text, expected()) << words;
        EXPECT_EQ(reply.why, "");
        EXPECT_EQ(reply.model, GetParam().model);
        EXPECT_EQ(reply.retries, 0);
        EXPECT_GT(reply.seconds, 0);
    }
}

TEST_P(Providers, UsageComesInOneForm) {
    Usage usage = ask("").usage;
    EXPECT_TRUE(usage.known);
    EXPECT_EQ(usage.input_tokens, 120);
    EXPECT_EQ(usage.cached_tokens, 40);
    EXPECT_EQ(usage.cache_write_tokens, is("gemini") ? 0 : 8);
    EXPECT_EQ(usage.output_tokens, 30);
    EXPECT_EQ(usage.reasoning_tokens, 10);
}

TEST_P(Providers, AnswersToASchema) {
    Request request = simple();
    request.schema_name = "plan";
    request.schema = schema;
    Reply reply = make("")->ask(request);
    ASSERT_TRUE(reply.ok()) << reply.why;
    Json value = Json::parse(reply.text);
    EXPECT_TRUE(value["name"].is_string());
    EXPECT_TRUE(value["steps"][0]["title"].is_string());
}

// Whoever answers by a grammar writes the properties in this order.
TEST_P(Providers, ASchemaIsSentInItsOrder) {
    Request request = simple();
    request.schema_name = "plan";
    request.schema = schema;
    ASSERT_TRUE(make("")->ask(request).ok());
    std::string sent = fake().control("last")["body"].dump();
    EXPECT_LT(sent.find("\"name\":{"), sent.find("\"count\":{")) << sent;
    EXPECT_LT(sent.find("\"count\":{"), sent.find("\"steps\":{")) << sent;
}

TEST_P(Providers, AConversationGrows) {
    Request request = simple();
    request.messages.push_back({Message::Author::assistant, "Two."});
    request.messages.push_back({Message::Author::user, "And \xff then?"});
    Reply reply = make("")->ask(request);
    EXPECT_TRUE(reply.ok()) << reply.why;
}

TEST_P(Providers, RetriesWhatIsTransient) {
    for (const char* words : {"--retry-after-once", "--retry-after-ms-once", "--retry-date-once", "--retry-info-once",
                              "--no-advice-once", "--overload-once", "--conflict-once", "--timeout-once",
                              "--broken-once", "--should-retry-once", "--hang-up-once", "--disconnect-once",
                              "--error-at-start-once", "--error-in-stream-once", "--html-once", "--no-body-once"}) {
        Reply reply = ask(words);
        EXPECT_TRUE(reply.ok()) << words << ": " << reply.why;
        EXPECT_EQ(reply.text, expected()) << words;
        EXPECT_EQ(reply.retries, 1) << words;
        EXPECT_EQ(reply.why, "") << words;
    }
}

struct Case {
    const char* words;
    Failure failure;
    int requests;
};

TEST_P(Providers, FailuresAreNamed) {
    for (const Case& c : {Case{"--no-advice", Failure::rate_limited, 3},
                          {"--overload", Failure::overloaded, 3},
                          {"--error-in-stream", Failure::overloaded, 3},
                          {"--disconnect", Failure::network, 3},
                          {"--hang-up", Failure::network, 3},
                          {"--html", Failure::overloaded, 3},
                          {"--retry-long", Failure::rate_limited, 1},
                          {"--final-limit", Failure::denied, 1},
                          {"--should-not-retry", Failure::overloaded, 1},
                          {"--unauthorized", Failure::denied, 1},
                          {"--missing", Failure::rejected, 1},
                          {"--too-long", Failure::rejected, 1},
                          {"--redirect", Failure::malformed, 1},
                          {"--html-200", Failure::malformed, 1},
                          {"--garbage", Failure::malformed, 1},
                          {"--length", Failure::cut_off, 1},
                          {"--length--empty-length", Failure::cut_off, 1},
                          {"--refusal", Failure::refused, 1},
                          {"--filtered", Failure::refused, 1},
                          {"--empty", Failure::empty, 1}}) {
        fake().control("reset");
        Reply reply = ask(c.words);
        EXPECT_EQ(static_cast<int>(reply.failure), static_cast<int>(c.failure)) << c.words << ": " << reply.why;
        EXPECT_EQ(fake().count(), c.requests) << c.words;
        EXPECT_EQ(reply.retries, c.requests - 1) << c.words;
        EXPECT_NE(reply.why, "") << c.words;
        EXPECT_LE(reply.why.size(), 300u) << c.words;
    }
}

TEST_P(Providers, RefusalsAreQuoted) {
    Reply reply = ask("--refusal");
    EXPECT_THAT(reply.why, is("gemini") ? HasSubstr("SAFETY") : HasSubstr("I cannot help with that."));
    if (is("anthropic")) {
        EXPECT_THAT(reply.why, HasSubstr("frontier_llm"));
    }
}

TEST_P(Providers, WhatCameBeforeACutIsKept) {
    EXPECT_EQ(ask("--length").text, expected());
    EXPECT_EQ(ask("--length").usage.output_tokens, 30);
    EXPECT_EQ(ask("--length--empty-length").text, "");
}

TEST_P(Providers, ARejectedParameterIsDroppedOnceAndRemembered) {
    for (std::string words : {"--reject-schema", "--reject-limit", "--reject-effort", "--reject-store",
                              "--reject-options", "--reject-thinking", "--reject-schema--reject-effort"}) {
        Request request = simple();
        request.schema_name = "plan";
        request.schema = schema;
        auto model = make(words);
        Reply first = model->ask(request);
        ASSERT_TRUE(first.ok()) << words << ": " << first.why;
        EXPECT_EQ(first.retries, 0);
        fake().control("reset");
        EXPECT_TRUE(model->ask(request).ok()) << words;
        EXPECT_EQ(fake().count(), 1) << words;
        bool in_words = fake().control("last")["body"].dump().find("JSON Schema") != std::string::npos;
        EXPECT_EQ(in_words, words.starts_with("--reject-schema")) << words;
    }
}

TEST_P(Providers, NoKeySendsNothing) {
    Reply reply = make("", "")->ask(simple());
    if (is("compatible")) {
        EXPECT_TRUE(reply.ok()) << reply.why;
        return;
    }
    EXPECT_EQ(reply.failure, Failure::no_key);
    EXPECT_THAT(reply.why, HasSubstr(GetParam().variable));
    EXPECT_EQ(fake().count(), 0);
}

TEST_P(Providers, AWrongKeyIsDeniedAndNeverShown) {
    std::string wrong = "wrong-key-9876543210";
    Reply reply = make("", wrong)->ask(simple());
    if (is("compatible")) return;
    EXPECT_EQ(reply.failure, Failure::denied);
    EXPECT_THAT(reply.why, Not(HasSubstr(wrong)));
    EXPECT_EQ(make("", "two\nlines")->ask(simple()).failure, Failure::no_key);
}

TEST_P(Providers, AnEchoOfTheKeyIsRedacted) {
    for (const char* words : {"--echo-key", "--echo-key-raw"}) {
        Reply reply = ask(words);
        EXPECT_EQ(reply.failure, Failure::rejected);
        EXPECT_THAT(reply.why, Not(HasSubstr(key)));
        EXPECT_THAT(reply.why, HasSubstr("[key]"));
        EXPECT_EQ(reply.why.find('\n'), std::string::npos);
    }
    EXPECT_EQ(ask("--echo-key-text").text, "Your key is [key].");
}

TEST_P(Providers, TimesOut) {
    connection_.timeout = Seconds(0.25);
    for (const char* words : {"--slow", "--slow-stream"}) {
        fake().control("reset");
        Reply reply = ask(words);
        EXPECT_EQ(reply.failure, Failure::timed_out) << reply.why;
        EXPECT_LT(reply.seconds, 15);  // the server goes on after 20
        EXPECT_EQ(fake().count(), 1);
    }
}

TEST_P(Providers, IsCancelledBeforeTheServerAnswers) {
    connection_.retry_scale = 100;
    for (const char* words : {"--slow", "--slow-stream", "--no-advice"}) {
        auto start = Clock::now();
        Reply reply = ask(words, [&] { return seconds_since(start) > 0.2; });
        EXPECT_EQ(reply.failure, Failure::cancelled) << words << ": " << reply.why;
        EXPECT_LT(reply.seconds, 15) << words;
    }
    EXPECT_EQ(ask("", [] { return true; }).failure, Failure::cancelled);
}

TEST_P(Providers, ManyThreadsMayAsk) {
    auto model = make("--reject-effort--reject-schema--reject-limit");
    std::vector<Reply> replies(8);
    std::vector<std::thread> threads;
    for (Reply& reply : replies) threads.emplace_back([&] { reply = model->ask(simple()); });
    for (std::thread& thread : threads) thread.join();
    for (const Reply& reply : replies) EXPECT_EQ(reply.text, expected()) << reply.why;
}

INSTANTIATE_TEST_SUITE_P(All, Providers, testing::ValuesIn(kinds), [](const auto& kind) {
    std::string name = kind.param.provider;
    return name == "openai-chat" ? std::string("openai_chat") : name;
});

std::unique_ptr<Model> make_kind(size_t index, const std::string& model) {
    Connection connection;
    connection.base_url = fake().url(kinds[index].path);
    connection.retry_scale = 0.01;
    return kinds[index].make({"", kinds[index].provider, model}, connection, key);
}

TEST(Protocols, EveryFamilyOfModelsIsSentWhatItAccepts) {
    struct Pair {
        size_t kind;
        const char* model;
    };
    for (auto [kind, model] : {Pair{0, "gpt-6.2-astra"},
                               {0, "gpt-5.6"},
                               {0, "gpt-4o"},
                               {0, "o3"},
                               {0, "gpt-9"},
                               {1, "gpt-4.1"},
                               {1, "o4-mini"},
                               {1, "gpt-5"},
                               {2, "claude-opus-4-5"},
                               {2, "claude-3-5-haiku-latest"},
                               {2, "claude-sonnet-4-20250514"},
                               {2, "claude-sonnet-5-5"},
                               {2, "claude-opus-4-7"},
                               {2, "claude-opus-5"},
                               {2, "claude-haiku-4-5"},
                               {3, "gemini-2.5-pro"},
                               {3, "gemini-3.1-pro"},
                               {3, "gemini-2.0-flash"},
                               {4, "meta/llama 3:8b"}}) {
        fake().control("reset");
        Request request = simple();
        request.schema_name = "plan";
        request.schema = schema;
        Reply reply = make_kind(kind, model)->ask(request);
        EXPECT_TRUE(reply.ok()) << model << ": " << reply.why;
        EXPECT_EQ(fake().count(), 1) << model;  // nothing had to be dropped
        EXPECT_EQ(reply.model, model);
    }
}

TEST(Protocols, AnthropicMarksWhatIsRepeated) {
    Request request = simple();
    request.messages.push_back({Message::Author::assistant, "Two."});
    request.messages.push_back({Message::Author::user, "And then?"});
    ASSERT_TRUE(make_kind(2, "claude-opus-5-5")->ask(request).ok());
    Json body = fake().control("last")["body"];
    EXPECT_TRUE(body["system"][0].contains("cache_control"));
    EXPECT_FALSE(body["messages"][0]["content"][0].contains("cache_control"));
    EXPECT_TRUE(body["messages"][2]["content"][0].contains("cache_control"));
}

// As llama-cpp-python answers: an internal error that names the form which it takes.
TEST(Protocols, ASchemaGoesInItsOlderFormWhereThatIsAllAServerKnows) {
    auto model = make_kind(4, "qwen3--older-schema");
    Request request = simple();
    request.schema_name = "answer";
    request.schema = R"({"type": "object", "properties": {"answer": {"type": "string"}}, "required": ["answer"]})";
    const int before = fake().count();
    for (int calls : {2, 3}) {  // it is remembered
        Reply reply = model->ask(request);
        EXPECT_TRUE(reply.ok()) << reply.why;
        EXPECT_EQ(reply.retries, 0);
        EXPECT_EQ(fake().count() - before, calls);
        Json form = fake().control("last")["body"]["response_format"];
        EXPECT_EQ(form["type"], "json_object");
        EXPECT_TRUE(form["schema"]["properties"].contains("answer"));
    }
}

TEST(Protocols, CompatibleServersMayBeOdd) {
    Reply reply = make_kind(4, "qwen3--no-usage--foreign-fields")->ask(simple());
    EXPECT_TRUE(reply.ok()) << reply.why;
    EXPECT_THAT(reply.text, Not(HasSubstr("Let me see")));
    EXPECT_FALSE(reply.usage.known);
    EXPECT_GT(reply.usage.input_tokens, 0);
    EXPECT_GT(reply.usage.output_tokens, 0);
    reply = make_kind(4, "qwen3--text-plain")->ask(simple());
    EXPECT_THAT(reply.text, StartsWith("Grüße")) << reply.why;
    reply = make_kind(4, "qwen3--plain-json")->ask(simple());
    EXPECT_THAT(reply.text, StartsWith("Grüße"));
}

TEST(Protocols, CompatibleNeedsAnAddress) {
    EXPECT_THROW(make_openai_chat({"", "compatible", "qwen3"}, {}, ""), UsageError);
}

TEST(Protocols, GeminiBlocksPrompts) {
    Reply reply = make_kind(3, "gemini-3-pro--blocked")->ask(simple());
    EXPECT_EQ(reply.failure, Failure::refused);
    EXPECT_THAT(reply.why, HasSubstr("PROHIBITED_CONTENT"));
}

// The status of a request that is sent as it is.
int status_of(const std::string& path, const std::string& body) {
    HttpRequest request;
    request.url = fake().url(path);
    request.headers = {{"Authorization", "Bearer " + key},
                       {"x-api-key", key},
                       {"x-goog-api-key", key},
                       {"anthropic-version", "2023-06-01"}};
    request.body = body;
    return http_post(request, [](const HttpResponse&, std::string_view) { return true; }).status;
}

// The part of a request that is the same, and what is wrong in turn.
void expect_strict(const std::string& path, const std::string& start, const std::vector<std::string>& wrong) {
    EXPECT_EQ(status_of(path, start + "}"), 200) << start;
    for (const std::string& more : wrong) EXPECT_EQ(status_of(path, start + "," + more + "}"), 400) << more;
}

TEST(FakeModels, AreAsStrictAsTheRealOnes) {
    const std::string open = R"({"type":"object","properties":{"a":{"type":"string"}},"required":["a"]})";
    const std::string partial = R"({"type":"object","additionalProperties":false,"properties":{"a":{}}})";
    expect_strict("/v1/responses", R"({"model":"gpt-6.2-sol","input":"x")",
                  {R"("temperature":0.2)", R"("reasoning":{"effort":"none"})", R"("max_tokens":99)",
                   R"("text":{"format":{"type":"json_schema","name":"p","strict":true,"schema":)" + open + "}}",
                   R"("text":{"format":{"type":"json_schema","name":"p","strict":true,"schema":)" + partial + "}}",
                   R"("text":{"format":{"type":"json_schema","name":"a b","schema":{}}})"});
    expect_strict("/v1/chat/completions", R"({"model":"o3","messages":[{"role":"user","content":"x"}])",
                  {R"("max_tokens":99)", R"("top_p":0.5)", R"("stream_options":{"include_usage":true})",
                   R"("thinking":{})", R"("response_format":{"type":"json_schema","json_schema":{"name":"p"}})"});
    expect_strict("/v1/messages", R"({"model":"claude-sonnet-5-5","max_tokens":99,
                                      "messages":[{"role":"user","content":"x"}])",
                  {R"("temperature":1)", R"("thinking":{"type":"enabled","budget_tokens":2000})",
                   R"("thinking":{"type":"disabled"})", R"("tool_choice":{"type":"any"})", R"("foo":1)",
                   R"("output_config":{"format":{"type":"json_schema","schema":)" + open + "}}",
                   R"("output_config":{"effort":"none"})", R"("system":[{"type":"text","text":""}])"});
    EXPECT_EQ(status_of("/v1/messages", R"({"model":"claude-opus-5","messages":[{"role":"user","content":"x"}]})"),
              400);
    expect_strict("/v1beta/models/gemini-2.5-pro:generateContent", R"({"contents":[{"parts":[{"text":"x"}]}])",
                  {R"("generationConfig":{"thinkingConfig":{"thinkingLevel":"LOW","thinkingBudget":1}})",
                   R"("generationConfig":{"thinkingConfig":{"thinkingLevel":"LOW"}})", R"("max_tokens":9)",
                   R"("generationConfig":{"responseJsonSchema":{"type":"object"}})"});
}

TEST(FakeModels, AnswerFromAScriptByRole) {
    TemporaryFolder folder;
    std::string file = (folder.path() / "script.json").string();
    write_file(file, R"({"planner": [{"plan": 1}, "two"]})");
    Fake scripted({"--script", file});
    for (const Kind& kind : kinds) {
        scripted.control("reset");
        Connection connection;
        connection.base_url = scripted.url(kind.path);
        auto model = kind.make({"", kind.provider, kind.model}, connection, key);
        EXPECT_EQ(model->ask(simple()).text, R"({"plan": 1})") << kind.provider;
        EXPECT_EQ(model->ask(simple()).text, "two");
        EXPECT_EQ(model->ask(simple()).text, "two");
        Request other = simple();
        other.system = "role: coder";
        EXPECT_THAT(model->ask(other).text, StartsWith("Grüße"));
    }
}

Reply ask_at(const std::string& url) {
    Connection connection;
    connection.base_url = url;
    connection.retry_scale = 0.01;
    connection.connect_timeout = Seconds(1);
    return make_openai_chat({"", "compatible", "m"}, connection, "")->ask(simple());
}

TEST(Http, WithoutAServer) {
    Reply reply = ask_at("http://127.0.0.1:1");
    EXPECT_EQ(reply.failure, Failure::network) << reply.why;
    EXPECT_EQ(reply.retries, 2);
    for (const char* url : {"file:///etc/passwd", "ftp://127.0.0.1", "127.0.0.1", "http://"}) {
        reply = ask_at(url);
        EXPECT_EQ(reply.failure, Failure::rejected) << url << ": " << reply.why;
        EXPECT_EQ(reply.retries, 0) << url;
    }
}

TEST(Http, ALoginInTheAddressIsNotShown) {
    Reply reply = ask_at("http://user:secret@127.0.0.1:1/v1");
    EXPECT_THAT(reply.why, StartsWith("http://127.0.0.1:1/v1: "));
}

TEST(Http, TheAnswerIsBounded) {
    HttpRequest request;
    request.url = fake().url("/control/count");
    request.max_bytes = 5;
    HttpResponse response = http_post(request, [](const HttpResponse&, std::string_view) { return true; });
    EXPECT_EQ(response.end, HttpEnd::too_large);
}

}  // namespace
}  // namespace strop::llm
