// A store in a file.
#include <fmt/format.h>
#include <sqlite3.h>

#include <SQLiteCpp/SQLiteCpp.h>

#include "base/error.h"
#include "knowledge/connection.h"
#include "knowledge/sqlite_schema.h"

namespace strop {

namespace fs = std::filesystem;

namespace {

// Folders and files that SQLite would only call "unable to open database file".
void check_place(const fs::path& path) {
    std::error_code failed;
    if (fs::is_directory(path, failed))
        throw EnvironmentError(fmt::format("{}: is a folder, not a store", path.string()),
                               "name a file with --store or STROP_STORE");
    if (!path.has_parent_path()) return;
    fs::create_directories(path.parent_path(), failed);
    if (!fs::is_directory(path.parent_path()))
        throw EnvironmentError(fmt::format("{}: its folder cannot be created: {}", path.string(), failed.message()),
                               "choose another place with --store or STROP_STORE");
}

// What the database says, as an error that names the file and what to do.
EnvironmentError explain(const fs::path& path, const SQLite::Exception& error) {
    auto make = [&](const std::string& phrase, const std::string& hint) {
        return EnvironmentError(fmt::format("{}: {}", path.string(), phrase), hint);
    };
    const char* elsewhere = "choose another place with --store or STROP_STORE";
    switch (error.getErrorCode()) {
        case SQLITE_BUSY:
        case SQLITE_LOCKED:
            return make("is locked by another process",
                        "wait for the other run to finish, or give this one its own store with --store");
        case SQLITE_NOTADB:
        case SQLITE_CORRUPT: return make(fmt::format("is corrupt: {}", error.what()), "move it away to start afresh");
        case SQLITE_READONLY: return make("is read-only", elsewhere);
        case SQLITE_CANTOPEN: return make("cannot be opened or created", elsewhere);
        case SQLITE_FULL: return make("the disk is full", "free some disk space, then resume the run");
        case SQLITE_IOERR:
            return make(fmt::format("cannot be read or written: {}", error.what()),
                        "check the disk (free space, quota, file size limit), then resume the run");
        default: return make(fmt::format("the database failed: {}", error.what()), "move it away to start afresh");
    }
}

class SqliteRow : public Row {
public:
    explicit SqliteRow(SQLite::Statement& statement) : statement_(statement) {}
    std::string text(int column) const override { return statement_.getColumn(column).getString(); }
    int64_t integer(int column) const override { return statement_.getColumn(column).getInt64(); }
    double real(int column) const override { return statement_.getColumn(column).getDouble(); }

private:
    SQLite::Statement& statement_;
};

class SqliteConnection : public Connection {
public:
    SqliteConnection(const fs::path& path, std::chrono::milliseconds patience, Store::Access access) : path_(path) {
        if (access == Store::Access::write) check_place(path);
        const int how =
            access == Store::Access::write ? SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE : SQLite::OPEN_READONLY;
        guard([&] {
            database_ = std::make_unique<SQLite::Database>(path.string(), how | SQLite::OPEN_FULLMUTEX,
                                                           static_cast<int>(patience.count()));
            prepare_sqlite(*database_, *this, path, access);
        });
    }

    void query(const std::string& statement, const SqlValues& parameters, const RowReader& each) override {
        guard([&] {
            SQLite::Statement prepared(*database_, statement);
            for (size_t i = 0; i < parameters.size(); ++i)
                std::visit([&](const auto& value) { prepared.bind(static_cast<int>(i) + 1, value); }, parameters[i]);
            const SqliteRow row(prepared);
            while (prepared.executeStep()) each(row);
        });
    }

    void transaction(const std::function<void()>& work) override {
        guard([&] {
            SQLite::Transaction transaction(*database_, SQLite::TransactionBehavior::IMMEDIATE);
            work();
            transaction.commit();
        });
    }

    std::string now() const override { return "CAST(strftime('%s', 'now') AS INTEGER)"; }

    std::string contains(const std::string& column, const std::string& parameter) const override {
        return fmt::format("instr({}, {}) > 0", column, parameter);
    }

private:
    template <class Work>
    void guard(Work work) {
        try {
            work();
        } catch (const SQLite::Exception& error) {
            throw explain(path_, error);
        }
    }

    fs::path path_;
    std::unique_ptr<SQLite::Database> database_;
};

}  // namespace

std::unique_ptr<Connection> connect_sqlite(const fs::path& path, std::chrono::milliseconds patience,
                                           Store::Access access) {
    return std::make_unique<SqliteConnection>(path, patience, access);
}

}  // namespace strop
