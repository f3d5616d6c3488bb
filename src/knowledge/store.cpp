#include "knowledge/store.h"

#include <limits>

#include <fmt/format.h>

#include "base/error.h"
#include "base/strings.h"
#include "core/json.h"
#include "knowledge/database.h"

namespace strop {

namespace fs = std::filesystem;

namespace {

constexpr const char* kernel_prefix = "kernel:";  // of a document's key

// Of a run and a key. The plus keeps databases from going through all of a run's evaluations in their order.
constexpr const char* newest_evaluation =
    "SELECT evaluation FROM evaluations WHERE run = ?1 AND key = ?2 ORDER BY +sequence DESC LIMIT 1";

RunSummary summary_of(const Row& row) {
    RunSummary summary;
    summary.run = row.text(0);
    summary.problem = row.text(1);
    summary.started = row.text(2);
    summary.outcome = row.text(3);
    summary.speedup = row.real(4);
    summary.baseline = row.text(5);
    summary.seconds = row.real(6);
    summary.evaluations = static_cast<int>(row.integer(7));
    summary.result = row.text(8);
    summary.origin = row.text(9);
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

Store::Store(std::unique_ptr<Database> database) : database_(std::move(database)) {}

Store::Store(const StoreAddress& address, std::chrono::milliseconds patience, Access access)
    : database_(std::make_unique<Database>()) {
    database_->address = address;
    database_->connection = address.is_server() ? connect_postgres(address, patience, access, true)
                                                : connect_sqlite(address.file(), patience, access);
}

Store::~Store() = default;

std::unique_ptr<Store> Store::existing(const StoreAddress& address) {
    std::error_code failed;
    if (!address.is_server()) return fs::exists(address.file(), failed) ? std::make_unique<Store>(address) : nullptr;
    auto database = std::make_unique<Database>();
    database->address = address;
    database->connection = connect_postgres(address, usual_patience, Access::write, false);
    return database->connection ? std::unique_ptr<Store>(new Store(std::move(database))) : nullptr;
}

void Store::be_patient(std::chrono::milliseconds patience) { database_->connection->be_patient(patience); }

void Store::tell(std::function<void(const std::string&)> say) { database_->connection->tell(std::move(say)); }

void Store::save_run(const RunRecord& record) {
    const std::string text = dump(Json(record));
    const double speedup = record.shapes.empty() || record.headline_baseline.empty() ? 0.0 : record.headline.ratio;
    database_->connection->transaction([&] {
        database_->connection->execute(
            "INSERT INTO runs VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10) ON CONFLICT (run) DO UPDATE "
            "SET problem = excluded.problem, started = excluded.started, "
            "outcome = excluded.outcome, speedup = excluded.speedup, "
            "baseline = excluded.baseline, seconds = excluded.seconds, "
            "evaluations = excluded.evaluations, result = excluded.result, "
            "record = excluded.record",
            {record.run, record.problem, record.started, name_of(record.outcome), speedup, record.headline_baseline,
             record.seconds.total, record.evaluations, record.result, text});
        if (record.is_finished()) put_digest(*database_->connection, record);
    });
}

std::optional<RunRecord> Store::load_named(const std::string& run) {
    const std::optional<std::string> text =
        database_->connection->one_text("SELECT record FROM runs WHERE run = ?1", {run});
    if (!text) return std::nullopt;
    return database_->guard([&] { return Json::parse(*text).get<RunRecord>(); });
}

std::optional<RunRecord> Store::load_run(const std::string& run) {
    if (run.empty()) return std::nullopt;
    if (std::optional<RunRecord> record = load_named(run)) return record;
    std::vector<std::string> names;
    database_->connection->query("SELECT run FROM runs WHERE substr(run, 1, length(?1)) = ?1 ORDER BY run", {run},
                                 [&](const Row& row) { names.push_back(row.text(0)); });
    if (names.empty()) return std::nullopt;
    if (names.size() > 1)
        throw UsageError(fmt::format("'{}' begins the names of {} runs", run, names.size()),
                         fmt::format("give more letters: {}", join(names, ", ")));
    return load_named(names.front());
}

std::vector<RunSummary> Store::runs(const std::string& problem, int64_t skip, int64_t count) {
    SqlValues parameters = {count < 0 ? std::numeric_limits<int64_t>::max() : count, skip};
    if (!problem.empty()) parameters.push_back(problem);
    std::vector<RunSummary> summaries;
    database_->connection->query(
        fmt::format("SELECT run, problem, started, outcome, speedup, baseline, seconds, evaluations, result, "
                    "coalesce((SELECT origin FROM digests WHERE digests.run = runs.run), '') FROM runs "
                    "{} ORDER BY started DESC, rowid DESC LIMIT ?1 OFFSET ?2",
                    problem.empty() ? "" : "WHERE problem = ?3"),  // each with an index of its own
        parameters, [&](const Row& row) { summaries.push_back(summary_of(row)); });
    return summaries;
}

std::map<std::string, int64_t> Store::runs_by_problem() {
    std::map<std::string, int64_t> counts;
    database_->connection->query("SELECT problem, count(*) FROM runs GROUP BY problem", {},
                                 [&](const Row& row) { counts[row.text(0)] = row.integer(1); });
    return counts;
}

void Store::save_signature(const std::string& run, const Signature& signature, const Machine& machine) {
    database_->connection->execute(
        "INSERT INTO signatures VALUES (?1, ?2, ?3, ?4, ?5) ON CONFLICT (run) DO UPDATE SET signature = "
        "excluded.signature, isa = excluded.isa, cores = excluded.cores, operations = excluded.operations",
        {run, signature.exact, machine.isa, machine.cores, dump(Json(signature.operations))});
}

// What is there already as the newest of its key was written by a call whose answer was lost with the connection.
void Store::add_evaluations(const std::string& run, const std::vector<Evaluation>& evaluations) {
    const std::string statement = fmt::format(
        "INSERT INTO evaluations "
        "SELECT ?1, (SELECT coalesce(max(sequence) + 1, 0) FROM evaluations WHERE run = ?1), ?2, ?3 "
        "WHERE coalesce(({}), '') <> ?3",
        newest_evaluation);
    database_->connection->transaction([&] {
        for (const Evaluation& evaluation : evaluations)
            database_->connection->execute(statement, {run, evaluation.key, dump(Json(evaluation))});
    });
}

void Store::add_evaluation(const std::string& run, const Evaluation& evaluation) { add_evaluations(run, {evaluation}); }

std::optional<Evaluation> Store::find_evaluation(const std::string& run, const std::string& key) {
    const std::optional<std::string> text = database_->connection->one_text(newest_evaluation, {run, key});
    if (!text) return std::nullopt;
    return database_->guard([&] { return Json::parse(*text).get<Evaluation>(); });
}

std::vector<Evaluation> Store::evaluations(const std::string& run) {
    std::vector<Evaluation> evaluations;
    database_->guard([&] {
        database_->connection->query(
            "SELECT evaluation FROM evaluations WHERE run = ?1 ORDER BY sequence", {run},
            [&](const Row& row) { evaluations.push_back(Json::parse(row.text(0)).get<Evaluation>()); });
    });
    return evaluations;
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
    database_->connection->execute(
        "INSERT INTO documents VALUES (?1, ?2, ?3) ON CONFLICT (run, key) DO UPDATE SET document = excluded.document",
        {run, key, json_text});
}

std::optional<std::string> Store::find_document(const std::string& run, const std::string& key) {
    return database_->connection->one_text("SELECT document FROM documents WHERE run = ?1 AND key = ?2", {run, key});
}

std::map<std::string, std::string> Store::documents(const std::string& run, const std::string& prefix) {
    std::map<std::string, std::string> documents;
    database_->connection->query(
        "SELECT key, document FROM documents WHERE run = ?1 AND substr(key, 1, length(?2)) = ?2", {run, prefix},
        [&](const Row& row) { documents[row.text(0)] = row.text(1); });
    return documents;
}

}  // namespace strop
