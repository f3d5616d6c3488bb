// What strop check found, in its forms.
#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include "base/error.h"
#include "report/checked.h"

namespace strop::report {
namespace {

Change change_at(const std::string& label, Decision decision) {
    Change change;
    change.label = label;
    change.baseline = "numpy";
    change.before = {2, 1.9, 2.1};
    change.after = {1, 0.9, 1.1};
    change.change = {0.5, 0.44, 0.57};
    change.decision = decision;
    return change;
}

CheckedResult result_with(std::vector<Change> changes, bool kept, bool held = true) {
    CheckedResult result;
    result.given = "out/<softmax>&co";
    result.problem = "softmax";
    result.problem_hash = "abc";
    result.machine.fingerprint = "here";
    result.right = true;
    result.kept = kept;
    result.held = held;
    result.verdict = kept ? "ok" : "slower";
    result.changes = std::move(changes);
    ShapeReport& shape = result.now.emplace_back();
    shape.label = "small";
    shape.dims = {{"M", 4}};
    shape.best_baseline = "numpy";
    shape.baselines = {{"numpy", 100.0}};
    shape.speedups = {{"numpy", {1, 0.9, std::numeric_limits<double>::infinity()}}};
    return result;
}

size_t count(const std::string& text, const std::string& part) {
    size_t found = 0;
    for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++found;
    return found;
}

TEST(Checked, JunitHasACaseForTheAnswersAndForEachShape) {
    const CheckedResult slow =
        result_with({change_at("small", Decision::slower), change_at("large", Decision::faster)}, false);
    const std::string text = checked_junit({slow});
    EXPECT_NE(text.find("tests=\"3\" failures=\"1\" errors=\"0\" skipped=\"0\""), std::string::npos) << text;
    EXPECT_NE(text.find("<failure message=\"slower over numpy: promised 2.00× (1.90–2.10), now 1.00×"),
              std::string::npos)
        << text;
    EXPECT_NE(text.find("name=\"out/&lt;softmax&gt;&amp;co\""), std::string::npos) << text;
}

TEST(Checked, WhatIsHeldToNothingIsSkippedAndNotPassed) {
    const std::string text = checked_junit({result_with({change_at("small", Decision::slower)}, true, false)});
    EXPECT_NE(text.find("failures=\"0\" errors=\"0\" skipped=\"1\""), std::string::npos) << text;
    EXPECT_NE(text.find("<skipped message=\"held to nothing on another machine"), std::string::npos) << text;
}

TEST(Checked, ALostBaselineFailsWhereARatioWasPromised) {
    CheckedResult lost = result_with({}, false);
    lost.verdict = "not compared";
    lost.changes.emplace_back().label = "small";
    EXPECT_NE(checked_junit({lost}).find("<failure message=\"no baseline of then ran now\""), std::string::npos);
    lost.kept = true;
    lost.verdict = "ok";
    EXPECT_NE(checked_junit({lost}).find("<skipped message=\"no baseline of then ran now\""), std::string::npos);
}

TEST(Checked, EvidenceOfOthersStaysText) {
    CheckedResult wrong = result_with({}, false);
    wrong.right = false;
    wrong.verdict = "wrong_output";
    wrong.evidence = "```\n</failure><script>\x01 @somebody";
    wrong.notes = {"a | b", "second"};
    const std::string xml = checked_junit({wrong});
    EXPECT_EQ(xml.find("<script>"), std::string::npos) << xml;
    EXPECT_EQ(xml.find('\x01'), std::string::npos);
    EXPECT_EQ(count(xml, "<system-out>"), 1U);
    const std::string markdown = checked_markdown({wrong});
    EXPECT_NE(markdown.find("````\n```\n"), std::string::npos) << markdown;
    EXPECT_NE(markdown.find("a \\| b"), std::string::npos) << markdown;
    EXPECT_NE(markdown.find("## Kernels: 0 of 1 as promised"), std::string::npos) << markdown;
}

TEST(Checked, MarkdownNamesTheSlowShape) {
    const std::string text = checked_markdown({result_with({change_at("small", Decision::slower)}, false),
                                               result_with({change_at("small", Decision::faster)}, true)});
    EXPECT_NE(text.find("## Kernels: 1 of 2 as promised"), std::string::npos) << text;
    EXPECT_NE(text.find("| small | **slower** | numpy | 2.00× (1.90–2.10) | 1.00× (0.90–1.10) |"), std::string::npos)
        << text;
}

TEST(Checked, TheDocumentIsABaselineLater) {
    const CheckedResult written = result_with({change_at("small", Decision::faster)}, true);
    const std::vector<CheckedResult> read = read_checked(checked_json({written}));
    ASSERT_EQ(read.size(), 1U);
    EXPECT_EQ(read[0].problem_hash, "abc");
    EXPECT_EQ(read[0].machine.fingerprint, "here");
    ASSERT_EQ(read[0].now.size(), 1U);
    EXPECT_EQ(read[0].now[0].dims, written.now[0].dims);
    EXPECT_EQ(read[0].now[0].best_baseline, "numpy");
    EXPECT_EQ(read[0].now[0].speedups.at("numpy").low, 0.9);
    EXPECT_TRUE(std::isinf(read[0].now[0].speedups.at("numpy").high));
}

TEST(Checked, TheKernelOfThenIsKept) {
    CheckedResult written = result_with({}, true);
    written.kernel = Kernel{};
    written.kernel->id = "dispatch";
    written.kernel->source = "void softmax() {}";
    const std::vector<CheckedResult> read = read_checked(checked_json({written}));
    ASSERT_TRUE(read.at(0).kernel);
    EXPECT_EQ(read[0].kernel->source, "void softmax() {}");
    EXPECT_FALSE(read_checked(checked_json({result_with({}, true)})).at(0).kernel);
}

TEST(Checked, WhatTookTurnsCountsOnAnotherMachineToo) {
    Change change = change_at("small", Decision::slower);
    EXPECT_EQ(standing(change, false), "ok");
    change.in_turns = true;
    EXPECT_EQ(standing(change, false), "slower");
    const std::string text = checked_junit({result_with({change}, false, false)});
    EXPECT_NE(text.find("speed at small, in turns with itself then\"><failure"), std::string::npos) << text;
}

TEST(Checked, WhatIsNoBaselineIsRefused) {
    const std::string good = checked_json({result_with({}, true)});
    auto with = [&](const std::string& from, const std::string& to) {
        std::string text = good;
        const size_t at = text.find(from);
        EXPECT_NE(at, std::string::npos) << from;
        return text.replace(at, from.size(), to);
    };
    for (const std::string& text :
         {std::string(), std::string("[]"), std::string("{\"results\": 3}"), good.substr(0, good.size() / 2),
          with("\"low\": 0.9", "\"low\": -0.9"), with("\"low\": 0.9", "\"low\": 7"),
          with("\"numpy\": 100", "\"x\": 100"), with("\"cores\": 1", "\"cores\": {}")})
        EXPECT_THROW(read_checked(text), UsageError) << text;
}

}  // namespace
}  // namespace strop::report
