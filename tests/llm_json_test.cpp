#include <gtest/gtest.h>

#include <random>
#include <string>

#include "llm/json_text.h"

namespace strop::llm {
namespace {

using nlohmann::json;

std::string found(const std::string& text) {
    std::optional<json> value = find_json(text);
    return value ? value->dump() : "nothing";
}

std::string mismatch_of(const std::string& value, const std::string& schema) {
    return mismatch(json::parse(value), json::parse(schema));
}

TEST(LlmJson, finds_the_document_in_what_surrounds_it) {
    EXPECT_EQ(found(R"({"a": 1})"), R"({"a":1})");
    EXPECT_EQ(found("\xef\xbb\xbf  {\"a\": 1}\n"), R"({"a":1})");
    EXPECT_EQ(found("Sure! Here it is:\n```json\n{\"a\": [1, 2]}\n```\nAnything else?"), R"({"a":[1,2]})");
    EXPECT_EQ(found("```\n{\"a\": 1}\n```"), R"({"a":1})");
    EXPECT_EQ(found("Set {M, N} and x[i] = {1, 2}; see [1]. {\"a\": 1} and {\"b\": 2}"), R"({"a":1})");
    EXPECT_EQ(found("as [{\"a\": 1}, {\"b\": 2}] shows"), R"([{"a":1},{"b":2}])");
    EXPECT_EQ(found("int main() {}\n{\"a\": {}}"), R"({"a":{}})");
    EXPECT_EQ(found("for {\"x\": 1} I say\n```json\n{\"a\": 1}\n```"), R"({"a":1})");
}

TEST(LlmJson, a_block_inside_a_string_is_not_the_document) {
    std::string text = R"({"why": "as in ```json\n{\"x\": 1}\n``` above", "a": 1})";
    EXPECT_EQ(find_json(text)->at("a"), 1);
    EXPECT_EQ(found(R"({"code": "if (x) { y[0] = '}'; } // {\"", "a": 1})"),
              R"({"a":1,"code":"if (x) { y[0] = '}'; } // {\""})");
}

TEST(LlmJson, takes_the_plain_when_there_is_nothing_better) {
    EXPECT_EQ(found("[1, 2]"), "[1,2]");
    EXPECT_EQ(found("{}"), "{}");
    EXPECT_EQ(found("[]"), "[]");
    for (const char* text : {"", "   ", "no document", "{see below}", "\"text\"", "12"})
        EXPECT_EQ(found(text), "nothing") << text;
}

TEST(LlmJson, forgives_comments_commas_and_raw_lines) {
    EXPECT_EQ(found("{\"a\": 1, // one\n /* two, } */ \"b\": [1, 2,],}"), R"({"a":1,"b":[1,2]})");
    EXPECT_EQ(found("{\"code\": \"a\n\tb\"}"), R"({"code":"a\n\tb"})");
    EXPECT_EQ(found(R"({"a": "it\'s \d \u00e4 \ud83d\ude00 \ud83d x \uzz"})"),
              "{\"a\":\"it's \\\\d \xc3\xa4 \xf0\x9f\x98\x80 \xef\xbf\xbd x \xef\xbf\xbdzz\"}");
    EXPECT_EQ(found("{\"a\": \"\xff\xfe\"}"), "{\"a\":\"\xef\xbf\xbd\xef\xbf\xbd\"}");
    EXPECT_EQ(found(R"({"a": 1e999, "b": -0.5e2, "c": 12345678901234567890123})"),
              R"({"a":null,"b":-50.0,"c":1.2345678901234568e+22})");
    EXPECT_EQ(found(R"({"a": 01})"), "nothing");
    EXPECT_EQ(found(R"({"a": 1, "a": 2})"), R"({"a":2})");
}

TEST(LlmJson, closes_what_was_cut_off) {
    EXPECT_EQ(found(R"({"a": 1, "b": "tex)"), R"({"a":1,"b":"tex"})");
    EXPECT_EQ(found(R"({"a": 1, "b)"), R"({"a":1})");
    EXPECT_EQ(found(R"({"a": 1, "b": )"), R"({"a":1})");
    EXPECT_EQ(found(R"({"a": 1, "b": 12)"), R"({"a":1})");  // may have been 123
    EXPECT_EQ(found(R"({"a": 1, "b": tru)"), R"({"a":1})");
    EXPECT_EQ(found(R"({"a": [{"x": 1}, {"x": 2, "y")"), R"({"a":[{"x":1},{"x":2}]})");
    EXPECT_EQ(found(R"({"a": "x\)"), R"({"a":"x"})");
    EXPECT_EQ(found(R"({"a": "x\u00)"), R"({"a":"x"})");
    EXPECT_EQ(found(R"({"a": "x\ud83d\ude)"), R"({"a":"x"})");
    EXPECT_EQ(found("{\"a\": \"x\xf0\x9f\x98"), R"({"a":"x"})");
    EXPECT_EQ(found("```json\n{\"a\": 1, \"b\": [2,\n```\n"), R"({"a":1,"b":[2]})");
    EXPECT_EQ(found("{\"a\": 1, // and"), R"({"a":1})");
}

TEST(LlmJson, a_document_cut_anywhere_gives_valid_json_or_nothing) {
    std::string text =
        "Here:\n```json\n{\"n\": [1, -2.5e3, true, false, null, {}, [], [[\"x\"]]], // c\n "
        "\"s\": \"a\\n\\u00e4\\ud83d\\ude00 { [ \\\" \xe2\x82\xac \xf0\x9f\x98\x80\", "
        "/* } */ \"o\": {\"k\": {\"l\": [{\"m\": 1},]}}}\n```\n";
    json whole = *find_json(text);
    EXPECT_EQ(whole["o"]["k"]["l"][0]["m"], 1);
    for (size_t length = 0; length <= text.size(); ++length) {
        std::optional<json> value = find_json(text.substr(0, length));
        if (!value) continue;
        EXPECT_EQ(json::parse(value->dump()), *value) << length;
        EXPECT_TRUE(value->is_object()) << length;
        for (const auto& [key, member] : value->items()) EXPECT_TRUE(whole.contains(key)) << length;
    }
    for (size_t start = 0; start <= text.size(); ++start) EXPECT_NO_THROW(found(text.substr(start)));
}

TEST(LlmJson, deep_nesting_is_bounded) {
    std::string deep(100000, '[');
    EXPECT_LT(found(deep).size(), 1000u);
    EXPECT_NE(found(deep + " {\"a\": 1}").find(R"({"a":1})"), std::string::npos);
    std::string objects;
    for (int i = 0; i < 50000; ++i) objects += "{\"a\":";
    EXPECT_NO_THROW(found(objects));
    std::string fits = std::string(100, '[') + "{\"a\":1}" + std::string(100, ']');
    EXPECT_EQ(found(fits), fits);
}

TEST(LlmJson, garbage_is_read_in_bounded_time) {
    constexpr size_t size = 1 << 20;
    std::mt19937 random(1);
    for (const std::string& alphabet :
         {std::string("{}[]\",:0 a\\/*\n"), std::string("[{\""), std::string("[\""), std::string("{\"a\":[")}) {
        std::string text;
        while (text.size() < size) text += alphabet[random() % alphabet.size()];
        EXPECT_NO_THROW(found(text));
        EXPECT_NO_THROW(find_code(text));
    }
    for (const char* piece :
         {"[/*", "{\"a\":", "[[", "{\"a\":1 x", "\"", "[\"", "```json\n", "{\"a\":[", "//", "[1,"}) {
        std::string text;
        while (text.size() < size) text += piece;
        EXPECT_NO_THROW(found(text + " x"));
        EXPECT_NO_THROW(find_code(text));
    }
}

TEST(LlmJson, random_bytes_never_crash) {
    std::mt19937 random(7);
    for (int i = 0; i < 20000; ++i) {
        std::string text = "{\"a\":";
        for (size_t length = random() % 40; length > 0; --length)
            text += random() % 3 ? "{}[]\",:\\u0d8-e/*tn"[random() % 19] : static_cast<char>(random());
        std::optional<json> value = find_json(text);
        EXPECT_TRUE(!value || json::parse(value->dump()) == *value) << text;
    }
}

TEST(LlmCode, takes_the_longest_block) {
    EXPECT_EQ(find_code("First:\n```sh\nmake\n```\nthen\n```cpp\nint a;\nint b;\n```\nDone."), "int a;\nint b;\n");
    EXPECT_EQ(find_code("int a;\n"), "int a;\n");
    EXPECT_EQ(find_code("use ```x``` here"), "use ```x``` here");
    EXPECT_EQ(find_code("```\nint a;"), "int a;");  // cut off
    EXPECT_EQ(find_code("````\n```\nx\n```\n````\n"), "```\nx\n```\n");
    EXPECT_EQ(find_code("~~~c\r\nint a;\r\n~~~\r\n"), "int a;\r\n");
    EXPECT_EQ(find_code("  ```cpp\n  int a;\n  ```\n"), "  int a;\n");
    EXPECT_EQ(find_code("```\n```"), "");
    EXPECT_EQ(find_code(""), "");
}

TEST(LlmSchema, names_the_first_thing_that_does_not_fit) {
    const char* schema = R"({"type": "object", "additionalProperties": false, "required": ["strategies"],
        "properties": {"strategies": {"type": "array", "minItems": 1, "maxItems": 2, "items": {"type": "object",
            "required": ["name"], "properties": {"name": {"type": "string", "minLength": 2},
            "confidence": {"type": "number", "minimum": 0, "maximum": 1}, "count": {"type": "integer"},
            "kind": {"enum": ["a", "b"]}, "note": {"type": ["string", "null"]}}}}}})";
    auto of = [&](const std::string& value) { return mismatch_of(value, schema); };
    auto with = [&](const std::string& member) {
        return of(R"({"strategies": [{"name": "ok"}, {"name": "ok", )" + member + "}]}");
    };
    EXPECT_EQ(with(R"("confidence": 0.5, "count": 3, "kind": "b", "note": null, "other": 1)"), "");
    EXPECT_EQ(with(R"("confidence": "high")"), "strategies[1].confidence: is no number");
    EXPECT_EQ(with(R"("confidence": 1.5)"), "strategies[1].confidence: is over 1");
    EXPECT_EQ(with(R"("confidence": -1)"), "strategies[1].confidence: is under 0");
    EXPECT_EQ(with(R"("count": 2.5)"), "strategies[1].count: is no integer");
    EXPECT_EQ(with(R"("count": 2.0)"), "");
    EXPECT_EQ(with(R"("kind": "c")"), "strategies[1].kind: is none of a, b");
    EXPECT_EQ(with(R"("note": 1)"), "strategies[1].note: is no string or null");
    EXPECT_EQ(of(R"([])"), "the reply: is no object");
    EXPECT_EQ(of(R"({})"), "the reply: lacks 'strategies'");
    EXPECT_EQ(of(R"({"strategies": []})"), "strategies: has 0 elements, fewer than 1");
    EXPECT_EQ(of(R"({"strategies": [{"name": "aa"}, {"name": "aa"}, {"name": "aa"}]})"),
              "strategies: has 3 elements, more than 2");
    EXPECT_EQ(of(R"({"strategies": [{"name": "\u00e4"}]})"), "strategies[0].name: is shorter than 2");
    EXPECT_EQ(of(R"({"strategies": [{"name": "aa"}], "x\ny": 1})"), "the reply: has the unknown key 'x y'");
}

TEST(LlmSchema, odd_schemas_do_no_harm) {
    EXPECT_EQ(mismatch_of("1", "true"), "");
    EXPECT_EQ(mismatch_of("1", "false"), "the reply: is not allowed");
    EXPECT_EQ(mismatch_of("{\"a\": 1}", R"({"additionalProperties": {"type": "string"}})"), "a: is no string");
    for (const char* schema : {"1", R"({"type": 5, "enum": 1, "minimum": "x"})", R"({"required": 1, "properties": []})",
                               R"({"items": 1, "minItems": "x"})"})
        for (const char* value : {"1", "\"x\"", "[1]", "{\"a\": 1}"}) EXPECT_EQ(mismatch_of(value, schema), "");
}

}  // namespace
}  // namespace strop::llm
