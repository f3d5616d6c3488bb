#include "knowledge/store.h"

#include <cstdlib>

#include <SQLiteCpp/SQLiteCpp.h>
#include <fmt/format.h>
#include <sqlite3.h>

#include "base/error.h"
#include "base/strings.h"
#include "core/json.h"

namespace strop {

namespace fs = std::filesystem;

namespace {

constexpr int store_version = 2;  // PRAGMA user_version

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

// Folders and files that SQLite would only call "unable to open database file".
void check_place(const fs::path& path) {
    std::error_code failed;
    if (fs::is_directory(path, failed))
        throw EnvironmentError(fmt::format("{}: is a folder, not a store", path.string()),
                               "name a file with --store or STROP_STORE");
    if (!path.has_parent_path()) return;
    fs::create_directories(path.parent_path(), failed);
    if (!fs::is_directory(path.parent_path()))
        throw EnvironmentError(
            fmt::format("{}: its folder cannot be created: {}", path.string(), failed.message()),
            "choose another place with --store or STROP_STORE");
}

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
        case SQLITE_CORRUPT:
            return make(fmt::format("is corrupt: {}", error.what()), "move it away to start afresh");
        case SQLITE_READONLY: return make("is read-only", elsewhere);
        case SQLITE_CANTOPEN: return make("cannot be opened or created", elsewhere);
        case SQLITE_FULL: return make("the disk is full", "free some disk space, then resume the run");
        case SQLITE_IOERR:
            return make(fmt::format("cannot be read or written: {}", error.what()),
                        "check the disk (free space, quota, file size limit), then resume the run");
        default:
            return make(fmt::format("the database failed: {}", error.what()), "move it away to start afresh");
    }
}

int user_version(SQLite::Database& connection) {
    return connection.execAndGet("PRAGMA user_version").getInt();
}

// `path` is for the message: a database with tables and without a version is somebody else's.
void create_schema(SQLite::Database& connection, const fs::path& path) {
    SQLite::Transaction transaction(connection, SQLite::TransactionBehavior::IMMEDIATE);
    if (user_version(connection) != 0) return;  // another process was faster
    if (connection.execAndGet("SELECT count(*) FROM sqlite_master").getInt() > 0)
        throw EnvironmentError(fmt::format("{}: is another program's database", path.string()),
                               "choose another place with --store or STROP_STORE");
    connection.exec(create_tables);
    connection.exec(create_signatures);
    connection.exec(fmt::format("PRAGMA user_version = {}", store_version));
    transaction.commit();
}

// From version 1.
void bring_up_to_date(SQLite::Database& connection) {
    SQLite::Transaction transaction(connection, SQLite::TransactionBehavior::IMMEDIATE);
    if (user_version(connection) == store_version) return;  // another process was faster
    connection.exec(create_signatures);
    connection.exec(fmt::format("PRAGMA user_version = {}", store_version));
    transaction.commit();
}

RunSummary summary_of(SQLite::Statement& row) {
    RunSummary summary;
    summary.run = row.getColumn(0).getString();
    summary.problem = row.getColumn(1).getString();
    summary.started = row.getColumn(2).getString();
    summary.outcome = row.getColumn(3).getString();
    summary.speedup = row.getColumn(4).getDouble();
    summary.baseline = row.getColumn(5).getString();
    summary.seconds = row.getColumn(6).getDouble();
    summary.evaluations = row.getColumn(7).getInt();
    summary.result = row.getColumn(8).getString();
    return summary;
}

}  // namespace

struct Store::Database {
    fs::path path;
    std::unique_ptr<SQLite::Database> connection;

    // Runs `work` and turns the database's exceptions into errors that name the path.
    template <class Work>
    auto guard(Work work) {
        try {
            return work();
        } catch (const SQLite::Exception& error) {
            throw explain(path, error);
        } catch (const Json::exception& error) {
            throw EnvironmentError(fmt::format("{}: is corrupt: {}", path.string(), error.what()),
                                   "move it away to start afresh");
        }
    }

