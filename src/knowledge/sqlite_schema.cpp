#include "knowledge/sqlite_schema.h"

#include <fmt/format.h>
#include <sqlite3.h>

#include "base/error.h"
#include "core/json.h"
#include "knowledge/database.h"

namespace strop {

namespace fs = std::filesystem;

namespace {

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

// Since version 4: which run does what several would do (Store::claim); a run's own name is a key too.
constexpr const char* create_claims = R"(
CREATE TABLE IF NOT EXISTS claims (
    key TEXT PRIMARY KEY, work TEXT NOT NULL, run TEXT NOT NULL, claimed INTEGER NOT NULL);
CREATE INDEX IF NOT EXISTS claims_by_work ON claims (work);
)";

// So that a page of a long list reads no more than itself. Older versions keep them up to date without knowing them.
constexpr const char* create_indices = R"(
CREATE INDEX IF NOT EXISTS runs_by_start ON runs (started);
CREATE INDEX IF NOT EXISTS runs_by_problem ON runs (problem, started);
)";

int user_version(SQLite::Database& database) { return database.execAndGet("PRAGMA user_version").getInt(); }

// `path` is for the message: a database with tables and without a version is somebody else's.
void create_schema(SQLite::Database& database, const fs::path& path) {
    SQLite::Transaction transaction(database, SQLite::TransactionBehavior::IMMEDIATE);
    if (user_version(database) != 0) return;  // another process was faster
    if (database.execAndGet("SELECT count(*) FROM sqlite_master").getInt() > 0)
        throw EnvironmentError(fmt::format("{}: is another program's database", path.string()),
                               "choose another place with --store or STROP_STORE");
    database.exec(create_tables);
    database.exec(create_signatures);
    database.exec(create_digests);
    database.exec(create_claims);
    database.exec(fmt::format("PRAGMA user_version = {}", store_version));
    transaction.commit();
}

// What versions 1 and 2 have of it: finished runs, and the lessons that models drew, which were a line each.
void digest_older_runs(Connection& connection) {
    auto digest = [&](const Row& row) {
        RunRecord record;
        try {
            record = Json::parse(row.text(0)).get<RunRecord>();
        } catch (const Json::exception&) {
            return;  // it stays as it is, and whoever asks for it is told
        } catch (const Error&) {
            return;
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
    };
    connection.query("SELECT record FROM runs WHERE outcome IN ('improved', 'no_improvement')", {}, digest);
}

void bring_up_to_date(SQLite::Database& database, Connection& connection) {
    SQLite::Transaction transaction(database, SQLite::TransactionBehavior::IMMEDIATE);
    const int version = user_version(database);
    if (version == store_version) return;  // another process was faster
    if (version < 2) database.exec(create_signatures);
    if (version < 3) {
        database.exec(create_digests);
        digest_older_runs(connection);
    }
    database.exec(create_claims);
    database.exec(fmt::format("PRAGMA user_version = {}", store_version));
    transaction.commit();
}

void check_readable(int version, const fs::path& path) {
    if (version == store_version) return;
    if (version == 0)
        throw EnvironmentError(fmt::format("{}: is no store", path.string()),
                               "`strop optimize --store FILE` makes one");
    throw EnvironmentError(fmt::format("{}: was written by an older Strop", path.string()),
                           fmt::format("`strop runs --store {}` brings it up to date", path.string()));
}

}  // namespace

void prepare_sqlite(SQLite::Database& database, Connection& connection, const fs::path& path, Store::Access access) {
    const int version = user_version(database);
    if (version > store_version)
        throw EnvironmentError(fmt::format("{}: was written by a newer Strop (store version {}, this one knows {})",
                                           path.string(), version, store_version),
                               "update Strop, or choose another place with --store or STROP_STORE");
    if (access == Store::Access::read) return check_readable(version, path);
    // SQLite quietly falls back to reading when it may not write.
    if (sqlite3_db_readonly(database.getHandle(), "main") == 1)
        throw EnvironmentError(fmt::format("{}: is read-only", path.string()),
                               "choose another place with --store or STROP_STORE");
    if (version == 0) create_schema(database, path);
    else if (version < store_version) bring_up_to_date(database, connection);
    // Readers beside a writer. Refused while another process is in the middle of something, and then set by
    // the next one to open: the rollback journal is as durable.
    database.tryExec("PRAGMA journal_mode = WAL");
    database.exec("PRAGMA synchronous = FULL");  // outlives a power failure too
    database.tryExec(create_indices);
    database.tryExec(create_claims);  // what is in it, may be lost
}

}  // namespace strop
