#include "knowledge/learning.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/json.h"
#include "fakes/any_store.h"
#include "fakes/sample_record.h"
#include "knowledge/digest.h"
#include "knowledge/store.h"

namespace strop {
namespace {

using testing::HasSubstr;

// Strategies with the time that each takes by the value of U, at one shape that memory limits.
RunRecord run(const std::string& name, const std::map<std::string, std::map<int64_t, double>>& times) {
    RunRecord record;
    record.run = name;
    record.started = "2026-01-31T12:00:00Z";
    record.problem = "softmax";
    record.outcome = Outcome::improved;
    record.machine = fakes::sample_machine();
    ShapeReport shape;
    shape.label = "large";
    shape.bound = "memory";
    record.shapes = {shape};
    for (const auto& [id, by_value] : times) {
        Strategy strategy;
        strategy.id = id;
        strategy.family = "row_reduction";
        record.strategies.push_back(strategy);
        for (const auto& [value, time] : by_value)
            for (int64_t other : {1, 2, 3}) {
                HistoryEntry entry;
                entry.strategy = entry.kernel = id;
                entry.configuration = {{"U", value}, {"T", other}};
                entry.nanoseconds = {{"large", time * (1 + 0.001 * static_cast<double>(other))}};
                record.history.push_back(entry);
            }
    }
    return record;
}

const std::map<std::string, std::map<int64_t, double>> online_wins = {{"online", {{4, 130}, {8, 100}}},
                                                                      {"passes", {{4, 200}, {8, 190}}}};
const std::map<std::string, std::map<int64_t, double>> passes_win = {{"online", {{4, 100}, {8, 130}}},
                                                                     {"passes", {{4, 50}, {8, 55}}}};

std::vector<std::string> texts(const std::vector<Drawn>& drawn) {
    std::vector<std::string> found;
    for (const Drawn& one : drawn) found.push_back(name_of(one.lesson.advice) + " " + one.lesson.what);
    return found;
}

TEST(Digests, HoldTheEffectOfEachValueWithinItsStrategy) {
    const Digest digest = digest_of(run("a", online_wins));
    EXPECT_EQ(digest.hardware, "example-cpu-9000-synthetic-avx2");
    std::map<std::string, double> ratios;
    for (const Digest::Effect& effect : digest.effects)
        if (effect.tunable != "T") ratios[effect.strategy + effect.tunable + to_string(effect.value)] = effect.ratio;
    EXPECT_EQ(ratios, (std::map<std::string, double>{{"online0", 1},
                                                     {"passes0", 1.9},
                                                     {"onlineU4", 1.3},
                                                     {"onlineU8", 1},
                                                     {"passesU4", 1.0526},
                                                     {"passesU8", 1}}));
    EXPECT_EQ(Json(Json(digest).get<Digest>()), Json(digest));
}

TEST(Digests, HaveNoWinnersOfARunThatWasNotVerified) {
    RunRecord record = fakes::sample_record();
    EXPECT_EQ(digest_of(record).winners.size(), 2u);
    EXPECT_EQ(digest_of(record).dead_ends.size(), 3u);
    EXPECT_GT(digest_of(record).winners[0].roofline_share, 0);
    record.verified = false;
    EXPECT_TRUE(digest_of(record).winners.empty());
}

TEST(Digests, SlugsAreFileNames) {
    EXPECT_EQ(slug("../../etc/passwd"), "etc-passwd");
    EXPECT_EQ(slug("\xff\n..."), "unknown");
    EXPECT_EQ(slug(std::string(300, 'a')).size(), 80u);
}

TEST(Learning, DrawsWhatIsClearlyFasterAndClearlySlower) {
    EXPECT_THAT(texts(lessons_of(digest_of(run("a", online_wins)))),
                testing::ElementsAre("prefer online is the fastest of row_reduction", "avoid passes is slow",
                                     "prefer online wants U=8"));
    EXPECT_TRUE(lessons_of(digest_of(run("a", {{"online", {{8, 100}}}, {"passes", {{8, 105}}}}))).empty());
    EXPECT_TRUE(lessons_of(digest_of(run("a", {{"online", {{8, 100}}}}))).empty()) << "beside nothing";
}

TEST(Learning, LaterRunsConfirmOrContradict) {
    std::vector<Lesson> lessons;
    for (const Drawn& one : lessons_of(digest_of(run("a", online_wins)))) lessons.push_back(one.lesson);
    auto kinds = [&](const RunRecord& record) {
        std::vector<std::string> said;
        for (const Testimony& one : testimonies(digest_of(record), lessons)) said.push_back(name_of(one.kind));
        return said;
    };
    EXPECT_EQ(kinds(run("b", online_wins)), (std::vector<std::string>{"confirms", "confirms", "confirms"}));
    EXPECT_EQ(kinds(run("b", passes_win)), (std::vector<std::string>{"contradicts", "contradicts", "contradicts"}));
    EXPECT_TRUE(kinds(run("b", {{"online", {{8, 100}}}})).empty()) << "nothing was beside it";
    RunRecord elsewhere = run("b", passes_win);
    elsewhere.machine.isa = "neon";
    EXPECT_TRUE(kinds(elsewhere).empty());
}

TEST(Learning, OppositeAdviceContradicts) {
    Lesson a;
    a.strategy = "online";
    a.advice = Lesson::Advice::prefer;
    Lesson b = a;
    b.advice = Lesson::Advice::avoid;
    EXPECT_TRUE(contradict(a, b));
    EXPECT_FALSE(contradict(a, a));
    b.when.bound = "memory";
    EXPECT_FALSE(contradict(a, b));
    Lesson four = a, eight = a;
    four.values = {{"U", int64_t{4}}};
    eight.values = {{"U", int64_t{8}}};
    EXPECT_TRUE(contradict(four, eight));
    EXPECT_FALSE(contradict(four, a));
}

class LearningStore : public fakes::AnyStore {};

INSTANTIATE_TEST_SUITE_P(Of, LearningStore, fakes::every_database(), fakes::name_of_database);

TEST_P(LearningStore, ALessonIsWithdrawnWhenTwoRunsContradictIt) {
    Store store(address_);
    EXPECT_EQ(store.learn(digest_of(run("a", online_wins))).size(), 3u);
    EXPECT_EQ(store.learn(digest_of(run("a", online_wins))).size(), 3u) << "a resumed run draws them again";
    EXPECT_TRUE(store.learn(digest_of(run("b", online_wins))).empty()) << "known already";
    store.learn(digest_of(run("c", passes_win)));
    auto find = [&] {
        for (const KnownLesson& known : store.lessons())
            if (known.lesson.what == "passes is slow") return known;
        return KnownLesson{};
    };
    EXPECT_EQ(find().count(Testimony::Kind::drew), 1);
    EXPECT_EQ(find().count(Testimony::Kind::confirms), 1);
    EXPECT_FALSE(find().withdrawn());
    store.learn(digest_of(run("d", passes_win)));
    EXPECT_TRUE(find().withdrawn());
}

}  // namespace
}  // namespace strop
