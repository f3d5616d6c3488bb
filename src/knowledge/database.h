// The connection to the store's file: opening, versions, errors. Only the store's own files include this.
#pragma once

#include <chrono>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include <SQLiteCpp/SQLiteCpp.h>

#include "base/error.h"
#include "core/json.h"
#include "knowledge/store.h"

namespace strop {

// What the database says, as an error that names the file and what to do.
EnvironmentError explain(const std::filesystem::path& path, const SQLite::Exception& error);

struct Store::Database {
    std::filesystem::path path;
    std::unique_ptr<SQLite::Database> connection;

    // Runs `work` and turns the database's exceptions into errors that name the path.
    template <class Work>
    auto guard(Work work) {
        try {
            return work();
        } catch (const SQLite::Exception& error) {
            throw explain(path, error);
        } catch (const Json::exception& error) {
            throw EnvironmentError(path.string() + ": is corrupt: " + error.what(), "move it away to start afresh");
        }
    }

    void open(std::chrono::milliseconds patience, Access access);
    void prepare(Access access);
    std::optional<std::string> one_text(const char* query, const std::string& first, const std::string& second);
};

// One statement each; who calls them guards them.
void put_digest(SQLite::Database& connection, const RunRecord& record);
void put_lesson(SQLite::Database& connection, const Lesson& lesson, const std::string& origin);
void put_testimony(SQLite::Database& connection, const Testimony& testimony);

}  // namespace strop
