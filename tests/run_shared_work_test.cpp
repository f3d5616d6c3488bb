#include "run/shared_work.h"

#include <atomic>
#include <functional>
#include <set>
#include <thread>

#include <SQLiteCpp/SQLiteCpp.h>
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "base/file.h"
#include "base/hash.h"
#include "core/json.h"

namespace strop {
namespace {

using namespace std::chrono_literals;

class SharedWorkTest : public testing::Test {
protected:
    SharedWorkTest() {
        for (int i = 0; i < 12; ++i) {
            EvaluationRequest request;
            request.kernel.id = "kernel";
            request.configuration = {{"U", int64_t{i}}};
            request.points = {{"small", {{"M", 4}}}};
            requests_.push_back(request);
            keys_.push_back(key(request));
        }
    }

    static std::string key(const EvaluationRequest& request) { return "key " + describe(request.configuration); }

    // As the recorder does: what is judged is kept under the run.
    SharedWork::Measure measuring(Store& store, const std::string& run, std::chrono::milliseconds each) {
        return [&store, run, each, this](const std::vector<EvaluationRequest>& requests) {
            std::vector<Evaluation> evaluations;
            for (const EvaluationRequest& request : requests) {
                std::this_thread::sleep_for(each);
                ++judged_;
                Evaluation evaluation;
                evaluation.key = key(request);
                evaluation.kernel = request.kernel.id;
                evaluation.configuration = request.configuration;
                evaluation.evidence = "judged by " + run;
                evaluation.points = {{request.points[0], Verdict::ok, "", {{1, 2, 3}, 2, 1, 3, false}}};
                evaluations.push_back(evaluation);
            }
            store.add_evaluations(run, evaluations);
            return evaluations;
        };
    }

    std::vector<Evaluation> evaluate(const std::string& run, std::chrono::milliseconds each) {
        Store store(path_);
        return SharedWork(store, run, "work", [] {}).evaluate(requests_, keys_, measuring(store, run, each));
    }

    void expect_all(const std::vector<Evaluation>& evaluations, const std::string& run) {
        ASSERT_EQ(evaluations.size(), requests_.size());
        for (size_t i = 0; i < evaluations.size(); ++i) {
            EXPECT_EQ(evaluations[i].configuration, requests_[i].configuration);
            const std::string judge = evaluations[i].judged_by.empty() ? run : evaluations[i].judged_by;
            EXPECT_EQ(evaluations[i].evidence, "judged by " + judge);
        }
        EXPECT_EQ(Store(path_).evaluations(run).size(), requests_.size()) << "a run has all that it goes by";
    }

