#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <set>
#include <thread>

#include "base/error.h"
#include "base/file.h"
#include "base/strings.h"
#include "llm/caller.h"

namespace strop::llm {
namespace {

class FakeModel : public Model {
public:
    explicit FakeModel(std::function<Reply(const Request&)> answer, std::string name = "fake/one")
        : answer_(std::move(answer)),
          name_(std::move(name)) {}
    const std::string& name() const override { return name_; }
    Reply ask(const Request& request, const Cancel&) override {
        ++asked;
        return answer_(request);
    }
    std::atomic<int> asked = 0;

private:
    std::function<Reply(const Request&)> answer_;
    std::string name_;
};

class MemoryLog : public CallLog {
public:
    std::optional<Call> find(const std::string& hash) override {
        for (const Call& call : calls)
            if (call.hash == hash) return call;
        return std::nullopt;
    }
    void add(const Call& call) override { calls.push_back(call); }
    std::vector<Call> calls;
};

Request request_of(const std::string& text, int max_output_tokens = 16000) {
    Request request;
    request.role = "coder";
    request.messages = {{Message::Author::user, text}};
    request.max_output_tokens = max_output_tokens;
    return request;
}

Reply reply_of(const std::string& text, int64_t input = 100, int64_t output = 10) {
    Reply reply;
    reply.text = text;
    reply.usage = {.input_tokens = input, .output_tokens = output, .known = true};
    reply.seconds = 0.5;
    return reply;
}

Reply failure_of(Failure failure) {
    Reply reply;
    reply.failure = failure;
    reply.why = "because";
    return reply;
}

Prices fake_prices() {
    Prices prices;
    prices.models["fake/"] = {.input = 10, .cached_input = 1, .cache_write = 12, .output = 50};
    return prices;
}

// Spends all that it may, and as much input as was estimated at most.
Reply spend_all(const Request& request) {
    int64_t input = 0;
    for (const Message& message : request.messages) input += estimate_tokens(message.content);
    Reply reply = reply_of("x", input, request.max_output_tokens);
    reply.usage.cache_write_tokens = input;
    return reply;
}

TEST(LlmCaller, asks_and_keeps_account) {
    Prices prices = fake_prices();
    MemoryLog log;
    Caller caller(prices, {}, {&log}, false, {});
    FakeModel model([](const Request& request) { return reply_of("to " + request.messages[0].content); });
    EXPECT_EQ(caller.ask(model, request_of("a"), "s1").text, "to a");
    EXPECT_EQ(caller.ask(model, request_of("b"), "s2").text, "to b");
    Spent spent = caller.spent();
    EXPECT_EQ(spent.calls, 2);
    EXPECT_EQ(spent.failed, 0);
    EXPECT_EQ(spent.input_tokens, 200);
    EXPECT_EQ(spent.output_tokens, 20);
    EXPECT_DOUBLE_EQ(spent.cost, 2 * (100 * 10 + 10 * 50) / 1e6);
    EXPECT_DOUBLE_EQ(spent.seconds, 1);
    EXPECT_TRUE(spent.all_priced);
    ASSERT_EQ(log.calls.size(), 2u);
    EXPECT_EQ(log.calls[1].subject, "s2");
    EXPECT_EQ(log.calls[1].sequence, 1);
    EXPECT_EQ(log.calls[1].model, "fake/one");
    EXPECT_NE(log.calls[0].hash, log.calls[1].hash);
}

TEST(LlmCaller, replays_what_was_recorded_in_the_order_of_asking) {
    Prices prices = fake_prices();
    MemoryLog log;
    int count = 0;
    FakeModel model([&](const Request&) { return reply_of(std::to_string(++count)); });
    Caller first(prices, {}, {&log}, false, {});
    for (const char* text : {"a", "a", "b"}) first.ask(model, request_of(text), "");
    for (int round = 0; round < 2; ++round) {
        FakeModel silent([](const Request&) { return failure_of(Failure::network); });
        Caller again(prices, {}, {&log}, true, {});
        EXPECT_EQ(again.ask(silent, request_of("a"), "new").text, "1");
        EXPECT_EQ(again.ask(silent, request_of("b"), "").text, "3");
        EXPECT_EQ(again.ask(silent, request_of("a"), "").text, "2");
        EXPECT_EQ(again.ask(silent, request_of("a"), "").failure, Failure::not_recorded);
        EXPECT_EQ(silent.asked, 0);
        EXPECT_EQ(again.spent().replayed, 3);
        EXPECT_EQ(again.spent().failed, 1);
        EXPECT_DOUBLE_EQ(again.spent().cost, first.spent().cost);
        EXPECT_EQ(again.by_role().at(0).spent.replayed, 3);
        EXPECT_EQ(again.losses().size(), 1u);
    }
    EXPECT_EQ(log.calls.size(), 3u);
}

TEST(LlmCaller, each_part_of_a_request_makes_it_another) {
    Prices prices = fake_prices();
    MemoryLog log;
    FakeModel model([](const Request&) { return reply_of("x"); });
    Caller caller(prices, {}, {&log}, false, {});
    std::vector<Request> requests(7, request_of("a"));
    requests[1].role = "planner";
    requests[2].system = "a";
    requests[3].messages[0].author = Message::Author::assistant;
    requests[4].schema = "{}";
    requests[5].max_output_tokens = 5;
    requests[6].messages.push_back(requests[6].messages[0]);
    for (const Request& request : requests) caller.ask(model, request, "");
    FakeModel other([](const Request&) { return reply_of("x"); }, "fake/two");
    caller.ask(other, requests[0], "");
    std::set<std::string> hashes;
    for (const Call& call : log.calls) hashes.insert(call.hash);
    EXPECT_EQ(hashes.size(), 8u);
}

TEST(LlmCaller, tells_the_logs_that_did_not_have_it) {
    Prices prices = fake_prices();
    MemoryLog old_log, new_log;
    FakeModel model([](const Request&) { return reply_of("x"); });
    Caller(prices, {}, {&old_log}, false, {}).ask(model, request_of("a"), "");
    Caller(prices, {}, {&old_log, &new_log}, false, {}).ask(model, request_of("a"), "");
    EXPECT_EQ(model.asked, 1);
    EXPECT_EQ(old_log.calls.size(), 1u);
    EXPECT_EQ(new_log.calls.size(), 1u);
}

// What was paid for is never asked again; a replay meets every failure as it was.
TEST(LlmCaller, asks_again_only_what_cost_nothing) {
    Prices prices = fake_prices();
    static const std::set<std::string> asked_again = {"no_key",       "rejected",  "denied",     "network",
                                                      "timed_out",    "cancelled", "over_limit", "not_recorded",
                                                      "rate_limited", "overloaded"};
    for (int i = 0; i <= static_cast<int>(Failure::not_recorded); ++i) {
        auto failure = static_cast<Failure>(i);
        MemoryLog log;
        FakeModel model([&](const Request&) { return failure_of(failure); });
        EXPECT_EQ(Caller(prices, {}, {&log}, false, {}).ask(model, request_of("a"), "").failure, failure);
        Caller(prices, {}, {&log}, false, {}).ask(model, request_of("a"), "");
        EXPECT_EQ(model.asked, asked_again.contains(name_of(failure)) ? 2 : 1) << name_of(failure);
        if (failure == Failure::cancelled || failure == Failure::not_recorded) continue;
        Caller replay(prices, {}, {&log}, true, {});
        EXPECT_EQ(replay.ask(model, request_of("a"), "").failure, failure);
        EXPECT_EQ(replay.spent().replayed, 1);
    }
}

TEST(LlmCaller, lowers_the_output_to_what_is_left_or_refuses) {
    Prices prices = fake_prices();
    std::vector<int> asked;
    FakeModel model([&](const Request& request) {
        asked.push_back(request.max_output_tokens);
        return spend_all(request);
    });
    MemoryLog log;
    Caller caller(prices, {.tokens = 20000}, {&log}, false, {});
    EXPECT_TRUE(caller.ask(model, request_of("a", 12000), "").ok());
    EXPECT_TRUE(caller.ask(model, request_of("b", 12000), "").ok());
    EXPECT_FALSE(caller.exhausted());
    Reply reply = caller.ask(model, request_of("c", 12000), "");
    EXPECT_EQ(reply.failure, Failure::over_limit);
    EXPECT_NE(reply.why.find("20000 tokens"), std::string::npos);
    EXPECT_TRUE(caller.exhausted());
    ASSERT_EQ(asked.size(), 2u);
    EXPECT_EQ(asked[0], 12000);
    EXPECT_LT(asked[1], 8000);
    EXPECT_GT(asked[1], 7000);
    EXPECT_EQ(log.calls[1].request.max_output_tokens, 12000);  // as it was asked
    EXPECT_LE(caller.spent().input_tokens + caller.spent().output_tokens, 20000);
    // A small question still fits where a large one did not.
    Caller small(prices, {.tokens = 300}, {}, false, {});
    EXPECT_TRUE(small.ask(model, request_of("a", 100), "").ok());
}

TEST(LlmCaller, a_limit_of_cost_holds) {
    Prices prices = fake_prices();
    FakeModel model(spend_all);
    Caller caller(prices, {.cost = 1}, {}, false, {});
    int answered = 0;
    while (caller.ask(model, request_of("a" + std::to_string(answered)), "").ok()) ++answered;
    EXPECT_TRUE(caller.exhausted());
    EXPECT_GE(answered, 1);
    EXPECT_LE(caller.spent().cost, 1);
    EXPECT_GT(caller.spent().cost, 0.94);  // less than what 1000 tokens of output and the question cost is left
}

TEST(LlmCaller, limits_hold_with_calls_in_flight) {
    Prices prices = fake_prices();
    for (Limits limits : {Limits{.cost = 2}, Limits{.tokens = 100000}, Limits{.cost = 3, .tokens = 80000}}) {
        Caller* all = nullptr;
        std::atomic<int64_t> tokens = 0;
        FakeModel model([&](const Request& request) {
            all->spent();  // the lock is free while a model is asked
            Reply reply = spend_all(request);
            tokens += reply.usage.input_tokens + reply.usage.output_tokens;
            return reply;
        });
        MemoryLog log;
        Caller caller(prices, limits, {&log}, false, {});
        all = &caller;
        std::vector<std::thread> threads;
        for (int t = 0; t < 8; ++t)
            threads.emplace_back([&, t] {
                std::string text(100 * (t + 1), 'x');
                for (int i = 0; i < 50; ++i) caller.ask(model, request_of(text, 3000), "");
            });
        for (std::thread& thread : threads) thread.join();
        Spent spent = caller.spent();
        EXPECT_EQ(spent.calls, 400);
        EXPECT_EQ(spent.input_tokens + spent.output_tokens, tokens);
        EXPECT_TRUE(limits.cost == 0 || spent.cost <= limits.cost) << spent.cost;
        EXPECT_TRUE(limits.tokens == 0 || tokens <= limits.tokens) << tokens;
        EXPECT_TRUE(caller.exhausted());
        EXPECT_EQ(log.calls.size(), 400u);
        std::set<std::string> hashes;
        for (const Call& call : log.calls) hashes.insert(call.hash);
        EXPECT_EQ(hashes.size(), 400u);
    }
}

TEST(LlmCaller, calls_run_side_by_side) {
    Prices prices = fake_prices();
    std::atomic<int> inside = 0;
    FakeModel model([&](const Request&) {
        ++inside;
        while (inside < 2) std::this_thread::yield();  // hangs when calls wait for one another
        return reply_of("x");
    });
    Caller caller(prices, {.tokens = 1000000}, {}, false, {});
    std::thread other([&] { caller.ask(model, request_of("a"), ""); });
    caller.ask(model, request_of("b"), "");
    other.join();
    EXPECT_EQ(caller.spent().calls, 2);
}

TEST(LlmCaller, a_model_that_throws_leaves_no_reservation) {
    Prices prices = fake_prices();
    bool broken = true;
    FakeModel model([&](const Request& request) {
        if (broken) throw std::runtime_error("bug");
        return spend_all(request);
    });
    Caller caller(prices, {.tokens = 5000}, {}, false, {});
    EXPECT_THROW(caller.ask(model, request_of("a", 4000), ""), std::runtime_error);
    broken = false;
    EXPECT_TRUE(caller.ask(model, request_of("a", 4000), "").ok());
}

TEST(LlmCaller, without_a_price_the_limit_of_tokens_still_holds) {
    Prices none;
    FakeModel model(spend_all);
    Caller caller(none, {.cost = 0.000001, .tokens = 5000}, {}, false, {});
    EXPECT_TRUE(caller.ask(model, request_of("a", 3000), "").ok());
    EXPECT_TRUE(caller.ask(model, request_of("b", 3000), "").ok());
    EXPECT_EQ(caller.ask(model, request_of("c", 3000), "").failure, Failure::over_limit);
    EXPECT_EQ(caller.spent().cost, 0);
    EXPECT_FALSE(caller.spent().all_priced);
}

TEST(LlmCaller, what_a_provider_does_not_say_is_assumed_high) {
    Prices prices = fake_prices();
    auto spent_on = [&](Reply reply) {
        FakeModel model([&](const Request&) { return reply; });
        Caller caller(prices, {}, {}, false, {});
        caller.ask(model, request_of(std::string(1000, 'x'), 2000), "");
        return caller.spent();
    };
    Reply plain;
    plain.text = std::string(500, 'x');
    EXPECT_GE(spent_on(plain).input_tokens, 400);
    EXPECT_EQ(spent_on(plain).output_tokens, 200);
    EXPECT_EQ(spent_on(failure_of(Failure::timed_out)).output_tokens, 2000);
    EXPECT_EQ(spent_on(failure_of(Failure::cut_off)).output_tokens, 2000);
    EXPECT_EQ(spent_on(failure_of(Failure::no_key)).input_tokens, 0);
    EXPECT_EQ(spent_on(failure_of(Failure::rejected)).cost, 0);
    EXPECT_TRUE(spent_on(failure_of(Failure::no_key)).all_priced);
}

TEST(LlmCaller, sends_nothing_when_cancelled) {
    Prices prices = fake_prices();
    FakeModel model([](const Request&) { return reply_of("x"); });
    MemoryLog log;
    Caller caller(prices, {}, {&log}, false, [] { return true; });
    EXPECT_EQ(caller.ask(model, request_of("a"), "").failure, Failure::cancelled);
    EXPECT_EQ(model.asked, 0);
    EXPECT_EQ(caller.spent().cost, 0);
}

TEST(LlmTokens, the_estimate_is_high_for_text_and_code) {
    // With the counts of a common byte-pair tokenizer of 100,000 words, or one for each sign where that is more.
    EXPECT_GE(estimate_tokens("The quick brown fox jumps over the lazy dog."), 10);
    EXPECT_GE(estimate_tokens("for (int i = 0; i < n; ++i) a[i] += b[j] * c[k];"), 26);
    EXPECT_GE(estimate_tokens("3.14159265358979"), 16);
    EXPECT_GE(estimate_tokens("\xe6\xb1\x89\xe5\xad\x97"), 3);
    EXPECT_EQ(estimate_tokens(""), 0);
    EXPECT_GE(estimate_tokens(std::string(2500, 'x')), 1000);
    for (const char* text : {"a b c", "x", "    y", "\n\n\n"})
        EXPECT_LE(estimate_tokens(text), static_cast<int64_t>(std::string(text).size()));
}

// ---- files -----------------------------------------------------------------------------------------

Call example_call(const std::string& hash) {
    Call call;
    call.sequence = 3;
    call.hash = hash;
    call.model = "fake/one";
    call.request = request_of("line 1\nline \"2\"");
    call.request.schema = "{\"type\": \"object\"}";
    call.request.schema_name = "plan";
    call.request.messages.push_back({Message::Author::assistant, "\xc3\xa4"});
    call.reply = reply_of("text", 7, 8);
    call.reply.failure = Failure::cut_off;
    call.reply.why = "at the limit";
    call.reply.retries = 2;
    call.reply.usage.reasoning_tokens = 5;
    call.cost = 0.1;
    call.priced = true;
    call.subject = "s";
    call.started = "2026-01-31T12:34:56Z";
    return call;
}

TEST(LlmLog, a_call_survives_as_one_line) {
    std::string text = to_json_text(example_call("h"));
    EXPECT_EQ(text.find('\n'), std::string::npos);
    EXPECT_EQ(to_json_text(call_from_json_text(text)), text);
    Call bad = example_call("h");
    bad.reply.text = "\xff";
    EXPECT_EQ(call_from_json_text(to_json_text(bad)).reply.text, "\xef\xbf\xbd");
}

TEST(LlmLog, nothing_but_a_usage_error_comes_of_other_texts) {
    std::string text = to_json_text(example_call("h"));
    for (size_t length = 0; length < text.size(); ++length)
        EXPECT_THROW(call_from_json_text(text.substr(0, length)), UsageError);
    std::vector<std::pair<std::string, std::string>> changes = {
        {R"("sequence":3)", R"("sequence":1e300)"}, {R"("sequence":3)", R"("sequence":-1)"},
        {R"("strop_call":1)", R"("strop_call":2)"}, {R"("cut_off")", R"("none_such")"},
        {R"("priced":true)", R"("priced":1)"},      {R"("hash":"h")", R"("hash":null)"},
        {R"("assistant")", R"("system")"},          {R"("cost":0.1)", R"("cost":-1)"}};
    for (const auto& [from, to] : changes) {
        ASSERT_NE(text.find(from), std::string::npos) << from;
        EXPECT_THROW(call_from_json_text(replace_all(text, from, to)), UsageError) << to;
    }
}

}  // namespace
}  // namespace strop::llm
