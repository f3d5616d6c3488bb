#include "run/lessons.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/file.h"
#include "fakes/sample_record.h"

namespace strop {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class RunLessons : public testing::Test {
protected:
    std::vector<std::string> told(const std::string& run) {
        RunRecord record = fakes::sample_record();
        record.run = run;
        Strategy strategy;
        strategy.family = "row_reduction";
        return earlier_lessons(store_, store_, record, {strategy});
    }

    TemporaryFolder folder_{"strop-lessons"};
    Store store_{folder_.path() / "strop.db"};
};

Lesson lesson(const std::string& what, Lesson::Advice advice = Lesson::Advice::remark) {
    Lesson made;
    made.what = what;
    made.advice = advice;
    return made;
}

TEST_F(RunLessons, AreThoseThatFit) {
    Lesson here = lesson("here"), problem = lesson("problem"), family = lesson("family"), hardware = lesson("hardware");
    here.when.problem = "softmax";
    here.when.family = "row_reduction";
    here.when.hardware = "avx2";
    problem.when.problem = "gemm";
    family.when.family = "contraction";
    hardware.when.hardware = "neon";
    for (const Lesson& one : {here, problem, family, hardware}) store_.add_lesson(one);
    store_.add_lesson(lesson("theirs"), "theirs");
    EXPECT_THAT(told("a"), ElementsAre(HasSubstr("here"), "theirs (imported, not confirmed here)"));
    store_.add_lesson(lesson("later"));
    EXPECT_EQ(told("a").size(), 2u) << "as the run began";
    EXPECT_EQ(told("b").size(), 3u);
}

TEST_F(RunLessons, AreNeitherWithdrawnNorDisputed) {
    const Lesson fast = lesson("fast", Lesson::Advice::prefer), slow = lesson("slow", Lesson::Advice::avoid);
    store_.add_lesson(fast);
    store_.add_lesson(slow);
    EXPECT_THAT(told("a"), ElementsAre());
    store_.add_testimony({id_of(fast), "x", Testimony::Kind::confirms, ""});
    EXPECT_THAT(told("b"), ElementsAre("fast (confirmed by 1 run)"));
    for (const char* run : {"y", "z"}) store_.add_testimony({id_of(fast), run, Testimony::Kind::contradicts, ""});
    EXPECT_THAT(told("c"), ElementsAre("slow"));
}

TEST_F(RunLessons, OfDocumentsComeLastUntilARunConfirmsThem) {
    Lesson read = lesson("read", Lesson::Advice::prefer), measured = lesson("measured", Lesson::Advice::avoid);
    read.measured = false;
    read.source = "manual.pdf p. 12";
    read.when.problem = "softmax";
    measured.strategy = "other";
    store_.add_lesson(read);
    store_.add_lesson(measured);
    store_.add_lesson(lesson("theirs"), "theirs");
    EXPECT_THAT(told("a"),
                ElementsAre("measured", HasSubstr("theirs"), "for softmax: read (unmeasured, manual.pdf p. 12)"));
    store_.add_testimony({id_of(read), "x", Testimony::Kind::undecided, ""});
    EXPECT_THAT(told("b").back(), HasSubstr("unmeasured"));
    store_.add_testimony({id_of(read), "y", Testimony::Kind::confirms, ""});
    EXPECT_EQ(told("c").front(), "for softmax: read (manual.pdf p. 12) (confirmed by 1 run)");
    for (const char* run : {"v", "w"}) store_.add_testimony({id_of(read), run, Testimony::Kind::contradicts, ""});
    EXPECT_EQ(told("d").size(), 2u);
}

TEST_F(RunLessons, OfDocumentsDisputeNothingThatWasMeasured) {
    Lesson read = lesson("fast", Lesson::Advice::prefer);
    read.measured = false;
    store_.add_lesson(read);
    store_.add_lesson(lesson("slow", Lesson::Advice::avoid));
    EXPECT_THAT(told("a"), ElementsAre("slow"));
}

TEST_F(RunLessons, AreDrawnFromWhatWasMeasuredAndFromModels) {
    RunRecord record = fakes::sample_record();
    std::vector<agent::DrawnLesson> of_models = {{lesson("keep rows in registers"), {"online_single_read"}}};
    of_models[0].lesson.when.words = "small rows";
    draw_lessons(store_, record, of_models, true);
    EXPECT_TRUE(store_.lessons().empty()) << "a replay says nothing new";
    const std::vector<std::string> replayed = record.lessons;
    draw_lessons(store_, record, of_models, false);
    EXPECT_EQ(record.lessons, replayed);
    EXPECT_EQ(record.lessons[0], "small rows: keep rows in registers [online_single_read]");
    ASSERT_EQ(store_.lessons().size(), record.lessons.size());
    record.run = "another";
    EXPECT_THAT(told("another"), testing::Contains(HasSubstr("keep rows in registers [online_single_read]")));
}

}  // namespace
}  // namespace strop
