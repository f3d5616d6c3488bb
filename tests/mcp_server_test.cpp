#include "mcp/server.h"

#include <atomic>
#include <condition_variable>
#include <random>
#include <sstream>

#include <gtest/gtest.h>

#include "base/error.h"

namespace strop::mcp {
namespace {

constexpr const char* modern_meta = R"({"io.modelcontextprotocol/protocolVersion": "2026-07-28"})";

// Echoes; waits until it is cancelled; fails.
Service small_service(std::atomic<bool>& waiting) {
    Service service;
    service.name = "small";
    service.version = "1";
    Json schema = {{"type", "object"}};
    service.tools = {{"echo", "Echo", "says it again", schema, schema, true,
                      [](const Json& arguments, Call& call) {
                          call.progress("half");
                          call.progress("done");
                          return Answer{arguments.value("word", ""), arguments, false};
                      }},
                     {"wait", "Wait", "until it is cancelled", schema, nullptr, true,
                      [&](const Json&, Call& call) {
                          waiting = true;
                          while (!call.cancelled()) std::this_thread::yield();
                          return Answer{"too late", nullptr, false};
                      }},
                     {"fail", "Fail", "always", schema, nullptr, true,
                      [](const Json&, Call&) -> Answer { throw std::runtime_error("on purpose"); }}};
    service.prompts = {{"greet", "a greeting", {"name"}, [](const Json& arguments) {
                            return "Hello " + arguments["name"].get<std::string>();
                        }}};
    service.resources = [] { return std::vector<Resource>{{"small://one", "one", "the only one", "text/markdown"}}; };
    service.read = [](const std::string& uri) -> std::string {
        if (uri != "small://one") throw UsageError(uri + ": there is no such resource", "");
        return "# One";
    };
    return service;
}

class McpServer : public testing::Test {
protected:
    McpServer() : service(small_service(waiting)) {
        server =
            std::make_unique<Server>(service, [this](const std::string& line) { said.push_back(Json::parse(line)); });
    }

    // All that is said to it, its progress included.
    std::vector<Json> ask(const std::string& line) {
        said.clear();
        server->receive(line);
        server->finish();
        return said;
    }
    Json answer(const std::string& line) {
        std::vector<Json> lines = ask(line);
        return lines.empty() ? Json() : lines.back();
    }
    Json legacy(const std::string& method, const std::string& params = "{}") {
        return answer(R"({"jsonrpc": "2.0", "id": 7, "method": ")" + method + R"(", "params": )" + params + "}");
    }
    Json modern(const std::string& method, const std::string& more = "") {
        return answer(R"({"jsonrpc": "2.0", "id": 7, "method": ")" + method + R"(", "params": {"_meta": )" +
                      modern_meta + more + "}}");
    }
    void initialize() { legacy("initialize", R"({"protocolVersion": "2025-11-25", "capabilities": {}})"); }

    std::atomic<bool> waiting = false;
    Service service;
    std::vector<Json> said;
    std::unique_ptr<Server> server;
};

TEST_F(McpServer, answers_a_version_that_it_knows_with_that_and_else_with_its_own) {
    EXPECT_EQ(legacy("initialize", R"({"protocolVersion": "2025-06-18"})")["result"]["protocolVersion"], "2025-06-18");
    EXPECT_EQ(legacy("initialize", R"({"protocolVersion": "1999-01-01"})")["result"]["protocolVersion"], "2025-11-25");
}

TEST_F(McpServer, lists_tools_in_order_in_both_eras) {
    initialize();
    Json old_era = legacy("tools/list")["result"];
    EXPECT_EQ(old_era["tools"][0]["name"], "echo");
    EXPECT_EQ(old_era["tools"][2]["name"], "fail");
    EXPECT_FALSE(old_era.contains("resultType"));
    Json new_era = modern("tools/list")["result"];
    EXPECT_EQ(new_era["tools"], old_era["tools"]);
    EXPECT_EQ(new_era["resultType"], "complete");
    EXPECT_TRUE(new_era.contains("ttlMs") && new_era.contains("cacheScope"));
}

TEST_F(McpServer, is_discovered_without_a_handshake) {
    Json found = modern("server/discover")["result"];
    EXPECT_EQ(found["supportedVersions"][0], "2026-07-28");
    EXPECT_EQ(found["serverInfo"]["name"], "small");
    EXPECT_EQ(legacy("tools/list")["error"]["code"], -32602);  // names no version, and there was no handshake
    Json strange = answer(R"({"jsonrpc": "2.0", "id": 1, "method": "tools/list",
                              "params": {"_meta": {"io.modelcontextprotocol/protocolVersion": "2031-01-01"}}})");
    EXPECT_EQ(strange["error"]["code"], -32022);
    EXPECT_EQ(strange["error"]["data"]["requested"], "2031-01-01");
}

TEST_F(McpServer, calls_a_tool_and_tells_its_progress_to_who_asked) {
    initialize();
    std::vector<Json> lines = ask(R"({"jsonrpc": "2.0", "id": "a", "method": "tools/call", "params":
        {"name": "echo", "arguments": {"word": "hi"}, "_meta": {"progressToken": 5}}})");
    ASSERT_EQ(lines.size(), 3u);
    EXPECT_EQ(lines[0]["params"]["progressToken"], 5);
    EXPECT_LT(lines[0]["params"]["progress"], lines[1]["params"]["progress"]);
    EXPECT_EQ(lines[2]["id"], "a");
    EXPECT_EQ(lines[2]["result"]["content"][0]["text"], "hi");
    EXPECT_EQ(lines[2]["result"]["structuredContent"]["word"], "hi");
    EXPECT_EQ(lines[2]["result"]["isError"], false);
    EXPECT_EQ(ask(R"({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "echo"}})").size(), 1u);
}

