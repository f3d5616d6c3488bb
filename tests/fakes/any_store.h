// A fixture for what every kind of store must do: a test has an empty place for one, in a file or on a server.
#pragma once

#include <SQLiteCpp/SQLiteCpp.h>
#include <gtest/gtest.h>

#include "base/file.h"
#include "fakes/postgres_server.h"
#include "knowledge/store.h"

namespace strop::fakes {

enum class Database { sqlite, postgres };

class AnyStore : public testing::TestWithParam<Database> {
protected:
    void SetUp() override {
        if (on_server() && !PostgresServer::instance())
            GTEST_SKIP() << "the programs of PostgreSQL are not installed: scripts/setup --tests";
        address_ = place();
    }

    bool on_server() const { return GetParam() == Database::postgres; }

    // Where there is no store yet.
    StoreAddress place() {
        if (on_server()) return PostgresServer::instance()->fresh();
        return folder_.path() / fmt::format("{}.db", ++places_);
    }

    // Behind the store's back.
    void sql(const std::string& statements) const {
        if (on_server()) PostgresServer::sql(address_.given(), statements);
        else SQLite::Database(address_.given(), SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE).exec(statements);
    }

    TemporaryFolder folder_{"strop-store"};
    StoreAddress address_;

private:
    int places_ = 0;
};

inline std::string name_of_database(const testing::TestParamInfo<Database>& info) {
    return info.param == Database::sqlite ? "SQLite" : "PostgreSQL";
}

inline auto every_database() { return testing::Values(Database::sqlite, Database::postgres); }

}  // namespace strop::fakes