    TemporaryFolder folder_{"strop-shared"};
    fs::path path_ = folder_.path() / "strop.db";
    std::vector<EvaluationRequest> requests_;
    std::vector<std::string> keys_;
    const std::string work_ = content_hash("work\nwork");  // as the store knows it
    std::atomic<int> judged_ = 0;
};

TEST_F(SharedWorkTest, one_alone_judges_all_of_it) {
    expect_all(evaluate("one", 0ms), "one");
    EXPECT_EQ(judged_, 12);
}

TEST_F(SharedWorkTest, what_another_has_just_judged_is_not_judged_again) {
    evaluate("one", 0ms);
    const std::vector<Evaluation> evaluations = evaluate("two", 0ms);
    expect_all(evaluations, "two");
    for (const Evaluation& evaluation : evaluations) EXPECT_EQ(evaluation.judged_by, "one");
    EXPECT_EQ(judged_, 12);
    evaluate("three", 0ms);
    EXPECT_EQ(Store(path_).evaluations("three").at(0).judged_by, "one") << "who judged, not who handed it on";
}

TEST_F(SharedWorkTest, two_at_once_judge_each_of_it_once) {
    Store mine(path_), others(path_);
    SharedWork one(mine, "one", "work", [] {}), two(others, "two", "work", [] {});
    std::vector<Evaluation> first, second;
    std::thread other([&] { second = two.evaluate(requests_, keys_, measuring(others, "two", 20ms)); });
    first = one.evaluate(requests_, keys_, measuring(mine, "one", 20ms));
    other.join();
    expect_all(first, "one");
    expect_all(second, "two");
    EXPECT_EQ(judged_, 12);
    std::set<std::string> judges;
    for (const Evaluation& evaluation : first) judges.insert(evaluation.evidence);
    EXPECT_EQ(judges.size(), 2u) << "each did a part";
}

TEST_F(SharedWorkTest, a_claim_of_tomorrow_is_not_waited_for_either) {
    Store store(path_);
    store.claim("killed", work_, keys_, 12, Seconds(100), Seconds(1000));
    SQLite::Database(path_.string(), SQLite::OPEN_READWRITE).exec("UPDATE claims SET claimed = claimed + 3600");
    const Clock::time_point start = Clock::now();
    expect_all(evaluate("two", 0ms), "two");
    EXPECT_LT(seconds_since(start), 60);
}

struct Nonsense {
    std::string name;
    std::function<std::string(const std::string& evaluation)> written;
};

class NonsenseOfAnother : public SharedWorkTest, public testing::WithParamInterface<Nonsense> {};

TEST_P(NonsenseOfAnother, is_screened_again) {
    const Clock::time_point start = Clock::now();
    evaluate("one", 0ms);
    {
        SQLite::Database database(path_.string(), SQLite::OPEN_READWRITE);
        for (const Evaluation& evaluation : Store(path_).evaluations("one")) {
            SQLite::Statement update(database, "UPDATE evaluations SET evaluation = ? WHERE key = ?");
            update.bind(1, GetParam().written(dump(Json(evaluation))));
            update.bind(2, evaluation.key);
            update.exec();
        }
    }
    expect_all(evaluate("two", 0ms), "two");
    EXPECT_EQ(judged_, 24);
    EXPECT_LT(seconds_since(start), 30);
}

Nonsense changed(const std::string& name, const std::string& pointer, const Json& value) {
    return {name, [=](const std::string& evaluation) {
                Json json = Json::parse(evaluation);
                json[Json::json_pointer(pointer)] = value;
                return dump(json);
            }};
}

INSTANTIATE_TEST_SUITE_P(
    Kinds, NonsenseOfAnother,
    testing::Values(Nonsense{"empty", [](const std::string&) { return ""; }},
                    Nonsense{"cut_off", [](const std::string& text) { return text.substr(0, text.size() / 2); }},
                    Nonsense{"of_another_kind", [](const std::string&) { return "[1, 2]"; }},
                    changed("of_another_key", "/key", "abc"), changed("of_an_unknown_verdict", "/verdict", "splendid"),
                    changed("of_another_configuration", "/configuration", {{"U", 99}}),
                    changed("without_points", "/points", Json::array()),
                    changed("of_another_shape", "/points/0/point/dims/M", 5),
                    changed("without_samples", "/points/0/time/samples_ns", Json::array()),
                    changed("of_no_time", "/points/0/time/samples_ns/0", 0),
                    changed("of_a_negative_time", "/points/0/time/median_ns", -5.0),
                    changed("without_a_time", "/points/0/time/median_ns", nullptr)),
    [](const testing::TestParamInfo<Nonsense>& kind) { return kind.param.name; });

TEST_F(SharedWorkTest, other_work_is_not_shared) {
    Store store(path_);
    evaluate("one", 0ms);
    SharedWork other(store, "two", "other work", [] {});
    EXPECT_EQ(store.others_at("one", work_, Seconds(100)), 0);
}

TEST_F(SharedWorkTest, one_that_was_killed_is_not_waited_for_without_end) {
    Store store(path_);
    store.others_at("killed", work_, Seconds(100));
    store.claim("killed", work_, keys_, 6, Seconds(100), Seconds(1000));
    const Clock::time_point start = Clock::now();
    expect_all(evaluate("two", 0ms), "two");
    EXPECT_EQ(judged_, 12);
    EXPECT_LT(seconds_since(start), 60);
    for (const Claim& claim : store.claim("killed", work_, keys_, 12, Seconds(100), Seconds(1000)))
        EXPECT_EQ(claim.state, Claim::State::done) << "it may come back";
}

TEST_F(SharedWorkTest, who_fails_leaves_its_part_to_others) {
    Store store(path_);
    SharedWork shared(store, "one", "work", [] {});
    const SharedWork::Measure fails = [](const std::vector<EvaluationRequest>&) -> std::vector<Evaluation> {
        throw EnvironmentError("the worker is gone", "");
    };
    EXPECT_THROW(shared.evaluate(requests_, keys_, fails), EnvironmentError);
    for (const Claim& claim : store.claim("two", work_, keys_, 12, Seconds(100), Seconds(1000)))
        EXPECT_EQ(claim.state, Claim::State::mine);
}

TEST_F(SharedWorkTest, who_waits_can_be_interrupted) {
    Store store(path_);
    store.claim("other", work_, keys_, 12, Seconds(100), Seconds(1000));
    SharedWork shared(store, "one", "work", [] { throw Interrupted(); });
    EXPECT_THROW(shared.evaluate(requests_, keys_, measuring(store, "one", 0ms)), Interrupted);
}

}  // namespace
}  // namespace strop
