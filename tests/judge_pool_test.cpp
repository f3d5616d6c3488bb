// Several workers as one evaluator: who does what, and what becomes of it when one of them is lost.
#include "judge/worker_pool.h"

#include <algorithm>
#include <condition_variable>
#include <filesystem>
#include <mutex>
#include <set>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "base/file.h"
#include "base/strings.h"
#include "device/machine.h"
#include "judge/batch_limit.h"
#include "judge/heartbeat.h"
#include "judge/worker_greeting.h"
#include "problem/loader.h"

namespace strop::judge {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

EvaluationRequest request(int64_t width, int64_t late = 1) {
    EvaluationRequest asked;
    asked.kernel.id = "row";
    asked.kernel.source = "// a kernel";
    asked.kernel.space.tunables = {{"WIDTH", {}, Tunable::Kind::constant}, {"AT", {}, Tunable::Kind::late}};
    asked.configuration = {{"WIDTH", width}, {"AT", late}};
    asked.points = {{"small", {{"M", 4}, {"N", 8}}}};
    return asked;
}

std::vector<EvaluationRequest> requests(int64_t count) {
    std::vector<EvaluationRequest> all;
    for (int64_t i = 0; i < count; ++i) all.push_back(request(i));
    return all;
}

// ---- shares --------------------------------------------------------------------------------------------

TEST(BatchSplit, everybody_gets_as_much) {
    std::map<std::string, size_t> homes;
    EXPECT_THAT(split_batch(requests(8), {0, 1}, homes), ElementsAre(Share{0, 2, 4, 6}, Share{1, 3, 5, 7}));
    EXPECT_THAT(split_batch(requests(2), {0, 1, 2}, homes), ElementsAre(SizeIs(1), SizeIs(1), SizeIs(0)));
    EXPECT_THAT(split_batch({}, {0, 1}, homes), ElementsAre(IsEmpty(), IsEmpty()));
}

TEST(BatchSplit, what_is_compiled_together_stays_together) {
    std::map<std::string, size_t> homes;
    const std::vector<EvaluationRequest> batch = {request(1, 1), request(2, 1), request(1, 2), request(2, 2)};
    EXPECT_THAT(split_batch(batch, {0, 1}, homes), ElementsAre(Share{0, 2}, Share{1, 3}));
    // One library for all is no reason to leave a worker idle.
    const std::vector<EvaluationRequest> alike = {request(1, 1), request(1, 2), request(1, 3), request(1, 4)};
    EXPECT_THAT(split_batch(alike, {0, 1}, homes), ElementsAre(SizeIs(2), SizeIs(2)));
}

TEST(BatchSplit, who_has_compiled_it_gets_it_again) {
    std::map<std::string, size_t> homes;
    EXPECT_THAT(split_batch({request(1), request(2)}, {4, 7}, homes), ElementsAre(Share{0}, Share{1}));
    EXPECT_THAT(split_batch({request(2, 2), request(1, 2)}, {4, 7}, homes), ElementsAre(Share{1}, Share{0}));
    EXPECT_THAT(split_batch({request(2, 3), request(1, 3)}, {7}, homes), ElementsAre(Share{0, 1}));  // 4 is gone
}

TEST(BatchLimit, leaves_room_for_all_that_is_asked) {
    const Seconds one = batch_limit(requests(1), Seconds(1)), eight = batch_limit(requests(8), Seconds(1));
    EXPECT_GT(one.count(), 60);
    EXPECT_GT(eight.count(), 4 * one.count());
    EXPECT_GT(batch_limit(requests(1), Seconds(60)), one);
    ComparisonRequest comparison;
    comparison.contenders.resize(2);
    comparison.points.resize(1);
    comparison.seconds_per_point = 1000;
    EXPECT_GT(batch_limit(comparison, Seconds(1)).count(), 2000);
}

TEST(Heartbeat, goes_on_until_it_ends) {
    std::mutex mutex;
    std::condition_variable said;
    int times = 0;
    const Heartbeat heartbeat(Seconds(0.001), [&] {
        std::lock_guard lock(mutex);
        ++times;
        said.notify_all();
    });
    std::unique_lock lock(mutex);
    said.wait(lock, [&] { return times >= 3; });
}

// ---- workers -------------------------------------------------------------------------------------------

class Pool : public testing::Test {
protected:
    Pool() { write_file(folder_.path() / "greeting.json", dump(to_json(greeting_of_this_machine(detect_machine())))); }