TEST_F(McpServer, says_nothing_more_of_what_was_cancelled) {
    initialize();
    said.clear();
    server->receive(R"({"jsonrpc": "2.0", "id": 3, "method": "tools/call", "params": {"name": "wait"}})");
    while (!waiting) std::this_thread::yield();
    EXPECT_EQ(Json::parse(R"(-32600)"), [&] {  // its id is taken
        server->receive(R"({"jsonrpc": "2.0", "id": 3, "method": "tools/call", "params": {"name": "wait"}})");
        return said.back()["error"]["code"];
    }());
    said.clear();
    server->receive(R"({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 3}})");
    server->finish();
    EXPECT_TRUE(said.empty());
}

TEST_F(McpServer, goes_on_with_a_connection_that_another_began) {
    EXPECT_EQ(legacy("tools/list")["error"]["code"], -32602);
    server =
        std::make_unique<Server>(service, [this](const std::string& line) { said.push_back(Json::parse(line)); }, true);
    EXPECT_EQ(legacy("tools/list")["result"]["tools"].size(), 3u);
}

TEST_F(McpServer, cancels_all_calls) {
    initialize();
    said.clear();
    server->receive(R"({"jsonrpc": "2.0", "id": 3, "method": "tools/call", "params": {"name": "wait"}})");
    server->cancel_all();
    server->finish();
    EXPECT_TRUE(said.empty());
}

TEST_F(McpServer, what_goes_wrong_is_an_error_object_with_the_protocols_code) {
    initialize();
    auto code = [&](const std::string& line) { return answer(line)["error"]["code"]; };
    EXPECT_EQ(code("nonsense"), -32700);
    EXPECT_EQ(code("[]"), -32600);
    EXPECT_EQ(code(R"({"jsonrpc": "2.0", "id": {}, "method": "ping"})"), -32600);
    EXPECT_EQ(code(R"({"id": 1, "method": "ping"})"), -32600);
    EXPECT_EQ(code(R"({"jsonrpc": "2.0", "id": 1, "method": "ping", "params": []})"), -32602);
    EXPECT_EQ(code(R"({"jsonrpc": "2.0", "id": 1, "method": "nothing"})"), -32601);
    EXPECT_EQ(code(R"({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "nothing"}})"), -32602);
    EXPECT_EQ(code(R"({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "fail"}})"), -32603);
    EXPECT_EQ(code(R"({"jsonrpc": "2.0", "id": 1, "method": "resources/read", "params": {"uri": "small://two"}})"),
              -32002);
    EXPECT_EQ(code(R"({"jsonrpc": "2.0", "id": 1, "method": "prompts/get", "params": {"name": "greet"}})"), -32602);
    EXPECT_EQ(code(std::string(100, '[')), -32700);
}

TEST_F(McpServer, reads_resources_and_prompts) {
    initialize();
    EXPECT_EQ(legacy("resources/read", R"({"uri": "small://one"})")["result"]["contents"][0]["text"], "# One");
    EXPECT_EQ(legacy("prompts/get",
                     R"({"name": "greet", "arguments": {"name": "Ada"}})")["result"]["messages"][0]["content"]["text"],
              "Hello Ada");
}

TEST_F(McpServer, survives_any_line) {
    std::mt19937 random(1);
    const std::string parts[] = {"{",
                                 "}",
                                 "[",
                                 "]",
                                 "\"jsonrpc\":\"2.0\"",
                                 ",",
                                 "\"id\":1",
                                 "\"method\":\"tools/call\"",
                                 ":",
                                 "\"params\":{}",
                                 "\"params\":{\"name\":\"echo\"}",
                                 "\"method\":\"initialize\"",
                                 "null",
                                 "\xff",
                                 "\"id\":\"\\ud800\"",
                                 "1e999"};
    for (int i = 0; i < 2000; ++i) {
        std::string line;
        for (size_t n = random() % 12; n-- > 0;) line += parts[random() % std::size(parts)];
        for (const Json& told : ask(line)) EXPECT_TRUE(told.contains("jsonrpc"));
    }
}

TEST(McpServe, ends_with_its_input_though_a_call_waits) {
    std::atomic<bool> waiting = false;
    Service service = small_service(waiting);
    std::istringstream in(R"({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {}}
{"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": "wait"}}
)");
    std::ostringstream out;
    serve(service, in, out);
    EXPECT_EQ(out.str().find("too late"), std::string::npos);
    EXPECT_NE(out.str().find("protocolVersion"), std::string::npos);
}

}  // namespace
}  // namespace strop::mcp
