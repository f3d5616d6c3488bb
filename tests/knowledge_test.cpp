#include "knowledge/store.h"

#include <algorithm>
#include <atomic>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <set>
#include <thread>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/error.h"
#include "base/file.h"
#include "core/json.h"
#include "fakes/any_store.h"
#include "fakes/store_entries.h"
#include "knowledge/digest.h"

namespace strop {
namespace {

using namespace std::chrono_literals;
using fakes::AnyStore;
using fakes::evaluation_named;
using fakes::expect_environment_error;
using fakes::KnowledgeStore;
using fakes::record_named;
using testing::HasSubstr;

INSTANTIATE_TEST_SUITE_P(Of, AnyStore, fakes::every_database(), fakes::name_of_database);

TEST_P(AnyStore, KeepsRunsAcrossOpening) {
    RunRecord record = record_named("softmax-1");
    Store(address_).save_run(record);
    std::optional<RunRecord> loaded = Store(address_).load_run("softmax-1");
    ASSERT_TRUE(loaded);
    EXPECT_EQ(Json(*loaded), Json(record));
}

TEST_F(KnowledgeStore, CreatesMissingFolders) {
    fs::path deep = folder_.path() / "a" / "b" / "strop.db";
    Store(deep).save_run(record_named("r"));
    EXPECT_TRUE(fs::exists(deep));
}

TEST_P(AnyStore, SavingAgainReplaces) {
    Store store(address_);
    RunRecord record = record_named("r");
    record.outcome = Outcome::running;
    store.save_run(record);
    record.outcome = Outcome::improved;
    store.save_run(record);
    ASSERT_EQ(store.runs().size(), 1u);
    EXPECT_EQ(store.runs()[0].outcome, "improved");
    EXPECT_EQ(store.load_run("r")->outcome, Outcome::improved);
}

TEST_P(AnyStore, ListsRunsNewestFirst) {
    Store store(address_);
    store.save_run(record_named("old", "2026-01-01T00:00:00Z"));
    store.save_run(record_named("new", "2026-03-01T00:00:00Z"));
    RunRecord other = record_named("other", "2026-02-01T00:00:00Z");
    other.problem = "layernorm";
    other.shapes.clear();
    store.save_run(other);
    std::vector<RunSummary> all = store.runs();
    ASSERT_EQ(all.size(), 3u);
    EXPECT_EQ(all[0].run, "new");
    EXPECT_EQ(all[1].run, "other");
    EXPECT_EQ(all[2].run, "old");
    EXPECT_EQ(all[1].speedup, 0);
    EXPECT_GT(all[0].speedup, 0);
    EXPECT_EQ(all[0].baseline, "onednn");
    EXPECT_EQ(all[0].evaluations, 60);
    EXPECT_EQ(all[0].seconds, 92.4);
    EXPECT_EQ(all[0].result, "/home/user/strop-out/softmax");
    ASSERT_EQ(store.runs("layernorm").size(), 1u);
    EXPECT_TRUE(store.runs("nothing").empty());
}

TEST_P(AnyStore, ListsPartsOfALongList) {
    Store store(address_);
    for (int i = 0; i < 5; ++i) {
        RunRecord record = record_named(fmt::format("run-{}", i), fmt::format("2026-01-01T00:00:0{}Z", i));
        if (i % 2) record.problem = "layernorm";
        store.save_run(record);
    }
    auto names = [](const std::vector<RunSummary>& runs) {
        std::string text;
        for (const RunSummary& run : runs) text += run.run.back();
        return text;
    };
    EXPECT_EQ(names(store.runs({}, 1, 2)), "32");
    EXPECT_EQ(names(store.runs({}, 4, 2)), "0");
    EXPECT_EQ(names(store.runs("layernorm", 1)), "1");
    EXPECT_TRUE(store.runs({}, 9, 2).empty());
    EXPECT_EQ(store.runs_by_problem(), (std::map<std::string, int64_t>{{"layernorm", 2}, {"softmax", 3}}));
}

TEST_P(AnyStore, KeepsEveryKernelOfARun) {
    Store store(address_);
    store.add_kernel("a", fakes::sample_kernel("one"));
    store.add_kernel("a", fakes::sample_kernel("two+more"));
    store.add_kernel("a", fakes::sample_kernel("one"));
    store.add_kernel("b", fakes::sample_kernel("three"));
    const std::vector<Kernel> kernels = store.kernels("a");
    ASSERT_EQ(kernels.size(), 2u);
    EXPECT_EQ(Json(kernels[1]), Json(fakes::sample_kernel("two+more")));
    EXPECT_TRUE(store.kernels("none").empty());
}

TEST_P(AnyStore, FindsRunsByUniquePrefix) {
    Store store(address_);
    store.save_run(record_named("softmax-1"));
    store.save_run(record_named("softmax-12"));
    store.save_run(record_named("gemm-1"));
    EXPECT_EQ(store.load_run("gem")->run, "gemm-1");
    EXPECT_EQ(store.load_run("softmax-1")->run, "softmax-1") << "a whole name wins over those that it begins";
    EXPECT_EQ(store.load_run("softmax-12")->run, "softmax-12");
    EXPECT_FALSE(store.load_named("gem"));
    EXPECT_FALSE(store.load_run("conv"));
    EXPECT_FALSE(store.load_run(""));
    EXPECT_FALSE(store.load_run("%"));
    EXPECT_FALSE(store.load_run("softmax-123"));
    try {
        store.load_run("soft");
        FAIL();
    } catch (const UsageError& error) {
        EXPECT_THAT(error.what(), HasSubstr("'soft'"));
        EXPECT_THAT(error.hint(), HasSubstr("softmax-1, softmax-12"));
    }
}

TEST_P(AnyStore, KeepsEvaluationsInOrderAndApartByRun) {
    Store store(address_);
    for (const char* key : {"c", "a", "b"}) store.add_evaluation("r", evaluation_named(key));
    store.add_evaluation("other", evaluation_named("z"));
    std::vector<Evaluation> found = store.evaluations("r");
    ASSERT_EQ(found.size(), 3u);
    EXPECT_EQ(found[0].key, "c");
    EXPECT_EQ(found[1].key, "a");
    EXPECT_EQ(found[2].key, "b");
    EXPECT_EQ(found[0].nanoseconds("small"), 2);
    EXPECT_TRUE(store.evaluations("none").empty());
    EXPECT_TRUE(store.find_evaluation("r", "a"));
    EXPECT_FALSE(store.find_evaluation("r", "z"));
}

TEST_P(AnyStore, TheNewerOfTwoEvaluationsIsFound) {
    Store store(address_);
    Evaluation evaluation = evaluation_named("a");
    store.add_evaluation("r", evaluation);
    evaluation.verdict = Verdict::timed_out;
    store.add_evaluation("r", evaluation);
    EXPECT_EQ(store.find_evaluation("r", "a")->verdict, Verdict::timed_out);
    EXPECT_EQ(store.evaluations("r").size(), 2u);
}

TEST_P(AnyStore, TheSameEvaluationAgainIsOne) {
    Store store(address_);
    Evaluation first = evaluation_named("a"), second = first;
    second.time_seconds = 2;
    for (const Evaluation& evaluation : {first, first, second, first}) store.add_evaluation("r", evaluation);
    EXPECT_EQ(store.evaluations("r").size(), 3u);
    EXPECT_EQ(store.find_evaluation("r", "a")->time_seconds, 0);
}

TEST_P(AnyStore, KeepsDocuments) {
    Store store(address_);
    store.add_document("r", "plan", "{\"a\": 1}");
    EXPECT_EQ(store.find_document("r", "plan"), "{\"a\": 1}");
    store.add_document("r", "plan", "[]");
    EXPECT_EQ(store.find_document("r", "plan"), "[]");
    EXPECT_FALSE(store.find_document("r", "other"));
    EXPECT_FALSE(store.find_document("s", "plan"));
    store.add_document("r", "kernel:ü", "1");
    EXPECT_EQ(store.documents("r", "kernel:ü").size(), 1u);
    EXPECT_EQ(store.documents("r", "%").size(), 0u);
    EXPECT_EQ(store.documents("r").size(), 2u);
}

TEST_F(KnowledgeStore, DefaultPathComesFromTheEnvironment) {
    setenv("STROP_STORE", "/somewhere/x.db", 1);
    EXPECT_EQ(StoreAddress::standard().given(), "/somewhere/x.db");
    setenv("STROP_STORE", "", 1);
    EXPECT_EQ(StoreAddress::standard().given(), "strop-out/strop.db");
    unsetenv("STROP_STORE");
    EXPECT_EQ(StoreAddress::standard().given(), "strop-out/strop.db");
}

TEST_F(KnowledgeStore, FolderInItsPlace) {
    fs::create_directory(path_);
    expect_environment_error(path_, "is a folder", [&] { Store store(path_); });
}

TEST_F(KnowledgeStore, FileInTheFoldersPlace) {
    write_file(folder_.path() / "file", "x");
    fs::path below = folder_.path() / "file" / "strop.db";
    expect_environment_error(below, "folder cannot be created", [&] { Store store(below); });
}

TEST_F(KnowledgeStore, FolderThatTakesNoFiles) {
    expect_environment_error("/proc/strop.db", "cannot be opened or created", [] { Store store("/proc/strop.db"); });
}

// Root may write anywhere: become somebody else for the life of this object.
class Unprivileged {
public:
    Unprivileged() : became_(geteuid() == 0 && seteuid(65534) == 0) {}
    ~Unprivileged() {
        if (became_ && seteuid(0) != 0) std::abort();
    }
    bool holds() const { return geteuid() != 0; }

private:
    bool became_;
};

TEST_F(KnowledgeStore, ReadOnlyFile) {
    Store(path_).save_run(record_named("r"));
    chmod(path_.c_str(), 0444);
    chmod(folder_.path().c_str(), 0777);
    Unprivileged nobody;
    if (!nobody.holds()) GTEST_SKIP() << "root that cannot become somebody else";
    expect_environment_error(path_, "is read-only", [&] { Store store(path_); });
}

TEST_F(KnowledgeStore, ReadOnlyFolder) {
    chmod(folder_.path().c_str(), 0555);
    {
        Unprivileged nobody;
        if (!nobody.holds()) GTEST_SKIP() << "root that cannot become somebody else";
        expect_environment_error(path_, "cannot be opened or created", [&] { Store store(path_); });
        fs::path deeper = folder_.path() / "new" / "strop.db";
        expect_environment_error(deeper, "folder cannot be created", [&] { Store store(deeper); });
    }
    chmod(folder_.path().c_str(), 0755);
}

TEST_P(AnyStore, NewerVersion) {
    {
        Store store(address_);
        sql(on_server() ? "UPDATE strop_store SET version = 99" : "PRAGMA user_version = 99");
    }
    expect_environment_error(address_, "newer Strop (store version 99", [&] { Store store(address_); });
}

// As stores were before there were claims (3), before there were digests (2), and before there were signatures (1).
void make_older(const fs::path& path, int version) {
    SQLite::Database database(path.string(), SQLite::OPEN_READWRITE);
    database.exec("DROP TABLE claims");
    if (version < 3) {
        for (const char* table : {"digests", "lessons", "testimonies", "quarantine"})
            database.exec(fmt::format("DROP TABLE {}", table));
        database.exec("DROP INDEX signatures_by_signature");
    }
    if (version < 2) database.exec("DROP TABLE signatures");
    database.exec(fmt::format("PRAGMA user_version = {}", version));
}

TEST_F(KnowledgeStore, OlderVersionIsBroughtUpToDateWithAllItsRuns) {
    for (int version : {1, 2}) {
        for (const char* suffix : {"", "-wal", "-shm"}) fs::remove(path_.string() + suffix);
        RunRecord old = record_named("old"), running = record_named("running");
        old.lessons = {"small rows: keep them in registers"};
        running.outcome = Outcome::running;
        {
            Store store(path_);
            for (const RunRecord& record : {old, running, record_named("damaged")}) store.save_run(record);
            store.add_evaluation("old", evaluation_named("a"));
            SQLite::Database(path_.string(), SQLite::OPEN_READWRITE)
                .exec("UPDATE runs SET record = '{' WHERE run = 'damaged'");
        }
        make_older(path_, version);
        Store store(path_);
        EXPECT_EQ(store.runs().size(), 3u);
        EXPECT_EQ(Json(*store.load_run("old")), Json(old));
        EXPECT_EQ(store.evaluations("old").size(), 1u);
        ASSERT_EQ(store.digests().size(), 1u);
        EXPECT_EQ(store.digests()[0].run, "old");
        ASSERT_EQ(store.lessons().size(), 1u);
        EXPECT_EQ(store.lessons()[0].lesson.what, old.lessons[0]);
        EXPECT_EQ(store.lessons()[0].lesson.when.problem, "softmax");
        const Signature signature{"abc", {{"pointwise exp", 2}}};
        EXPECT_TRUE(store.relatives(signature, 0.5).empty());
        store.save_signature("old", signature, fakes::sample_machine());
        EXPECT_EQ(Store(path_).relatives(signature, 0.5).size(), 1u);
    }
}

constexpr Seconds lasting{100}, recent{1000};

std::string states(const std::vector<Claim>& claims) {
    std::string text;
    for (const Claim& claim : claims)
        text += claim.state == Claim::State::mine ? 'm' : claim.state == Claim::State::done ? 'd' : 'o';
    return text;
}

TEST_P(AnyStore, WhatOneRunHasClaimedIsNobodyElses) {
    Store store(address_);
    const std::vector<std::string> keys = {"d", "b", "c", "a"};
    EXPECT_EQ(states(store.claim("one", "work", keys, 2, lasting, recent)), "mmoo");
    EXPECT_EQ(states(store.claim("two", "work", keys, 3, lasting, recent)), "oomm");
    EXPECT_EQ(states(store.claim("one", "work", keys, 4, lasting, recent)), "mmoo") << "killed and resumed";
    store.add_evaluation("one", evaluation_named("d"));
    const std::vector<Claim> claims = store.claim("two", "work", keys, 4, lasting, recent);
    EXPECT_EQ(states(claims), "domm");
    EXPECT_EQ(claims[0].run, "one");
    EXPECT_EQ(claims[0].evaluation->key, "d");
    EXPECT_EQ(claims[0].evaluation->points.at(0).time.samples_ns.size(), 3u);
    store.give_up("one", keys);  // what is done stays
    EXPECT_EQ(states(store.claim("two", "work", keys, 4, lasting, recent)), "dmmm");
}

TEST_P(AnyStore, ClaimsEnd) {
    Store store(address_);
    store.add_evaluation("one", evaluation_named("done"));
    EXPECT_EQ(states(store.claim("one", "work", {"done", "lost"}, 2, lasting, recent)), "mm");
    sql("UPDATE claims SET claimed = claimed - 101");
    EXPECT_EQ(states(store.claim("two", "work", {"done", "lost"}, 2, lasting, recent)), "dm");
    sql("UPDATE claims SET claimed = claimed - 1001");
    EXPECT_EQ(states(store.claim("three", "work", {"done", "lost"}, 2, lasting, recent)), "mm") << "too long ago";
}

TEST_P(AnyStore, AClaimForOtherWorkIsNone) {
    Store store(address_);
    store.add_evaluation("one", evaluation_named("a"));
    EXPECT_EQ(states(store.claim("one", "work of yesterday's judge", {"a"}, 1, lasting, recent)), "m");
    EXPECT_EQ(states(store.claim("two", "work", {"a"}, 1, lasting, recent)), "m");
    EXPECT_EQ(states(store.claim("one", "work", {"a"}, 1, lasting, recent)), "o");
}

TEST_F(KnowledgeStore, LostClaimsAreNoLoss) {
    Store(path_).save_run(record_named("r"));
    SQLite::Database(path_.string(), SQLite::OPEN_READWRITE).exec("DROP TABLE claims");
    Store store(path_);
    EXPECT_EQ(store.others_at("one", "work", lasting), 0);
    EXPECT_EQ(store.runs().size(), 1u);
}

TEST_P(AnyStore, RunsAtTheSameWorkSeeEachOther) {
    Store store(address_);
    EXPECT_EQ(store.others_at("one", "work", lasting), 0);
    EXPECT_EQ(store.others_at("two", "work", lasting), 1);
    EXPECT_EQ(store.others_at("three", "other work", lasting), 0);
    EXPECT_EQ(store.others_at("one", "work", lasting), 1);
    sql("UPDATE claims SET claimed = claimed - 101");
    EXPECT_EQ(store.others_at("two", "work", lasting), 0);
}

TEST_P(AnyStore, OfManyThatClaimAtOnceEachKeyHasOne) {
    Store(address_).runs();
    std::vector<std::string> keys;
    for (int i = 0; i < 30; ++i) keys.push_back(fmt::format("key {}", i));
    std::vector<std::vector<Claim>> claims(4);
    std::vector<std::thread> threads;
    for (size_t t = 0; t < claims.size(); ++t)
        threads.emplace_back([&, t] {
            Store store(address_);
            std::vector<std::string> turned = keys;
            std::rotate(turned.begin(), turned.begin() + static_cast<std::ptrdiff_t>(7 * t), turned.end());
            claims[t] = store.claim(fmt::format("run {}", t), "work", turned, 12, lasting, recent);
        });
    for (std::thread& thread : threads) thread.join();
    size_t owned = 0;
    for (const std::vector<Claim>& one : claims) owned += static_cast<size_t>(std::ranges::count(states(one), 'm'));
    EXPECT_EQ(owned, keys.size());
}

TEST_F(KnowledgeStore, OfTheVersionBeforeThereWereClaims) {
    {
        Store store(path_);
        store.save_run(record_named("old"));
        store.add_evaluation("old", evaluation_named("a"));
    }
    make_older(path_, 3);
    Store store(path_);
    EXPECT_EQ(store.evaluations("old").size(), 1u);
    EXPECT_EQ(store.digests().size(), 1u);
    EXPECT_EQ(store.others_at("new", "work", lasting), 0);
}

TEST_P(AnyStore, ReadsOnlyWhatIsThereAndUpToDate) {
    auto open = [&] { Store store(address_, 30ms, Store::Access::read); };
    expect_environment_error(address_, on_server() ? "holds no store" : "cannot be opened", open);
    EXPECT_FALSE(Store::existing(address_));
    Store(address_).save_run(record_named("r"));
    ASSERT_TRUE(Store::existing(address_));
    EXPECT_EQ(Store::existing(address_)->runs().size(), 1u);
    EXPECT_EQ(Store(address_, 30ms, Store::Access::read).runs().size(), 1u);
    Store reader(address_, 30ms, Store::Access::read);
    expect_environment_error(address_, "is read-only", [&] { reader.save_run(record_named("s")); });
    sql(on_server() ? "UPDATE strop_store SET version = 2" : "PRAGMA user_version = 2");
    expect_environment_error(address_, "older Strop", open);
}

TEST_P(AnyStore, GivesFinishedRunsThatComputeAlike) {
    Store store(address_);
    const Signature exact{"abc", {{"pointwise exp", 2}}}, near{"def", {{"pointwise exp", 2}, {"pointwise log", 1}}};
    RunRecord running = record_named("running");
    running.outcome = Outcome::running;
    store.save_run(running);
    for (const char* run : {"old", "new", "near", "far"})
        store.save_run(record_named(run, run == std::string("old") ? "2026-01-01T00:00:00Z" : "2026-03-01T00:00:00Z"));
    for (const char* run : {"running", "old", "new"}) store.save_signature(run, exact, fakes::sample_machine());
    store.save_signature("near", near, fakes::sample_machine());
    store.save_signature("far", {"ghi", {{"contraction ab bc ac", 1}}}, fakes::sample_machine());
    const std::vector<Relative> found = store.relatives(exact, 0.5, "avx2");
    ASSERT_EQ(found.size(), 3u);
    EXPECT_EQ(found[0].run, "new");
    EXPECT_EQ(found[0].similarity, 1);
    EXPECT_EQ(found[0].cores, 2);
    EXPECT_EQ(found[1].run, "old");
    EXPECT_EQ(found[2].run, "near");
    EXPECT_TRUE(store.relatives(exact, 0.5, "neon").empty());
    EXPECT_EQ(store.relatives(exact, 0.5).size(), 3u);
    EXPECT_EQ(store.signature("near")->operations, near.operations);
    EXPECT_FALSE(store.signature("none"));
}

TEST_P(AnyStore, FindsDigestsByHardwareTagsAndLanguage) {
    Store store(address_);
    RunRecord here = record_named("here"), neon = record_named("neon");
    here.tags = {"Reduction", "rows"};
    neon.machine.isa = "neon";
    neon.machine.cpu = "Other CPU";
    store.save_run(here);
    store.save_run(neon);
    auto found = [&](const DigestQuery& query) {
        std::string runs;
        for (const Digest& digest : store.digests(query)) runs += digest.run + " ";
        return runs;
    };
    EXPECT_EQ(found({}), "neon here ");
    EXPECT_EQ(found({"AVX2 example"}), "here ");
    EXPECT_EQ(found({"example neon"}), "");
    EXPECT_EQ(found({"", {"rows", "softmax", "reduction"}}), "here ");
    EXPECT_EQ(found({"", {"row"}}), "") << "whole words";
    EXPECT_EQ(found({"", {"row_reduction"}}), "neon here ") << "a family";
    EXPECT_EQ(found({"", {}, "opencl"}), "");
    EXPECT_EQ(found({"", {"%"}}), "");
    EXPECT_EQ(Json(*store.digest("here")), Json(digest_of(here)));
    DigestQuery one;
    one.count = 1;
    EXPECT_EQ(found(one), "neon ");
}

TEST_P(AnyStore, AnotherProgramsDatabase) {
    sql("CREATE TABLE runs (a integer)");
    expect_environment_error(address_, "another program", [&] { Store store(address_); });
}

TEST_F(KnowledgeStore, Garbage) {
    write_file(path_, std::string(8192, 'x'));
    expect_environment_error(path_, "is corrupt", [&] { Store store(path_); });
}

TEST_F(KnowledgeStore, DamagedPages) {
    {
        Store store(path_);
        for (int i = 0; i < 200; ++i) store.add_evaluation("r", evaluation_named(std::to_string(i)));
    }
    {
        std::fstream file(path_, std::ios::in | std::ios::out | std::ios::binary);
        file.seekp(4096);
        file << std::string(fs::file_size(path_) - 4096, '\x5a');
    }
    expect_environment_error(path_, "is corrupt", [&] { Store(path_).evaluations("r"); });
}

TEST_P(AnyStore, DamagedText) {
    Store store(address_);
    store.save_run(record_named("r"));
    sql("UPDATE digests SET digest = '{'");
    expect_environment_error(address_, "is corrupt", [&] { store.digests(); });
}

TEST_F(KnowledgeStore, DamagedRecord) {  // a server takes none
    Store store(path_);
    store.save_run(record_named("r"));
    SQLite::Database(path_.string(), SQLite::OPEN_READWRITE).exec("UPDATE runs SET record = '{\"run\": '");
    expect_environment_error(path_, "is corrupt", [&] { store.load_run("r"); });
}

}  // namespace
}  // namespace strop
