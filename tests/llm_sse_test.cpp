#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "llm/sse.h"

namespace strop::llm {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

// "name|data" of each event, the text pushed in pieces of `size` bytes.
std::vector<std::string> events(const std::string& text, size_t size) {
    std::vector<std::string> found;
    SseParser parser([&](const SseEvent& event) { found.push_back(event.name + "|" + event.data); });
    for (size_t at = 0; at < text.size(); at += size) parser.push(std::string_view(text).substr(at, size));
    parser.finish();
    return found;
}

class Sse : public testing::TestWithParam<size_t> {};

TEST_P(Sse, EveryLineEnd) {
    for (std::string end : {"\n", "\r\n", "\r"}) {
        std::string text = "event: first" + end + "data: {\"a\":1}" + end + end + "data: two" + end + end;
        EXPECT_THAT(events(text, GetParam()), ElementsAre("first|{\"a\":1}", "|two"));
    }
}

TEST_P(Sse, LinesOfDataAreJoined) {
    EXPECT_THAT(events("data: a\ndata\ndata:b\ndata:  c\n\n", GetParam()), ElementsAre("|a\n\nb\n c"));
}

TEST_P(Sse, CommentsPingsAndUnknownFieldsAreSkipped) {
    EXPECT_THAT(events(": keep-alive\n\n:\n\nid: 7\nretry: 10\nfoo: bar\nevent: ping\n\ndata: x\n\n", GetParam()),
                ElementsAre("|x"));
}

TEST_P(Sse, TheNameLastsForOneEvent) {
    EXPECT_THAT(events("event: a\ndata: 1\n\ndata: 2\n\n", GetParam()), ElementsAre("a|1", "|2"));
}

TEST_P(Sse, AByteOrderMarkAtTheStartIsNoData) {
    EXPECT_THAT(events("\xEF\xBB\xBF"
                       "data: x\n\ndata: \xEF\xBB\xBF\n\n",
                       GetParam()),
                ElementsAre("|x", "|\xEF\xBB\xBF"));
}

TEST_P(Sse, CharactersOfSeveralBytesSurvive) {
    EXPECT_THAT(events("data: Grüße, 世界 🚀\r\n\r\n", GetParam()), ElementsAre("|Grüße, 世界 🚀"));
}

TEST_P(Sse, AnEndWithoutAnEmptyLineCounts) {
    EXPECT_THAT(events("data: x\n\ndata: y", GetParam()), ElementsAre("|x", "|y"));
    EXPECT_THAT(events("", GetParam()), IsEmpty());
    EXPECT_THAT(events("event: lonely\n\n", GetParam()), IsEmpty());
}

TEST_P(Sse, EmptyDataIsAnEvent) { EXPECT_THAT(events("data\n\ndata:\n\n", GetParam()), ElementsAre("|", "|")); }

INSTANTIATE_TEST_SUITE_P(Pieces, Sse, testing::Values(1, 2, 3, 5, 7, 1000));

}  // namespace
}  // namespace strop::llm
