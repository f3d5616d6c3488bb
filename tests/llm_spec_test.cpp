#include <gtest/gtest.h>

#include <cstdlib>
#include <set>
#include <string>

#include "base/error.h"
#include "base/file.h"
#include "llm/price.h"
#include "llm/spec.h"

namespace strop::llm {
namespace {

template <typename Action>
std::string error_of(Action action) {
    try {
        action();
    } catch (const UsageError& error) {
        return std::string(error.what()) + " | " + error.hint();
    }
    return "no error";
}

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

// Sets a variable for the length of a test.
class Variable {
public:
    Variable(const char* name, const char* value) : name_(name) {
        if (const char* old = std::getenv(name)) old_ = old;
        had_ = std::getenv(name) != nullptr;
        value ? ::setenv(name, value, 1) : ::unsetenv(name);
    }
    ~Variable() { had_ ? ::setenv(name_, old_.c_str(), 1) : ::unsetenv(name_); }

private:
    const char* name_;
    std::string old_;
    bool had_ = false;
};

std::string write_key(const TemporaryFolder& folder, const std::string& text, fs::perms mode) {
    fs::path path = folder.path() / "key";
    write_file(path, text);
    fs::permissions(path, mode);
    return path.string();
}

TEST(LlmSpec, reads_all_forms_and_writes_them_again) {
    for (const char* text : {"openai/gpt-6", "openai-chat/gpt-6", "coder=anthropic/claude-opus-5", "gemini/gemini-3",
                             "compatible/Qwen/Qwen3", "exec:./relay --fast", "coder=exec:./x --flag=1"})
        EXPECT_EQ(parse_spec(text).text(), text);
    Spec spec = parse_spec("coder=exec:./x --flag=1");
    EXPECT_EQ(spec.role, "coder");
    EXPECT_EQ(spec.provider, "exec");
    EXPECT_EQ(spec.model, "./x --flag=1");
    spec = parse_spec("exec:A=1 ./x | coder=openai/x");
    EXPECT_EQ(spec.role, "");
    EXPECT_EQ(spec.model, "A=1 ./x | coder=openai/x");
    EXPECT_EQ(parse_spec(" compatible/Qwen/Qwen3\n").model, "Qwen/Qwen3");
}

TEST(LlmSpec, names_what_it_does_not_know) {
    auto error = [](const std::string& text) { return error_of([&] { parse_spec(text); }); };
    EXPECT_TRUE(has(error("codr=openai/gpt-6"), "no role is called 'codr' | did you mean 'coder'"));
    EXPECT_TRUE(has(error("=openai/gpt-6"), "no role is called ''"));
    EXPECT_TRUE(has(error("antropic/claude"), "did you mean 'anthropic/claude'"));
    EXPECT_TRUE(has(error("zzzzzzzzzzz/claude"), "exec:COMMAND"));
    EXPECT_TRUE(has(error("gpt-6"), "'gpt-6': names no provider"));
    EXPECT_TRUE(has(error("openai/"), "names no model"));
    EXPECT_TRUE(has(error("openai/gpt 6"), "blanks"));
    EXPECT_TRUE(has(error("exec:  "), "names no command"));
    EXPECT_TRUE(has(error(""), "names no model"));
    EXPECT_TRUE(has(error("coder="), "names no provider"));
}

TEST(LlmSpec, finds_keys_in_the_environment) {
    Variable openai("OPENAI_API_KEY", " key-1\n"), gemini("GEMINI_API_KEY", nullptr), google("GOOGLE_API_KEY", "key-2"),
        own("STROP_API_KEY", nullptr), anthropic("ANTHROPIC_API_KEY", "");
    EXPECT_EQ(find_key("openai", ""), "key-1");
    EXPECT_EQ(find_key("openai-chat", ""), "key-1");
    EXPECT_EQ(find_key("gemini", ""), "key-2");
    EXPECT_EQ(find_key("compatible", ""), "");
    EXPECT_EQ(find_key("anthropic", ""), "");
    EXPECT_EQ(find_key("exec", "/does/not/exist"), "");
}

TEST(LlmSpec, never_shows_a_key) {
    Variable openai("OPENAI_API_KEY", "secret\nX-Header: 1");
    std::string error = error_of([] { find_key("openai", ""); });
    EXPECT_TRUE(has(error, "OPENAI_API_KEY"));
    EXPECT_FALSE(has(error, "secret"));
    TemporaryFolder folder;
    std::string path = write_key(folder, "secret\nsecret\n", fs::perms(0600));
    error = error_of([&] { find_key("openai", path); });
    EXPECT_TRUE(has(error, path));
    EXPECT_FALSE(has(error, "secret"));
}

TEST(LlmSpec, reads_a_key_file_that_is_private) {
    TemporaryFolder folder;
    Variable openai("OPENAI_API_KEY", "of-the-environment");
    EXPECT_EQ(find_key("openai", write_key(folder, "of-the-file\r\n", fs::perms(0600))), "of-the-file");
    std::string path = write_key(folder, "of-the-file\n", fs::perms(0644));
    std::string error = error_of([&] { find_key("openai", path); });
    EXPECT_TRUE(has(error, path)) << error;
    EXPECT_TRUE(has(error, "0644")) << error;
    EXPECT_FALSE(has(error, "of-the-file")) << error;
    EXPECT_TRUE(has(error_of([&] { find_key("openai", write_key(folder, "k", fs::perms(0620))); }), "0620"));
    EXPECT_TRUE(has(error_of([&] { find_key("openai", write_key(folder, "\n", fs::perms(0600))); }), "empty"));
    EXPECT_TRUE(has(error_of([&] { find_key("openai", folder.path().string()); }), "folder"));
    EXPECT_TRUE(has(error_of([&] { find_key("openai", "/does/not/exist"); }), "/does/not/exist"));
}

TEST(LlmSpec, a_compatible_server_needs_an_address) {
    EXPECT_TRUE(has(error_of([] { make_model(parse_spec("coder=compatible/x"), {}); }), "'coder=compatible/x'"));
    EXPECT_EQ(make_model(parse_spec("coder=exec:./x"), {})->name(), "exec:./x");
}

TEST(LlmPrice, the_longest_key_that_begins_a_name_counts) {
    Prices prices;
    prices.models = {{"openai/gpt-6", {.input = 1}}, {"openai/gpt-6-mini", {.input = 2}}, {"openai/", {.input = 3}}};
    EXPECT_EQ(prices.find("openai/gpt-6-mini-2026")->input, 2);
    EXPECT_EQ(prices.find("openai/gpt-6.1")->input, 1);
    EXPECT_EQ(prices.find("openai/other")->input, 3);
    EXPECT_EQ(prices.find("openai-chat/gpt-6-mini")->input, 2);
    EXPECT_EQ(prices.find("anthropic/other"), nullptr);
}

TEST(LlmPrice, costs_each_kind_of_token_once) {
    Price price{.input = 4, .cached_input = 1, .cache_write = 5, .output = 20};
    Usage usage{.input_tokens = 1000000,
                .cached_tokens = 400000,
                .cache_write_tokens = 100000,
                .output_tokens = 50000,
                .reasoning_tokens = 40000};
    EXPECT_DOUBLE_EQ(cost_of(price, usage), 0.5 * 4 + 0.4 * 1 + 0.1 * 5 + 0.05 * 20);
    usage.cached_tokens = 2000000;  // nonsense of a provider's is no income
    EXPECT_GT(cost_of(price, usage), 0);
}

TEST(LlmPrice, a_file_of_the_users_overrides) {
    Prices shipped = load_prices("");
    EXPECT_EQ(shipped.date.size(), 10u);
    ASSERT_NE(shipped.find("anthropic/claude-opus-5"), nullptr);
    for (const auto& [name, price] : shipped.models) {
        EXPECT_GT(price.output, price.input) << name;
        EXPECT_LE(price.cached_input, price.input) << name;
        EXPECT_GE(price.cache_write, price.input) << name;
    }
    TemporaryFolder folder;
    std::string path = folder.path() / "mine.json";
    write_file(path, R"({"models": {"anthropic/claude-opus-5": {"input": 7, "output": 8},
                                    "exec:": {"input": 0, "output": 0}}})");
    Prices mine = load_prices(path);
    EXPECT_EQ(mine.find("anthropic/claude-opus-5")->cached_input, 7);
    EXPECT_NE(mine.find("exec:./x"), nullptr);
    EXPECT_EQ(mine.models.size(), shipped.models.size() + 1);
}

