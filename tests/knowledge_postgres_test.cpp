// What only a store on a server can do or suffer.
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "core/json.h"
#include "fakes/postgres_server.h"
#include "fakes/sample_record.h"
#include "knowledge/digest.h"
#include "knowledge/store.h"

namespace strop {
namespace {

using namespace std::chrono_literals;
using fakes::PostgresServer;
using testing::ContainsRegex;
using testing::ElementsAre;
using testing::HasSubstr;

class PostgresStore : public testing::Test {
protected:
    void SetUp() override {
        if (!PostgresServer::instance())
            GTEST_SKIP() << "the programs of PostgreSQL are not installed: scripts/setup --tests";
        server_ = PostgresServer::instance();
        address_ = server_->fresh();
    }

    std::string sql(const std::string& statement) const { return PostgresServer::sql(address_.given(), statement); }

    // All that are this store's, but for the one that asks.
    void end_connections() const {
        sql("SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE application_name = 'strop'");
    }

    PostgresServer* server_ = nullptr;
    StoreAddress address_;
};

RunRecord record_named(const std::string& run) {
    RunRecord record = fakes::sample_record();
    record.run = run;
    return record;
}

Evaluation evaluation_named(const std::string& key) {
    Evaluation evaluation;
    evaluation.key = key;
    evaluation.kernel = "online+wide";
    evaluation.configuration = {{"UNROLL", int64_t{8}}};
    evaluation.points = {{{"small", {{"M", 4}}}, Verdict::ok, "", {{1, 2, 3}, 2e6, 1, 3, false}},
                         {{"large", {{"M", 4}}}, Verdict::wrong_output, "at 3", {}}};
    evaluation.verdict = Verdict::wrong_output;
    return evaluation;
}

// What it says, then " | " and its hint.
template <class Failure, class Work>
std::string failure_of(Work work) {
    try {
        work();
    } catch (const Failure& error) {
        return error.what() + std::string(" | ") + error.hint();
    }
    return "no error";
}

TEST_F(PostgresStore, AServerThatIsNotThereIsSaidAtOnce) {
    const std::string why =
        failure_of<EnvironmentError>([] { Store store("postgresql://ann:secret@/runs?host=/nowhere"); });
    EXPECT_THAT(why, testing::StartsWith("postgresql://ann@/runs?host=/nowhere: cannot be reached: "));
    EXPECT_THAT(why, testing::EndsWith(" | is the server up, and is its address right?"));
    EXPECT_THAT(failure_of<EnvironmentError>([&] { Store store(server_->address("nobody_at_all", "public")); }),
                HasSubstr("role \"nobody_at_all\" does not exist"));
}

TEST_F(PostgresStore, GoesOnWhenTheConnectionIsLost) {
    Store store(address_);
    std::vector<std::string> told;
    store.tell([&](const std::string& line) { told.push_back(line); });
    store.save_run(record_named("a"));
    end_connections();
    store.add_evaluation("a", evaluation_named("one"));
    end_connections();
    store.save_run(record_named("b"));  // a transaction
    end_connections();
    EXPECT_EQ(store.runs().size(), 2u);
    EXPECT_EQ(store.evaluations("a").size(), 1u);
    ASSERT_EQ(told.size(), 6u);
    EXPECT_THAT(told[0], ContainsRegex("^postgresql://strop@/postgres.* was lost .*; waiting for it, at most 5 s$"));
    EXPECT_THAT(told[1], ContainsRegex("^postgresql://strop@/postgres.* is back$"));
}

TEST_F(PostgresStore, WaitsForAServerThatGoesAway) {
    Store store(address_);
    std::vector<std::string> told;
    store.save_run(record_named("a"));
    store.be_patient(1ms);
    server_->stop();
    const std::string why = failure_of<LostStore>([&] { store.save_run(record_named("b")); });
    EXPECT_THAT(why, HasSubstr(address_.shown() + ": was lost and does not come back: "));
    EXPECT_THAT(why, HasSubstr(" | is the server up?"));
    store.be_patient(60s);
    std::thread save([&] {
        store.tell([&](const std::string& line) { told.push_back(line); });
        store.save_run(record_named("c"));
    });
    std::this_thread::sleep_for(100ms);
    EXPECT_TRUE(server_->start_again());  // which ends with the thread that started it
    save.join();
    EXPECT_EQ(told.size(), 2u) << "one line each, however often it was tried";
    EXPECT_EQ(store.runs().size(), 2u);
    EXPECT_TRUE(store.load_named("a")) << "nothing is lost";
}

TEST_F(PostgresStore, LockedByAnother) {
    Store store(address_, 30ms);
    store.save_run(record_named("r"));
    const std::unique_ptr<PGconn, void (*)(PGconn*)> other(PQconnectdb(address_.given().c_str()), PQfinish);
    PQclear(PQexec(other.get(), "BEGIN; UPDATE runs SET problem = 'x' WHERE run = 'r'"));
    EXPECT_THAT(failure_of<EnvironmentError>([&] { store.save_run(record_named("r")); }),
                HasSubstr("is locked by another process"));
    EXPECT_EQ(store.runs().size(), 1u) << "readers pass beside a writer";
    store.save_run(record_named("s"));
    PQclear(PQexec(other.get(), "COMMIT"));
    store.save_run(record_named("r"));
    EXPECT_EQ(store.runs("softmax").size(), 2u);
}

TEST_F(PostgresStore, OfTwoThatTakeTheSameNumberTheSecondTakesTheNext) {
    Store store(address_);
    const std::unique_ptr<PGconn, void (*)(PGconn*)> other(PQconnectdb(address_.given().c_str()), PQfinish);
    PQclear(PQexec(other.get(), "BEGIN; INSERT INTO evaluations VALUES ('r', 0, 'first', '{}')"));
    std::thread add([&] { store.add_evaluation("r", evaluation_named("second")); });
    const char* waiting =
        "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'strop' AND wait_event_type = 'Lock'";
    while (sql(waiting) == "0") std::this_thread::sleep_for(5ms);
    PQclear(PQexec(other.get(), "COMMIT"));
    add.join();
    EXPECT_EQ(sql("SELECT string_agg(key, ' ' ORDER BY sequence) FROM evaluations"), "first second");
}

// What one of them loses to the other is done again.
TEST_F(PostgresStore, TwoThatWaitForEachOtherBothEnd) {
    Store store(address_);
    const Digest digest = digest_of(record_named("r"));
    const size_t lessons = store.learn(digest).size();
    ASSERT_GE(lessons, 2u);
    const std::unique_ptr<PGconn, void (*)(PGconn*)> other(PQconnectdb(address_.given().c_str()), PQfinish);
    const std::string last =
        "UPDATE testimonies SET note = 'theirs' WHERE lesson = (SELECT max(lesson) FROM testimonies)";
    const std::string first =
        "UPDATE testimonies SET note = 'theirs' WHERE lesson = (SELECT min(lesson) FROM testimonies)";
    PQclear(PQexec(other.get(), "SET deadlock_timeout = '60s'"));  // ours notices it first
    PQclear(PQexec(other.get(), ("BEGIN; " + last).c_str()));
    std::thread learn([&] { store.learn(digest); });
    const char* waiting =
        "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'strop' AND wait_event_type = 'Lock'";
    while (sql(waiting) == "0") std::this_thread::sleep_for(5ms);
    PQclear(PQexec(other.get(), first.c_str()));
    PQclear(PQexec(other.get(), "COMMIT"));
    learn.join();
    EXPECT_EQ(store.lessons().size(), lessons);
    EXPECT_EQ(store.testimonies("r").size(), lessons);
}

TEST_F(PostgresStore, HasViewsForPeople) {
    Store store(address_);
    RunRecord record = record_named("r");
    record.evaluations = 2;
    store.save_run(record);
    Kernel kernel = fakes::sample_kernel("online+wide");
    kernel.strategy = "online";
    store.add_kernel("r", kernel);
    store.add_evaluation("r", evaluation_named("one"));
    EXPECT_EQ(sql("SELECT concat_ws('|', run, problem, machine, outcome, baseline, evaluations) FROM runs_view"),
              "r|softmax|" + record.machine.cpu + "|improved|onednn|2");
    const char* rows =
        "SELECT string_agg(concat_ws('|', problem, machine, strategy, kernel, configuration, shape, median_seconds, "
        "verdict), ' ' ORDER BY shape DESC) FROM evaluations_view WHERE run = 'r'";
    const std::string where = "softmax|" + record.machine.cpu + "|online|online+wide|{\"UNROLL\":8}|";
    EXPECT_EQ(sql(rows), where + "small|0.002|ok " + where + "large|wrong_output");
    // A zero byte, which no text of PostgreSQL can have, spoils no question.
    Evaluation zero = evaluation_named("zero");
    zero.evidence = std::string("a\0b", 3);
    record.note = zero.evidence;
    store.add_evaluation("r", zero);
    store.save_run(record);
    EXPECT_EQ(store.find_evaluation("r", "zero")->evidence, zero.evidence);
    EXPECT_EQ(store.load_named("r")->note, zero.evidence);
    EXPECT_EQ(sql("SELECT count(*) FROM evaluations_view"), "3");
    EXPECT_EQ(sql("SELECT count(verdict) FROM evaluations_view"), "2");
}

TEST_F(PostgresStore, TakesBytesThatAreNoText) {
    Store store(address_);
    store.save_run(record_named("odd\xff"));
    store.add_document("odd\xff", std::string("a\0b", 3), "{}");
    EXPECT_TRUE(store.load_named("odd\xff"));
    EXPECT_EQ(store.find_document("odd\xff", std::string("a\0b", 3)), "{}");
    EXPECT_EQ(store.runs().at(0).run, "odd\xef\xbf\xbd");
}

TEST_F(PostgresStore, AUserWhoMayOnlyRead) {
    Store(address_).save_run(record_named("r"));
    const std::string schema = sql("SELECT current_schema()");
    sql("CREATE ROLE reader_of_" + schema + " LOGIN; GRANT USAGE ON SCHEMA " + schema + " TO reader_of_" + schema +
        "; GRANT SELECT ON ALL TABLES IN SCHEMA " + schema + " TO reader_of_" + schema);
    Store store(server_->address("reader_of_" + schema, schema));
    EXPECT_EQ(store.runs().size(), 1u);
    const std::string why = failure_of<EnvironmentError>([&] { store.save_run(record_named("s")); });
    EXPECT_THAT(why, HasSubstr("permission denied for table runs | its owner may GRANT"));
    sql("DROP OWNED BY reader_of_" + schema + "; DROP ROLE reader_of_" + schema);
}

TEST_F(PostgresStore, AnEncodingThatCannotHoldAllTexts) {
    server_->sql("CREATE DATABASE latin ENCODING 'LATIN1' TEMPLATE template0 LC_COLLATE 'C' LC_CTYPE 'C'");
    std::string address = server_->address("strop", "public");
    address.replace(address.find("/postgres?"), 10, "/latin?");
    EXPECT_THAT(failure_of<EnvironmentError>([&] { Store store{StoreAddress(address)}; }),
                HasSubstr("its texts are in LATIN1 | createdb -T template0 -E UTF8"));
}

}  // namespace
}  // namespace strop
