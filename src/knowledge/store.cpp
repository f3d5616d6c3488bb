#include "knowledge/store.h"

#include <cstdlib>

#include <SQLiteCpp/SQLiteCpp.h>
#include <fmt/format.h>

#include "base/error.h"
#include "base/strings.h"
#include "core/json.h"
#include "knowledge/database.h"

namespace strop {

namespace fs = std::filesystem;

namespace {

constexpr const char* kernel_prefix = "kernel:";  // of a document's key

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
    summary.origin = row.getColumn(9).getString();
    return summary;
}

}  // namespace

std::string json(const std::vector<RunSummary>& runs) {
    Json document = Json::array();
    for (const RunSummary& run : runs)
        document.push_back({{"run", run.run},
                            {"problem", run.problem},
                            {"started", run.started},
                            {"outcome", run.outcome},
                            {"speedup", run.speedup},
                            {"baseline", run.baseline},
                            {"seconds", run.seconds},
                            {"evaluations", run.evaluations},
                            {"result", run.result},
                            {"origin", run.origin}});
    return dump(document, 2) + "\n";
}

Store::Store(const fs::path& path, std::chrono::milliseconds patience, Access access)
    : database_(std::make_unique<Database>(Database{path, nullptr})) {
    database_->open(patience, access);
}

Store::~Store() = default;

fs::path Store::default_path() {
    const char* chosen = std::getenv("STROP_STORE");
    return chosen && *chosen ? fs::path(chosen) : fs::path("strop-out") / "strop.db";
}

void Store::save_run(const RunRecord& record) {
    std::string text = dump(Json(record));
    database_->guard([&] {
        SQLite::Transaction transaction(*database_->connection, SQLite::TransactionBehavior::IMMEDIATE);
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
        if (record.is_finished()) put_digest(*database_->connection, record);
        transaction.commit();
    });
}

std::optional<RunRecord> Store::load_named(const std::string& run) {
    return database_->guard([&]() -> std::optional<RunRecord> {
        SQLite::Statement statement(*database_->connection, "SELECT record FROM runs WHERE run = ?");
        statement.bind(1, run);
        if (!statement.executeStep()) return std::nullopt;
        return Json::parse(statement.getColumn(0).getString()).get<RunRecord>();
    });
}

std::optional<RunRecord> Store::load_run(const std::string& run) {
    if (run.empty()) return std::nullopt;
    if (std::optional<RunRecord> record = load_named(run)) return record;
    const std::vector<std::string> names = database_->guard([&] {
        SQLite::Statement statement(*database_->connection,
                                    "SELECT run FROM runs WHERE substr(run, 1, length(?1)) = ?1 ORDER BY run");
        statement.bind(1, run);
        std::vector<std::string> found;
        while (statement.executeStep()) found.push_back(statement.getColumn(0).getString());
        return found;
    });
    if (names.empty()) return std::nullopt;
    if (names.size() > 1)
        throw UsageError(fmt::format("'{}' begins the names of {} runs", run, names.size()),
                         fmt::format("give more letters: {}", join(names, ", ")));
    return load_named(names.front());
}

std::vector<RunSummary> Store::runs(const std::string& problem, int64_t skip, int64_t count) {
    return database_->guard([&] {
        SQLite::Statement statement(
            *database_->connection,
            fmt::format("SELECT run, problem, started, outcome, speedup, baseline, seconds, evaluations, result, "
                        "coalesce((SELECT origin FROM digests WHERE digests.run = runs.run), '') FROM runs "
                        "{} ORDER BY started DESC, rowid DESC LIMIT ?2 OFFSET ?3",
                        problem.empty() ? "" : "WHERE problem = ?1"));  // each with an index of its own
        if (!problem.empty()) statement.bind(1, problem);
        statement.bind(2, count);
        statement.bind(3, skip);
        std::vector<RunSummary> summaries;
        while (statement.executeStep()) summaries.push_back(summary_of(statement));
        return summaries;
    });
}

std::map<std::string, int64_t> Store::runs_by_problem() {
    return database_->guard([&] {
        SQLite::Statement statement(*database_->connection, "SELECT problem, count(*) FROM runs GROUP BY problem");
        std::map<std::string, int64_t> counts;
        while (statement.executeStep()) counts[statement.getColumn(0).getString()] = statement.getColumn(1).getInt64();
        return counts;
    });
}

void Store::save_signature(const std::string& run, const Signature& signature, const Machine& machine) {
    database_->guard([&] {
        SQLite::Statement statement(*database_->connection, "INSERT OR REPLACE INTO signatures VALUES (?, ?, ?, ?, ?)");
        statement.bind(1, run);
        statement.bind(2, signature.exact);
        statement.bind(3, machine.isa);
        statement.bind(4, machine.cores);
        statement.bind(5, dump(Json(signature.operations)));
        statement.exec();
    });
}

void Store::add_evaluation(const std::string& run, const Evaluation& evaluation) {
    std::string text = dump(Json(evaluation));
    database_->guard([&] {
        SQLite::Statement statement(*database_->connection,
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
        "SELECT evaluation FROM evaluations WHERE run = ? AND key = ? ORDER BY sequence DESC LIMIT 1", run, key);
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

void Store::add_kernel(const std::string& run, const Kernel& kernel) {
    add_document(run, kernel_prefix + kernel.id, dump(Json(kernel)));
}

std::vector<Kernel> Store::kernels(const std::string& run) {
    std::vector<Kernel> kernels;
    for (const auto& [key, document] : documents(run, kernel_prefix))
        kernels.push_back(database_->guard([&] { return Json::parse(document).get<Kernel>(); }));
    return kernels;
}

void Store::add_document(const std::string& run, const std::string& key, const std::string& json_text) {
    database_->guard([&] {
        SQLite::Statement statement(*database_->connection, "INSERT OR REPLACE INTO documents VALUES (?, ?, ?)");
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
