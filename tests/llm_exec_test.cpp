#include <gtest/gtest.h>

#include <atomic>
#include <csignal>
#include <thread>

#include <nlohmann/json.hpp>

#include "base/file.h"
#include "llm/spec.h"

namespace strop::llm {
namespace {

Reply ask(const std::string& command, const Request& request = {}, double seconds = 60, const Cancel& cancel = {}) {
    Connection connection;
    connection.timeout = Seconds(seconds);
    return make_model(parse_spec("exec:" + command), connection)->ask(request, cancel);
}

Request request_of(const std::string& text) {
    Request request;
    request.role = "coder";
    request.system = "be brief";
    request.messages = {{Message::Author::user, text}};
    return request;
}

// Gone, or a zombie where nobody collects orphans.
bool is_gone(const std::string& pid) {
    fs::path status = "/proc/" + pid + "/status";
    auto alive = [&] {
        try {
            return read_file(status).find("State:\tZ") == std::string::npos;
        } catch (const std::exception&) {
            return false;
        }
    };
    for (int i = 0; i < 1000 && alive(); ++i) ::usleep(10000);
    return !alive();
}

TEST(LlmExec, sends_one_document_and_takes_plain_text) {
    Request request = request_of("tune \xff this");
    request.messages.push_back({Message::Author::assistant, "ok"});
    request.schema = R"({"type": "object"})";
    request.max_output_tokens = 123;
    Reply reply = ask("cat", request);
    ASSERT_TRUE(reply.ok()) << reply.why;
    nlohmann::json document = nlohmann::json::parse(reply.text);
    EXPECT_EQ(document["role"], "coder");
    EXPECT_EQ(document["system"], "be brief");
    EXPECT_EQ(document["messages"][0]["role"], "user");
    EXPECT_EQ(document["messages"][0]["content"], "tune \xef\xbf\xbd this");
    EXPECT_EQ(document["messages"][1]["role"], "assistant");
    EXPECT_EQ(document["schema"]["type"], "object");
    EXPECT_EQ(document["max_output_tokens"], 123);
    EXPECT_EQ(document.size(), 5u);
    EXPECT_FALSE(reply.usage.known);
    EXPECT_EQ(reply.model, "exec:cat");
    EXPECT_TRUE(nlohmann::json::parse(ask("cat").text)["schema"].is_null());
}

TEST(LlmExec, takes_text_and_usage_from_a_document) {
    Reply reply = ask(R"(echo '{"text": "hello", "model": "m-1", )"
                      R"("usage": {"input_tokens": 12, "output_tokens": 3}}')");
    EXPECT_TRUE(reply.ok());
    EXPECT_EQ(reply.text, "hello");
    EXPECT_EQ(reply.model, "m-1");
    EXPECT_TRUE(reply.usage.known);
    EXPECT_EQ(reply.usage.input_tokens, 12);
    EXPECT_EQ(reply.usage.output_tokens, 3);
    for (const char* usage :
         {"1", "null", R"({"input_tokens": -1, "output_tokens": 3})", R"({"input_tokens": 1e300})"}) {
        reply = ask(std::string(R"(echo '{"text": "x", "usage": )") + usage + "}'");
        EXPECT_EQ(reply.text, "x");
        EXPECT_FALSE(reply.usage.known);
    }
}

TEST(LlmExec, a_reply_that_is_json_is_left_as_it_is) {
    EXPECT_EQ(ask(R"(echo '{"text": "x", "strategies": []}')").text, "{\"text\": \"x\", \"strategies\": []}\n");
    EXPECT_EQ(ask(R"(echo '{"text": 1}')").text, "{\"text\": 1}\n");
    EXPECT_EQ(ask(R"(printf '\377a')").text,
              "\xef\xbf\xbd"
              "a");
}

TEST(LlmExec, the_users_environment_reaches_it) {
    ::setenv("STROP_TEST_VARIABLE", "seen = here", 1);
    EXPECT_EQ(ask("printf '%s' \"$STROP_TEST_VARIABLE\"").text, "seen = here");
    ::unsetenv("STROP_TEST_VARIABLE");
}

TEST(LlmExec, says_why_it_failed_in_one_line) {
    Reply reply = ask("echo first >&2; echo 'no \033[31mcredit' >&2; exit 3");
    EXPECT_EQ(reply.failure, Failure::rejected);
    EXPECT_EQ(reply.why, "the command ended with exit 3: no  [31mcredit");
    reply = ask("i=0; while [ $i -lt 500 ]; do printf '\303\244' >&2; i=$((i+1)); done; exit 1");
    EXPECT_LE(reply.why.size(), 300u);
    EXPECT_NO_THROW(nlohmann::json(reply.why).dump());
    EXPECT_TRUE(reply.why.ends_with("..."));
    EXPECT_EQ(ask("exit 1").why, "the command ended with exit 1");
    EXPECT_EQ(ask("kill -TERM $$").failure, Failure::rejected);
    reply = ask("/does/not/exist --x");
    EXPECT_EQ(reply.failure, Failure::network);
    EXPECT_TRUE(reply.why.starts_with("the command was not found: ")) << reply.why;
    EXPECT_EQ(ask("/etc/hostname").failure, Failure::network);
    EXPECT_EQ(ask("true").failure, Failure::empty);
    EXPECT_EQ(ask("echo; echo ' '").failure, Failure::empty);
    EXPECT_EQ(ask(R"(echo '{"text": ""}')").failure, Failure::empty);
}

TEST(LlmExec, large_texts_do_not_block) {
    Request request = request_of(std::string(1 << 20, 'x'));
    EXPECT_GT(ask("cat", request).text.size(), size_t{1} << 20);
    EXPECT_EQ(ask("head -c 1048576 /dev/zero | tr '\\0' y; cat > /dev/null", request).text, std::string(1 << 20, 'y'));
    EXPECT_EQ(ask("head -c 1048576 /dev/zero >&2; echo done", request).text, "done\n");
}

TEST(LlmExec, one_that_does_not_read_is_no_harm) {
    struct sigaction before = {}, after = {};
    ::sigaction(SIGPIPE, nullptr, &before);
    Request request = request_of(std::string(1 << 20, 'x'));
    std::vector<std::thread> threads;
    std::atomic<int> answered = 0;
    for (int i = 0; i < 4; ++i)
        threads.emplace_back([&] {
            for (int j = 0; j < 5; ++j) answered += ask("echo done", request).text == "done\n" ? 1 : 0;
        });
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(answered, 20);
    EXPECT_EQ(ask("exec <&-; sleep 0.1; echo done", request).text, "done\n");
    ::sigaction(SIGPIPE, nullptr, &after);
    EXPECT_EQ(before.sa_handler, after.sa_handler);
}

TEST(LlmExec, one_that_takes_too_long_dies_with_its_tree) {
    TemporaryFolder folder;
    std::string file = folder.path() / "pid";
    Reply reply = ask("sleep 1000 & echo $! > " + file + "; wait", {}, 1);
    EXPECT_EQ(reply.failure, Failure::timed_out);
    EXPECT_EQ(reply.why, "the command took longer than 1 s");
    std::string pid = read_file(file);
    EXPECT_TRUE(is_gone(pid.substr(0, pid.find('\n'))));
}

TEST(LlmExec, can_be_cancelled) {
    TemporaryFolder folder;
    std::string file = folder.path() / "pid";
    Cancel cancel = [&] { return fs::exists(file) && fs::file_size(file) > 0; };
    Clock::time_point start = Clock::now();
    Reply reply = ask("sleep 1000 & echo $! > " + file + "; wait", {}, 600, cancel);
    EXPECT_EQ(reply.failure, Failure::cancelled);
    EXPECT_LT(seconds_since(start), 300);
    std::string pid = read_file(file);
    EXPECT_TRUE(is_gone(pid.substr(0, pid.find('\n'))));
    EXPECT_EQ(ask("echo x", {}, 60, [] { return true; }).failure, Failure::cancelled);
}

}  // namespace
}  // namespace strop::llm
