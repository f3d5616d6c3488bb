// A store that several use at once, that is locked, or whose writer dies.
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

TEST_F(KnowledgeStore, LockedByAnother) {
    Store store(path_, 30ms);
    SQLite::Database other(path_.string(), SQLite::OPEN_READWRITE);
    other.exec("BEGIN IMMEDIATE");
    expect_environment_error(path_, "locked by another process", [&] { store.save_run(record_named("r")); });
    EXPECT_TRUE(store.runs().empty()) << "readers pass beside a writer";
    other.exec("COMMIT");
    store.save_run(record_named("r"));
    EXPECT_EQ(store.runs().size(), 1u);
}

TEST_F(KnowledgeStore, LockedWhileOpening) {
    SQLite::Database other(path_.string(), SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE);
    other.exec("BEGIN EXCLUSIVE");
    expect_environment_error(path_, "locked by another process", [&] { Store store(path_, 30ms); });
}

TEST_F(KnowledgeStore, WaitsForALockThatIsGivenBack) {
    Store store(path_);
    SQLite::Database other(path_.string(), SQLite::OPEN_READWRITE);
    other.exec("BEGIN IMMEDIATE");
    std::thread release([&] {
        std::this_thread::sleep_for(100ms);
        other.exec("COMMIT");
    });
    EXPECT_NO_THROW(store.save_run(record_named("r")));
    release.join();
}

TEST_P(AnyStore, ManyOpenANewStoreAtOnce) {
    std::vector<std::thread> threads;
    for (int t = 0; t < 8; ++t)
        threads.emplace_back([&, t] {
            Store store(address_);
            for (int i = 0; i < 5; ++i) store.add_evaluation("r", evaluation_named(fmt::format("{}-{}", t, i)));
        });
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(Store(address_).evaluations("r").size(), 40u);
}

TEST_P(AnyStore, WritersOfTheSameLoseNothingAndWriteNothingTwice) {
    constexpr int writers = 4, rounds = 10;
    Store store(address_);
    const RunRecord record = record_named("r");
    const Digest digest = digest_of(record);
    std::vector<std::thread> threads;
    for (int t = 0; t < writers; ++t)
        threads.emplace_back([&, t] {
            Store own(address_);
            for (int i = 0; i < rounds; ++i) {
                own.save_run(record);
                own.add_document("r", "plan", std::to_string(t));
                own.add_evaluation("r", evaluation_named(fmt::format("{}-{}", t, i)));
                own.learn(digest);
            }
        });
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(store.runs().size(), 1u);
    EXPECT_EQ(store.digests().size(), 1u);
    EXPECT_EQ(store.documents("r").size(), 1u);
    const std::vector<Evaluation> kept = store.evaluations("r");
    std::set<std::string> keys;
    for (const Evaluation& evaluation : kept) keys.insert(evaluation.key);
    EXPECT_EQ(kept.size(), static_cast<size_t>(writers * rounds));
    EXPECT_EQ(keys.size(), kept.size());
    const size_t lessons = store.lessons().size();
    EXPECT_GT(lessons, 0u);
    EXPECT_EQ(store.testimonies("r").size(), lessons) << "one a lesson";
}

TEST_P(AnyStore, ReadersSeeWholeRecordsBesideAWriter) {
    auto numbered = [](int i) {
        RunRecord record = record_named("r");
        record.note = record.verification = std::to_string(i);
        return record;
    };
    Store writer(address_);
    writer.save_run(numbered(-1));
    std::atomic<bool> done = false;
    std::vector<std::thread> readers;
    std::atomic<int> wrong = 0;
    for (int t = 0; t < 3; ++t)
        readers.emplace_back([&] {
            Store store(address_);
            do {
                std::optional<RunRecord> record = store.load_run("r");
                if (!record || record->note != record->verification) ++wrong;
            } while (!done);
        });
    for (int i = 0; i < 30; ++i) writer.save_run(numbered(i));
    done = true;
    for (std::thread& thread : readers) thread.join();
    EXPECT_EQ(wrong, 0);
    EXPECT_EQ(Store(address_).load_run("r")->note, "29");
}

// Forks a child that adds evaluations and acknowledges each through a pipe.
pid_t start_writer(const StoreAddress& address, int acknowledge) {
    pid_t child = fork();
    if (child != 0) return child;
    try {
        Store store(address);
        for (int i = 0;; ++i) {
            store.add_evaluation("r", evaluation_named(std::to_string(i)));
            if (write(acknowledge, &i, sizeof i) != sizeof i) _exit(1);
        }
    } catch (...) {
        _exit(2);
    }
}

TEST_P(AnyStore, KilledWriterLosesNothingThatWasAcknowledged) {
    for (int wanted : {0, 7, 40}) {  // killed after so many
        address_ = place();
        int ends[2];
        ASSERT_EQ(pipe(ends), 0);
        pid_t child = start_writer(address_, ends[1]);
        ASSERT_GT(child, 0);
        close(ends[1]);
        int last = -1, acknowledged = 0;
        while (last < wanted && read(ends[0], &acknowledged, sizeof acknowledged) == sizeof acknowledged)
            last = acknowledged;
        kill(child, SIGKILL);
        int status = 0;
        waitpid(child, &status, 0);
        EXPECT_TRUE(WIFSIGNALED(status));
        while (read(ends[0], &acknowledged, sizeof acknowledged) == sizeof acknowledged) last = acknowledged;
        close(ends[0]);
        Store store(address_);
        std::vector<Evaluation> kept = store.evaluations("r");
        ASSERT_GE(static_cast<int>(kept.size()), last + 1);
        for (size_t i = 0; i < kept.size(); ++i) EXPECT_EQ(kept[i].key, std::to_string(i));
        EXPECT_GE(last, wanted);
    }
}

TEST_F(KnowledgeStore, DiskThatTakesNoMore) {
    Store(path_).save_run(record_named("r"));
    pid_t child = fork();
    if (child == 0) {
        signal(SIGXFSZ, SIG_IGN);
        rlimit limit{16384, 16384};
        setrlimit(RLIMIT_FSIZE, &limit);
        try {
            Store store(path_);
            for (int i = 0; i < 100; ++i) store.save_run(record_named("r" + std::to_string(i)));
            _exit(1);
        } catch (const EnvironmentError& error) {
            _exit(std::string(error.what()).find(path_.string()) != std::string::npos && !error.hint().empty() ? 0 : 2);
        }
    }
    int status = 0;
    waitpid(child, &status, 0);
    ASSERT_TRUE(WIFEXITED(status));
    EXPECT_EQ(WEXITSTATUS(status), 0);
    EXPECT_EQ(Store(path_).load_run("r")->run, "r") << "what was there is still there";
}

}  // namespace
}  // namespace strop