TEST(LlmPrice, names_file_and_key_of_a_mistake) {
    TemporaryFolder folder;
    std::string path = folder.path() / "mine.json";
    auto error = [&](const std::string& text) {
        write_file(path, text);
        return error_of([&] { load_prices(path); });
    };
    EXPECT_TRUE(has(error("{"), path + ": malformed JSON"));
    EXPECT_TRUE(has(error("[]"), "no object"));
    EXPECT_TRUE(has(error("{}"), "'models'"));
    EXPECT_TRUE(has(error(R"({"models": [1]})"), "'models'"));
    EXPECT_TRUE(has(error(R"({"model": {}})"), "unknown key 'model'"));
    EXPECT_TRUE(has(error(R"({"models": {"a/b": {"input": 1}}})"), "'a/b': lacks 'output'"));
    EXPECT_TRUE(has(error(R"({"models": {"a/b": {"input": -1, "output": 1}}})"), "'a/b': 'input' is no price"));
    EXPECT_TRUE(has(error(R"({"models": {"a/b": {"input": "1", "output": 1}}})"), "'a/b': 'input' is no price"));
    EXPECT_TRUE(has(error(R"({"models": {"a/b": {"input": 1, "output": 1, "x": 1}}})"), "unknown key 'x'"));
    EXPECT_TRUE(has(error_of([] { load_prices("/does/not/exist"); }), "/does/not/exist"));
}

TEST(LlmModel, failures_have_names_of_their_own) {
    std::set<std::string> names;
    for (int i = 0; i <= static_cast<int>(Failure::not_recorded); ++i) names.insert(name_of(static_cast<Failure>(i)));
    EXPECT_EQ(names.size(), 15u);
}

}  // namespace
}  // namespace strop::llm