    void open(std::chrono::milliseconds patience);
    void prepare();
    std::optional<std::string> one_text(const char* query, const std::string& first,
                                        const std::string& second);
};

void Store::Database::open(std::chrono::milliseconds patience) {
    check_place(path);
    guard([&] {
        connection = std::make_unique<SQLite::Database>(
            path.string(), SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE | SQLite::OPEN_FULLMUTEX,
            static_cast<int>(patience.count()));
        prepare();
    });
}

void Store::Database::prepare() {
    int version = user_version(*connection);
    if (version > store_version)
        throw EnvironmentError(
            fmt::format("{}: was written by a newer Strop (store version {}, this one knows {})",
                        path.string(), version, store_version),
            "update Strop, or choose another place with --store or STROP_STORE");
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

Store::Store(const fs::path& path, std::chrono::milliseconds patience)
    : database_(std::make_unique<Database>(Database{path, nullptr})) {
    database_->open(patience);
}

Store::~Store() = default;

fs::path Store::default_path() {
    const char* chosen = std::getenv("STROP_STORE");
    return chosen && *chosen ? fs::path(chosen) : fs::path("strop-out") / "strop.db";
}

void Store::save_run(const RunRecord& record) {
    std::string text = dump(Json(record));
    database_->guard([&] {
        SQLite::Statement statement(
            *database_->connection,
            "INSERT INTO runs VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (run) DO UPDATE "
            "SET problem = excluded.problem, started = excluded.started, "
            "outcome = excluded.outcome, speedup = excluded.speedup, "
            "baseline = excluded.baseline, seconds = excluded.seconds, "
            "evaluations = excluded.evaluations, result = excluded.result, "
            "record = excluded.record");
        statement.bind(1, record.run);
        statement.bind(2, record.problem);
        statement.bind(3, record.started);
        statement.bind(4, name_of(record.outcome));
        statement.bind(5, record.shapes.empty() || record.headline_baseline.empty() ? 0.0 : record.headline.ratio);
        statement.bind(6, record.headline_baseline);
        statement.bind(7, record.seconds.total);
        statement.bind(8, record.evaluations);
        statement.bind(9, record.result);
        statement.bind(10, text);
        statement.exec();
    });
}

std::optional<RunRecord> Store::load_run(const std::string& run) {
    if (run.empty()) return std::nullopt;
    return database_->guard([&]() -> std::optional<RunRecord> {
        SQLite::Statement statement(
            *database_->connection,
            "SELECT run, record FROM runs WHERE substr(run, 1, length(?1)) = ?1 ORDER BY run");
        statement.bind(1, run);
        std::vector<std::string> names;
        std::string text;
        while (statement.executeStep()) {
            names.push_back(statement.getColumn(0).getString());
            if (names.size() == 1) text = statement.getColumn(1).getString();
        }
        if (names.empty()) return std::nullopt;
        if (names.size() > 1 && names.front() != run)  // a name sorts before those that it begins
            throw UsageError(fmt::format("'{}' begins the names of {} runs", run, names.size()),
                             fmt::format("give more letters: {}", join(names, ", ")));
        return Json::parse(text).get<RunRecord>();
    });
}

std::vector<RunSummary> Store::runs(const std::string& problem) {
    return database_->guard([&] {
        SQLite::Statement statement(
            *database_->connection,
            "SELECT run, problem, started, outcome, speedup, baseline, seconds, evaluations, "
            "result FROM runs WHERE ?1 = '' OR problem = ?1 ORDER BY started DESC, rowid DESC");
        statement.bind(1, problem);
        std::vector<RunSummary> summaries;
        while (statement.executeStep()) summaries.push_back(summary_of(statement));
        return summaries;
    });
}

void Store::save_signature(const std::string& run, const Signature& signature, const Machine& machine) {
    database_->guard([&] {
        SQLite::Statement statement(*database_->connection,
                                    "INSERT OR REPLACE INTO signatures VALUES (?, ?, ?, ?, ?)");
        statement.bind(1, run);
        statement.bind(2, signature.exact);
        statement.bind(3, machine.isa);
        statement.bind(4, machine.cores);
        statement.bind(5, dump(Json(signature.operations)));
        statement.exec();
    });
}

std::vector<SignedRun> Store::signed_runs(const std::string& isa) {
    return database_->guard([&] {
        SQLite::Statement statement(
            *database_->connection,
            "SELECT run, problem, signature, operations, cores FROM signatures JOIN runs USING (run) "
            "WHERE (?1 = '' OR isa = ?1) AND outcome IN ('improved', 'no_improvement') ORDER BY started DESC, runs.rowid DESC");
        statement.bind(1, isa);
        std::vector<SignedRun> found;
        while (statement.executeStep()) {
            SignedRun& run = found.emplace_back();
            run.run = statement.getColumn(0).getString();
            run.problem = statement.getColumn(1).getString();
            run.signature.exact = statement.getColumn(2).getString();
            run.signature.operations =
                Json::parse(statement.getColumn(3).getString()).get<std::map<std::string, int>>();
            run.cores = statement.getColumn(4).getInt();
        }
        return found;
    });
}

void Store::add_evaluation(const std::string& run, const Evaluation& evaluation) {
    std::string text = dump(Json(evaluation));
    database_->guard([&] {
        SQLite::Statement statement(
            *database_->connection,
            "INSERT INTO evaluations SELECT ?1, coalesce(max(sequence) + 1, 0), ?2, ?3 "
            "FROM evaluations WHERE run = ?1");
        statement.bind(1, run);
        statement.bind(2, evaluation.key);
        statement.bind(3, text);
        statement.exec();
    });
}

std::optional<Evaluation> Store::find_evaluation(const std::string& run, const std::string& key) {
    std::optional<std::string> text = database_->one_text(
        "SELECT evaluation FROM evaluations WHERE run = ? AND key = ? ORDER BY sequence DESC LIMIT 1", run,
        key);
    if (!text) return std::nullopt;
    return database_->guard([&] { return Json::parse(*text).get<Evaluation>(); });
}

std::vector<Evaluation> Store::evaluations(const std::string& run) {
    return database_->guard([&] {
        SQLite::Statement statement(*database_->connection,
                                    "SELECT evaluation FROM evaluations WHERE run = ? ORDER BY sequence");
        statement.bind(1, run);
        std::vector<Evaluation> evaluations;
        while (statement.executeStep())
            evaluations.push_back(Json::parse(statement.getColumn(0).getString()).get<Evaluation>());
        return evaluations;
    });
}

void Store::add_document(const std::string& run, const std::string& key, const std::string& json_text) {
    database_->guard([&] {
        SQLite::Statement statement(*database_->connection,
                                    "INSERT OR REPLACE INTO documents VALUES (?, ?, ?)");
        statement.bind(1, run);
        statement.bind(2, key);
        statement.bind(3, json_text);
        statement.exec();
    });
}

std::optional<std::string> Store::find_document(const std::string& run, const std::string& key) {
    return database_->one_text("SELECT document FROM documents WHERE run = ? AND key = ?", run, key);
}

std::map<std::string, std::string> Store::documents(const std::string& run, const std::string& prefix) {
    return database_->guard([&] {
        SQLite::Statement statement(*database_->connection,
                                    "SELECT key, document FROM documents WHERE run = ? AND substr(key, 1, ?) = ?");
        statement.bind(1, run);
        statement.bind(2, static_cast<int64_t>(prefix.size()));
        statement.bind(3, prefix);
        std::map<std::string, std::string> documents;
        while (statement.executeStep())
            documents[statement.getColumn(0).getString()] = statement.getColumn(1).getString();
        return documents;
    });
}

}  // namespace strop