    // A fake, which does this with its batches.
    WorkerCommand fake(const std::string& name, const std::string& actions = "ok",
                       const std::vector<std::string>& more = {}) {
        WorkerCommand command{name,
                              {"python3", STROP_SOURCE_DIR "/tests/fakes/fake_worker.py", "--greeting",
                               (folder_.path() / "greeting.json").string(), "--log", log().string(), "--state",
                               (folder_.path() / (name + ".json")).string(), "--evaluate", actions}};
        command.argv.insert(command.argv.end(), more.begin(), more.end());
        return command;
    }

    std::unique_ptr<WorkerPool> open(const std::vector<WorkerCommand>& commands) {
        auto pool = std::make_unique<WorkerPool>(
            commands, [this] { idle_(); }, [this](const std::string& line) { said_.push_back(line); });
        pool->open(load_problem(STROP_SOURCE_DIR "/problems/softmax"), {}, 7);
        return pool;
    }

    fs::path log() const { return folder_.path() / "log"; }

    // "row {...}" of each answer that was given, sorted.
    std::vector<std::string> answered() const {
        std::vector<std::string> all;
        if (!fs::exists(log())) return all;
        for (const std::string& line : split(trim(read_file(log())), '\n')) {
            const Json words = Json::parse(line);
            all.push_back(words[1].get<std::string>() + " " + dump(words[2]));
        }
        std::sort(all.begin(), all.end());
        return all;
    }

    size_t processes() const {
        std::set<std::string> all;
        for (const std::string& line : split(trim(read_file(log())), '\n')) all.insert(split(line, ',').front());
        return all.size();
    }

    // The batch is judged, each of it once, whatever one of the workers does.
    void is_complete_beside(const WorkerCommand& bad) {
        const std::vector<EvaluationRequest> batch = requests(8);
        const std::unique_ptr<WorkerPool> pool = open({fake("good"), bad});
        const std::vector<Evaluation> evaluations = pool->evaluate(batch);
        ASSERT_THAT(evaluations, SizeIs(8));
        for (size_t i = 0; i < batch.size(); ++i) EXPECT_EQ(evaluations[i].configuration, batch[i].configuration);
        const std::vector<std::string> once = answered();
        EXPECT_THAT(once, SizeIs(8));
        EXPECT_EQ(std::set<std::string>(once.begin(), once.end()).size(), once.size());
    }

