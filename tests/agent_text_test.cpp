// Prompts, replies and sources as texts.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "agent/prompt.h"
#include "agent/reply.h"
#include "agent/source_text.h"
#include "fakes/agent_fixture.h"

namespace strop::agent {
namespace {

using ::testing::HasSubstr;

TEST(Prompt, fills_once_and_misses_nothing) {
    EXPECT_EQ(fill("a {{x}} {{y}} b", {{"x", "{{y}}"}, {"y", "2"}}), "a {{y}} 2 b");
    EXPECT_EQ(fill("open {{ only", {}), "open {{ only");
    EXPECT_THROW(fill("{{unknown}}", {}), std::logic_error);
}

TEST(Reply, names_are_safe) {
    EXPECT_EQ(safe_name("Online Softmax (v2)!"), "online_softmax_v2");
    EXPECT_EQ(safe_name("../../etc/passwd"), "etc_passwd");
    EXPECT_EQ(safe_name("\"; rm -rf /"), "rm_rf");
    EXPECT_EQ(safe_name("…"), "idea");
    EXPECT_EQ(safe_name(std::string(500, 'a')).size(), 40u);
}

TEST(Reply, code_comes_out_of_what_models_write) {
    std::string why;
    EXPECT_EQ(read_code(R"({"source": "int a;\n", "condition": "N <= 4", "note": ""})", why)->condition, "N <= 4");
    EXPECT_EQ(read_code("Sure!\n```json\n{\"source\": \"int a;\"}\n```", why)->source, "int a;\n");
    EXPECT_EQ(read_code("Here it is:\n```cpp\nint main() { return {}; }\n```\nEnjoy.", why)->source,
              "int main() { return {}; }\n");
    EXPECT_EQ(read_code(R"({"source": "```cpp\nint a;\n```"})", why)->source, "int a;\n");
    EXPECT_EQ(read_code(R"({"source": ["int a;", "int b;"]})", why)->source, "int a;\nint b;\n");
    EXPECT_FALSE(read_code(R"({"source": "", "condition": ""})", why));
    EXPECT_EQ(why, "the reply holds no source");
}

TEST(Reply, a_plan_needs_reasons) {
    std::string why;
    EXPECT_TRUE(read_plan("I would rather not.", why).empty());
    EXPECT_FALSE(why.empty());
    EXPECT_TRUE(read_plan(R"({"strategies": [{"id": "x"}, 3, null]})", why).empty());
    std::vector<Strategy> bare = read_plan("[" + strategy_json("Two Pass", "reads twice") + "]", why);
    ASSERT_EQ(bare.size(), 1u);
    EXPECT_EQ(bare[0].id, "two_pass");
}

TEST(SourceText, edits_apply_once_or_not_at_all) {
    std::string why;
    EXPECT_EQ(numbered("int a;\nint b;\n"), "   1| int a;\n   2| int b;\n");
    EXPECT_EQ(apply_edits("int a;\nint b;\n", {{"int a;", "int c;"}, {"int c;\nint b;", "int d;"}}, why), "int d;\n");
    EXPECT_FALSE(apply_edits("int a;\nint a;\n", {{"int a;", "int c;"}}, why));
    EXPECT_EQ(why, "the text to find of edit 1 occurs 2 times in the source, not once");
    EXPECT_FALSE(apply_edits("int a;\n", {{"int a;", "int c;"}, {"int a;", "x"}}, why));
    EXPECT_THAT(why, HasSubstr("edit 2 occurs 0 times"));
    EXPECT_FALSE(apply_edits("int a;\n", {{"", "x"}}, why));
}

TEST(SourceText, code_is_told_from_comments_and_strings) {
    EXPECT_TRUE(defines("extern \"C\" void sum (const float* x) {\n}", "sum"));
    EXPECT_FALSE(defines("// sum(x) {}\nvoid summed() {}", "sum"));
    EXPECT_FALSE(defines("const char* s = \"sum() {\"; int f() {}", "sum"));
    EXPECT_TRUE(names("int x = 1'000 + BLOCK; // '", "BLOCK"));
    EXPECT_FALSE(names("/* BLOCK */ int BLOCKS;", "BLOCK"));
    EXPECT_TRUE(is_whole("void f() { /* { */ }"));
    EXPECT_FALSE(is_whole("void f() { if (x) {"));
    for (const char* odd : {"", "/", "/*", "\"", "'", "// x", "\"\\"}) {
        names(odd, "x");
        std::string source = odd;
        drop_unused_tunables(source);
    }
}

}  // namespace
}  // namespace strop::agent
