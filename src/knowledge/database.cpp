#include "knowledge/database.h"

#include <fmt/format.h>
#include <sqlite3.h>

namespace strop {

namespace fs = std::filesystem;

namespace {

constexpr int store_version = 3;  // PRAGMA user_version

constexpr const char* create_tables = R"(
CREATE TABLE runs (
    run TEXT PRIMARY KEY, problem TEXT NOT NULL, started TEXT NOT NULL, outcome TEXT NOT NULL,
    speedup REAL NOT NULL, baseline TEXT NOT NULL, seconds REAL NOT NULL, evaluations INTEGER NOT NULL,
    result TEXT NOT NULL, record TEXT NOT NULL);
CREATE TABLE evaluations (
    run TEXT NOT NULL, sequence INTEGER NOT NULL, key TEXT NOT NULL, evaluation TEXT NOT NULL,
    PRIMARY KEY (run, sequence));
CREATE INDEX evaluations_by_key ON evaluations (run, key);
CREATE TABLE documents (
    run TEXT NOT NULL, key TEXT NOT NULL, document TEXT NOT NULL,
    PRIMARY KEY (run, key));
)";

// Since version 2. Runs of an older store have none: their problems were not traced into one.
constexpr const char* create_signatures = R"(
CREATE TABLE signatures (
    run TEXT PRIMARY KEY, signature TEXT NOT NULL, isa TEXT NOT NULL, cores INTEGER NOT NULL,
    operations TEXT NOT NULL);
CREATE INDEX signatures_by_isa ON signatures (isa);
)";

// Since version 3: what finished runs found, in short, so that questions need not read their records; lessons, and what
// runs say of them; runs that were to be imported and claim what cannot be.
constexpr const char* create_digests = R"(
CREATE TABLE digests (
    run TEXT PRIMARY KEY, started TEXT NOT NULL, origin TEXT NOT NULL, problem_hash TEXT NOT NULL,
    fingerprint TEXT NOT NULL, language TEXT NOT NULL, hardware TEXT NOT NULL, tags TEXT NOT NULL,
    digest TEXT NOT NULL, effects TEXT NOT NULL);
CREATE INDEX digests_by_words ON digests (started, language, hardware, tags, problem_hash, fingerprint, run);
CREATE INDEX digests_by_problem ON digests (problem_hash, fingerprint);
CREATE INDEX signatures_by_signature ON signatures (signature);
CREATE TABLE lessons (lesson TEXT PRIMARY KEY, origin TEXT NOT NULL, document TEXT NOT NULL);
CREATE TABLE testimonies (
    lesson TEXT NOT NULL, run TEXT NOT NULL, kind TEXT NOT NULL, note TEXT NOT NULL, PRIMARY KEY (lesson, run));
CREATE INDEX testimonies_by_run ON testimonies (run);
CREATE TABLE quarantine (run TEXT PRIMARY KEY, origin TEXT NOT NULL, reason TEXT NOT NULL, document TEXT NOT NULL);
)";

// So that a page of a long list reads no more than itself. Older versions keep them up to date without knowing them.
constexpr const char* create_indices = R"(
CREATE INDEX IF NOT EXISTS runs_by_start ON runs (started);
CREATE INDEX IF NOT EXISTS runs_by_problem ON runs (problem, started);
)";

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

int user_version(SQLite::Database& connection) { return connection.execAndGet("PRAGMA user_version").getInt(); }

// `path` is for the message: a database with tables and without a version is somebody else's.
void create_schema(SQLite::Database& connection, const fs::path& path) {
    SQLite::Transaction transaction(connection, SQLite::TransactionBehavior::IMMEDIATE);
    if (user_version(connection) != 0) return;  // another process was faster
    if (connection.execAndGet("SELECT count(*) FROM sqlite_master").getInt() > 0)
        throw EnvironmentError(fmt::format("{}: is another program's database", path.string()),
                               "choose another place with --store or STROP_STORE");
    connection.exec(create_tables);
    connection.exec(create_signatures);
    connection.exec(create_digests);
    connection.exec(fmt::format("PRAGMA user_version = {}", store_version));
    transaction.commit();
}

