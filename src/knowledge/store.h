// The SQLite file that holds runs and evaluations; the only user of the database. A run killed at any moment
// resumes from it with nothing lost and nothing paid twice: each call is its own durable transaction.
#pragma once

#include <chrono>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/evaluation.h"
#include "core/record.h"
#include "core/signature.h"

namespace strop {

struct RunSummary {
    std::string run, problem, started, outcome;
    double speedup = 0;    // headline ratio; 0: none
    std::string baseline;  // of the headline
    double seconds = 0;
    int evaluations = 0;
    std::string result;  // the folder
};

// A finished run by what its problem computes.
struct SignedRun {
    std::string run, problem;
    Signature signature;
    int cores = 0;
};

class Store {
public:
    // Opens or creates. Errors (all EnvironmentErrors naming the path, with a hint): read-only, locked by
    // another process for longer than `patience`, corrupt ("move it away to start afresh"), written by a
    // newer Strop, full disk. A store of an older Strop is brought up to date and keeps all its runs.
    explicit Store(const std::filesystem::path& path,
                   std::chrono::milliseconds patience = std::chrono::seconds(5));
    ~Store();
    Store(const Store&) = delete;
    Store& operator=(const Store&) = delete;

    // $STROP_STORE, else ./strop-out/strop.db
    static std::filesystem::path default_path();

    void save_run(const RunRecord& record);  // inserts or replaces by RunRecord::run
    std::optional<RunRecord> load_run(
        const std::string& run);  // also by unique prefix; UsageError when ambiguous
    std::vector<RunSummary> runs(const std::string& problem = {});  // newest first

    void save_signature(const std::string& run, const Signature& signature, const Machine& machine);
    // That came to their end on machines of this instruction set (empty: of any), newest first.
    std::vector<SignedRun> signed_runs(const std::string& isa = {});

    // Evaluations of one run, in the order they were added; of two with the same key, find gives the newer.
    void add_evaluation(const std::string& run, const Evaluation& evaluation);
    std::optional<Evaluation> find_evaluation(const std::string& run, const std::string& key);
    std::vector<Evaluation> evaluations(const std::string& run);
    // Any document that a run wants to find again on resume (comparisons, plans), keyed by its own hash.
    void add_document(const std::string& run, const std::string& key, const std::string& json_text);
    std::optional<std::string> find_document(const std::string& run, const std::string& key);
    // All of a run whose key begins like that, by key.
    std::map<std::string, std::string> documents(const std::string& run, const std::string& prefix = {});

private:
    struct Database;
    std::unique_ptr<Database> database_;
};

}  // namespace strop
