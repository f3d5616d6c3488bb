// What tests write into a store, and what they expect of its errors.
#pragma once

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "base/file.h"
#include "fakes/sample_record.h"
#include "knowledge/store.h"

namespace strop::fakes {

class KnowledgeStore : public testing::Test {
protected:
    TemporaryFolder folder_{"strop-store"};
    fs::path path_ = folder_.path() / "strop.db";
};

inline Evaluation evaluation_named(const std::string& key) {
    Evaluation evaluation;
    evaluation.key = key;
    evaluation.kernel = "k";
    evaluation.evidence = "odd \xff bytes and 'quotes'";
    evaluation.points = {{{"small", {{"M", 4}}}, Verdict::ok, "", {{1, 2, 3}, 2, 1, 3, false}}};
    return evaluation;
}

inline RunRecord record_named(const std::string& run, const std::string& started = "2026-01-31T12:00:00Z") {
    RunRecord record = sample_record();
    record.run = run;
    record.started = started;
    return record;
}

// The error must name the path, and say what to do.
template <class Work>
void expect_environment_error(const StoreAddress& address, const std::string& phrase, Work work) {
    try {
        work();
        FAIL() << "no error, expected: " << phrase;
    } catch (const EnvironmentError& error) {
        EXPECT_THAT(error.what(), testing::HasSubstr(address.shown()));
        EXPECT_THAT(error.what(), testing::HasSubstr(phrase));
        EXPECT_FALSE(error.hint().empty());
    }
}

}  // namespace strop::fakes