// What versions 1 and 2 have of it: finished runs, and the lessons that models drew, which were a line each.
void digest_older_runs(SQLite::Database& connection) {
    SQLite::Statement rows(connection, "SELECT record FROM runs WHERE outcome IN ('improved', 'no_improvement')");
    while (rows.executeStep()) {
        RunRecord record;
        try {
            record = Json::parse(rows.getColumn(0).getString()).get<RunRecord>();
        } catch (const Json::exception&) {
            continue;  // it stays as it is, and whoever asks for it is told
        } catch (const Error&) {
            continue;
        }
        put_digest(connection, record);
        for (const std::string& line : record.lessons) {
            Lesson lesson;
            lesson.when.problem = record.problem;
            lesson.what = line;
            lesson.author = "a model";
            put_lesson(connection, lesson, "");
            put_testimony(connection, {id_of(lesson), record.run, Testimony::Kind::drew, ""});
        }
    }
}

void bring_up_to_date(SQLite::Database& connection) {
    SQLite::Transaction transaction(connection, SQLite::TransactionBehavior::IMMEDIATE);
    const int version = user_version(connection);
    if (version == store_version) return;  // another process was faster
    if (version < 2) connection.exec(create_signatures);
    connection.exec(create_digests);
    digest_older_runs(connection);
    connection.exec(fmt::format("PRAGMA user_version = {}", store_version));
    transaction.commit();
}

}  // namespace

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

void Store::Database::open(std::chrono::milliseconds patience, Access access) {
    if (access == Access::write) check_place(path);
    const int how = access == Access::write ? SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE : SQLite::OPEN_READONLY;
    guard([&] {
        connection = std::make_unique<SQLite::Database>(path.string(), how | SQLite::OPEN_FULLMUTEX,
                                                        static_cast<int>(patience.count()));
        prepare(access);
    });
}

void Store::Database::prepare(Access access) {
    int version = user_version(*connection);
    if (version > store_version)
        throw EnvironmentError(fmt::format("{}: was written by a newer Strop (store version {}, this one knows {})",
                                           path.string(), version, store_version),
                               "update Strop, or choose another place with --store or STROP_STORE");
    if (access == Access::read) {
        if (version == store_version) return;
        throw EnvironmentError(version == 0 ? fmt::format("{}: is no store", path.string())
                                            : fmt::format("{}: was written by an older Strop", path.string()),
                               version == 0
                                   ? "`strop optimize --store FILE` makes one"
                                   : fmt::format("`strop runs --store {}` brings it up to date", path.string()));
    }
    // SQLite quietly falls back to reading when it may not write.
    if (sqlite3_db_readonly(connection->getHandle(), "main") == 1)
        throw EnvironmentError(fmt::format("{}: is read-only", path.string()),
                               "choose another place with --store or STROP_STORE");
    if (version == 0) create_schema(*connection, path);
    else if (version < store_version) bring_up_to_date(*connection);
    // Readers beside a writer. Refused while another process is in the middle of something, and then set by
    // the next one to open: the rollback journal is as durable.
    connection->tryExec("PRAGMA journal_mode = WAL");
    connection->exec("PRAGMA synchronous = FULL");  // outlives a power failure too
    connection->tryExec(create_indices);
}

std::optional<std::string> Store::Database::one_text(const char* query, const std::string& first,
                                                     const std::string& second) {
    return guard([&]() -> std::optional<std::string> {
        SQLite::Statement statement(*connection, query);
        statement.bind(1, first);
        statement.bind(2, second);
        if (!statement.executeStep()) return std::nullopt;
        return statement.getColumn(0).getString();
    });
}

}  // namespace strop