    TemporaryFolder folder_{"strop-pool-test"};
    std::function<void()> idle_ = [] {};
    std::vector<std::string> said_;
};

Json answers_of(const std::vector<Evaluation>& evaluations) { return Json(evaluations); }

TEST_F(Pool, as_many_as_one_likes_give_the_same_in_the_order_asked) {
    const std::vector<EvaluationRequest> batch = requests(11);
    const Json one = answers_of(open({fake("alone")})->evaluate(batch));
    fs::remove(log());
    const std::unique_ptr<WorkerPool> pool = open({fake("a"), fake("b"), fake("c")});
    EXPECT_EQ(answers_of(pool->evaluate(batch)), one);
    EXPECT_EQ(answers_of(pool->evaluate(batch)), one);
    EXPECT_EQ(processes(), 3u);
    EXPECT_THAT(answered(), SizeIs(22));
    int evaluations = 0;
    for (const WorkerUse& use : pool->uses()) {
        EXPECT_EQ(use.batches, 2);
        evaluations += use.evaluations;
    }
    EXPECT_EQ(evaluations, 22);
    EXPECT_THAT(said_, IsEmpty());
}

TEST_F(Pool, one_that_dies_costs_its_share_which_another_takes) { is_complete_beside(fake("bad", "dies,ok")); }

TEST_F(Pool, what_no_worker_says_is_a_loss) {
    for (const char* action : {"garbage", "other", "short"}) {
        fs::remove(log());
        is_complete_beside(fake(action, std::string(action) + ",ok"));
    }
}

TEST_F(Pool, who_says_that_it_works_is_waited_for) {
    WorkerCommand slow = fake("slow", "slowly");
    const std::unique_ptr<WorkerPool> pool = open({slow});
    EXPECT_THAT(pool->evaluate(requests(2)), SizeIs(2));
    EXPECT_EQ(pool->uses().front().losses, 0);
}

TEST_F(Pool, silence_is_a_loss) {
    WorkerCommand bad = fake("bad", "hangs,ok");
    bad.silence = Seconds(0.5);
    is_complete_beside(bad);
}

TEST_F(Pool, who_only_says_that_it_works_is_not_waited_for_for_ever) {
    for (const char* name : {"works", "floods"}) {
        fs::remove(log());
        WorkerCommand bad = fake(name, std::string(name) + ",ok");
        bad.batch = Seconds(0.5);
        is_complete_beside(bad);
    }
}

TEST_F(Pool, one_that_comes_back_on_another_machine_is_dropped) {
    const std::unique_ptr<WorkerPool> pool =
        open({fake("bad", "dies,ok", {"--then", "fingerprint=elsewhere"}), fake("good")});
    for (int batch = 0; batch < 3; ++batch) EXPECT_THAT(pool->evaluate(requests(4)), SizeIs(4));
    // It may still be on its way back; then the others do all the work.
    while (pool->uses().front().dropped.empty()) pool->evaluate(requests(1));
    pool->evaluate(requests(1));
    EXPECT_THAT(pool->uses().front().dropped, HasSubstr("came back on another machine"));
    EXPECT_EQ(pool->uses().front().batches, 0);
    ASSERT_THAT(said_, SizeIs(1));
    EXPECT_THAT(said_.front(), HasSubstr("; going on with 1 of 2 workers"));
    EXPECT_EQ(pool->compare({}).points.size(), 0u);  // asked of the other one
}

TEST_F(Pool, who_takes_over_has_the_inputs_of_now) {
    const std::unique_ptr<WorkerPool> pool =
        open({fake("bad", "dies", {"--then", "fingerprint=elsewhere"}), fake("good")});
    pool->reseed(99);
    EXPECT_THAT(pool->evaluate(requests(4)), SizeIs(4));
    const std::vector<std::string> lines = answered();
    EXPECT_EQ(std::count(lines.begin(), lines.end(), "reseed 99"), 2);
}

TEST_F(Pool, without_any_worker_nothing_can_be_asked) {
    const std::vector<std::string> away = {"--then", "fingerprint=elsewhere"};
    const std::unique_ptr<WorkerPool> pool = open({fake("a", "dies", away), fake("b", "dies", away)});
    try {
        pool->evaluate(requests(4));
        FAIL();
    } catch (const LostWorker& loss) {
        EXPECT_THAT(loss.what(), HasSubstr("all 2 workers are lost; the last: the worker '"));
    }
    EXPECT_THROW(pool->compare({}), LostWorker);
}

TEST_F(Pool, others_than_the_first_are_refused_by_name) {
    auto refusal = [&](const std::string& change) -> std::string {
        try {
            open({fake("a"), fake("b", "ok", {"--set", change})});
        } catch (const EnvironmentError& error) {
            return error.what();
        }
        return "none";
    };
    EXPECT_THAT(refusal("fingerprint=other"), HasSubstr("the worker 'b' is on another machine than the worker 'a': "));
    EXPECT_THAT(refusal("toolchain=gcc 2.95"),
                HasSubstr("the worker 'b' has another compiler than the worker 'a': gcc 2.95, and there "));
    EXPECT_THAT(refusal("strop=9.8"), HasSubstr("the worker 'b' is of another version: strop 9.8"));
}

TEST_F(Pool, who_asks_may_leave) {
    const std::unique_ptr<WorkerPool> pool = open({fake("a", "works"), fake("b", "works")});
    int looks = 0;
    idle_ = [&] {
        if (++looks == 3) throw Interrupted();
    };
    EXPECT_THROW(pool->evaluate(requests(4)), Interrupted);
}

}  // namespace
}  // namespace strop::judge
