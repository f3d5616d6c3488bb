// The SQLite file, or the PostgreSQL database, that holds runs and evaluations. A run killed at any moment resumes from
// it with nothing lost and nothing paid twice: each call is its own durable transaction.
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/error.h"
#include "core/digest.h"
#include "core/evaluation.h"
#include "core/lesson.h"
#include "core/record.h"
#include "core/signature.h"
#include "knowledge/store_address.h"

namespace strop {

struct RunSummary {
    std::string run, problem, started, outcome;
    double speedup = 0;    // headline ratio; 0: none
    std::string baseline;  // of the headline
    double seconds = 0;
    int evaluations = 0;
    std::string result;  // the folder
    std::string origin;  // where it was imported from; empty: it was measured here
};

// The document of `strop runs --json`.
std::string json(const std::vector<RunSummary>& runs);

// Which finished runs; what is empty does not matter.
struct DigestQuery {
    std::string hardware;           // words that processor, instruction set or device have: "avx2", "epyc 9b14"
    std::vector<std::string> tags;  // all of them: of the problem, its name, families of its strategies
    std::string language;
    std::string problem_hash, fingerprint;
    std::string signature;  // Signature::exact
    int64_t count = -1;     // at most; -1: all
};

// A finished run whose problem computes like one.
struct Relative {
    double similarity = 0;
    std::string run, origin;
    int cores = 0;
};

struct KnownLesson {
    Lesson lesson;
    std::string origin;           // as of a run
    std::vector<Testimony> said;  // by run

    int count(Testimony::Kind kind) const;
    bool withdrawn() const { return count(Testimony::Kind::contradicts) >= 2; }
};

// A run that was not imported, for what it claims.
struct Quarantined {
    std::string run, origin, reason, document;
};

// Of work that several runs would do: whose it is.
struct Claim {
    enum class State {
        mine,    // to be done by the run that asked
        done,    // by another run: `evaluation`
        others,  // to be done by another run, or by nobody yet
    };
    State state = State::others;
    std::optional<Evaluation> evaluation;  // of one that is done; nothing where it cannot be read
    std::string run;                       // that did it
};

// The store's server went away and did not come back in time. What was recorded before is worth going on with.
class LostStore : public EnvironmentError {
public:
    using EnvironmentError::EnvironmentError;
};

// Safe to use from several threads.
class Store {
public:
    enum class Access { write, read };
    static constexpr std::chrono::milliseconds usual_patience{5000};

    // Opens or creates. Errors (all EnvironmentErrors naming the address, with a hint): read-only, locked by
    // another process for longer than `patience`, corrupt ("move it away to start afresh"), written by a
    // newer Strop, full disk, a server that cannot be reached. A store of an older Strop is brought up to date and
    // keeps all its runs. To read only, it must be there and up to date.
    explicit Store(const StoreAddress& address, std::chrono::milliseconds patience = usual_patience,
                   Access access = Access::write);
    ~Store();
    Store(const Store&) = delete;
    Store& operator=(const Store&) = delete;

    // Null where there is none yet: nothing is created.
    static std::unique_ptr<Store> existing(const StoreAddress& address);

    // A server that goes away is waited for, this long instead of the patience at opening; then calls throw LostStore.
    // `tell`: who hears, in a line, that it is waited for and that it is back; of calls on this thread.
    void be_patient(std::chrono::milliseconds patience);
    void tell(std::function<void(const std::string&)> say);

    void save_run(const RunRecord& record);  // inserts or replaces by RunRecord::run; with its digest when finished
    std::optional<RunRecord> load_named(const std::string& run);  // by its whole name
    std::optional<RunRecord> load_run(const std::string& run);    // also by unique prefix; UsageError when ambiguous
    // Newest first, of one problem where it is named; at most `count` of them after the first `skip`, -1: all.
    std::vector<RunSummary> runs(const std::string& problem = {}, int64_t skip = 0, int64_t count = -1);
    std::map<std::string, int64_t> runs_by_problem();  // how many of each

    void save_signature(const std::string& run, const Signature& signature, const Machine& machine);
    std::optional<Signature> signature(const std::string& run);
    // Signature::exact of what was computed at least so alike, with its similarity; the most similar first.
    std::vector<std::pair<double, std::string>> similar(const Signature& signature, double least_similarity);
    // Finished runs that compute alike, the most similar first, then the newest. `isa` empty: on any instruction set.
    std::vector<Relative> relatives(const Signature& signature, double least_similarity, const std::string& isa = {});

    // What finished runs found, newest first; without effects.
    std::vector<Digest> digests(const DigestQuery& query = {});
    std::optional<Digest> digest(const std::string& run);  // by its whole name; the whole

    // A lesson that is known stays; one that was imported and is drawn here is our own from then on.
    void add_lesson(const Lesson& lesson, const std::string& origin = {});
    void add_testimony(const Testimony& testimony);  // a run's word on a lesson replaces what it said before
    std::vector<KnownLesson> lessons();              // by id
    void forget_lesson(const std::string& id);       // and what runs said of it; one that draws it again brings it back
    std::vector<Testimony> testimonies(const std::string& run);
    // Draws lessons from a finished run and lets it speak on those that are known; the lessons that are new.
    std::vector<Lesson> learn(const Digest& digest);

    void quarantine(const Quarantined& run);
    void release(const std::string& run);  // from quarantine
    std::vector<Quarantined> quarantined();

    // Evaluations of one run, in the order they were added; of two with the same key, find gives the newer.
    void add_evaluation(const std::string& run, const Evaluation& evaluation);
    void add_evaluations(const std::string& run, const std::vector<Evaluation>& evaluations);  // all or none
    std::optional<Evaluation> find_evaluation(const std::string& run, const std::string& key);
    std::vector<Evaluation> evaluations(const std::string& run);
    // Runs that go on side by side share `work`, a problem on a kind of machine, by the keys of its evaluations; a
    // claim for other work is none. At most `most` of those that no run has done within `recent`, nor claimed within
    // `lasting`, become this run's; what another has done is given. In the order of the keys.
    std::vector<Claim> claim(const std::string& run, const std::string& work, const std::vector<std::string>& keys,
                             size_t most, Seconds lasting, Seconds recent);
    void give_up(const std::string& run, const std::vector<std::string>& keys);  // what was claimed and not done
    // Says that this run is at the work; how many others said so within `lasting`.
    int others_at(const std::string& run, const std::string& work, Seconds lasting);
    // What was judged, by id; the winners are in the record too.
    void add_kernel(const std::string& run, const Kernel& kernel);
    std::vector<Kernel> kernels(const std::string& run);
    // Any document that a run wants to find again on resume (comparisons, plans), keyed by its own hash.
    void add_document(const std::string& run, const std::string& key, const std::string& json_text);
    std::optional<std::string> find_document(const std::string& run, const std::string& key);
    // All of a run whose key begins like that, by key.
    std::map<std::string, std::string> documents(const std::string& run, const std::string& prefix = {});

private:
    struct Database;
    explicit Store(std::unique_ptr<Database> database);
    std::unique_ptr<Database> database_;
};

}  // namespace strop
