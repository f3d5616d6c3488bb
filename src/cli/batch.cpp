#include "cli/batch.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <optional>

#include <fmt/format.h>

#include "base/error.h"
#include "base/file.h"
#include "base/interrupt.h"
#include "base/line.h"
#include "cli/problem_argument.h"
#include "cli/progress.h"
#include "cli/report_file.h"
#include "cli/store_access.h"
#include "cli/table.h"
#include "core/json.h"
#include "run/batch_shares.h"

namespace strop::cli {

namespace {

struct Entry {
    std::string given;
    std::string problem;  // as given until it is loaded, then its name
    std::string outcome = "not begun";
    std::string note;  // "done before", or why it failed
    RunRecord record;  // of the last run that ended
    std::optional<Problem> loaded;
    double spent = 0;  // seconds of its runs, also of earlier commands
};

Json comparable(const RunSettings& settings, bool seed_matters) {
    Json json = settings;
    if (!seed_matters) json.erase("seed");
    return json;
}

// The newest run that was asked for the same; nothing where it failed or its result is gone.
std::optional<RunRecord> earlier_run(Store& store, const Problem& problem, const RunOptions& options,
                                     bool seed_matters) {
    const Json wanted = comparable(options.settings, seed_matters);
    for (const RunSummary& summary : store.runs(problem.name)) {
        std::optional<RunRecord> record = store.load_run(summary.run);
        if (!record || !record->origin.empty() || record->problem_hash != problem.hash ||
            record->strop_version != options.strop_version || comparable(record->settings, seed_matters) != wanted)
            continue;
        std::error_code failed;
        const bool kept = fs::exists(fs::path(options.settings.out) / "report.json", failed);
        if (record->outcome == Outcome::failed || (record->is_finished() && !kept)) return {};
        return record;
    }
    return {};
}

void run_one(Entry& entry, const RunOptions& options, const Arguments& arguments, Store& store) {
    const std::optional<RunRecord> earlier = earlier_run(store, *entry.loaded, options, arguments.has("--seed"));
    if (earlier && earlier->is_finished()) {
        entry.record = *earlier;
        entry.note = "done before";
    } else {
        entry.outcome = "interrupted";  // unless it ends
        entry.note.clear();
        Progress progress(arguments.has("--quiet"));
        if (earlier) progress.note("resuming " + earlier->run);
        entry.record =
            earlier ? resume(earlier->run, 0, options.workers, store, progress) : optimize(options, store, progress);
    }
    entry.outcome = name_of(entry.record.outcome);
    entry.spent += entry.record.seconds.total;
}

void print_json(const std::vector<Entry>& entries) {
    Json problems = Json::array();
    for (const Entry& entry : entries) {
        Json json = {{"problem", entry.problem}, {"outcome", entry.outcome}, {"note", entry.note}};
        const bool measured = !entry.record.headline_baseline.empty();
        json["run"] = entry.record.run.empty() ? Json() : Json(entry.record.run);
        json["result"] = entry.record.result.empty() ? Json() : Json(entry.record.result);
        json["speedup"] = measured ? Json(entry.record.headline) : Json();
        problems.push_back(json);
    }
    fmt::print("{}\n", dump({{"problems", problems}}, 2));
}

std::vector<std::string> cells_of(const Entry& entry) {
    const bool measured = !entry.record.headline_baseline.empty();
    return {entry.problem, entry.outcome, measured ? ratio_text(entry.record.headline) : "–",
            entry.record.result.empty() ? "–" : entry.record.result, entry.note};
}

void print_table(const std::vector<Entry>& entries) {
    std::vector<std::vector<std::string>> cells = {{"PROBLEM", "OUTCOME", "SPEEDUP", "RESULT", "NOTE"}};
    for (const Entry& entry : entries) cells.push_back(cells_of(entry));
    fmt::print("{}", table(cells));
}

class Batch {
public:
    Batch(const std::vector<std::string>& problems, const Arguments& arguments, const OptionsOf& options_of)
        : arguments_(arguments),
          options_of_(options_of),
          store_(store_of_run(arguments)),
          quiet_(arguments.has("--quiet")),
          shared_(arguments.text("--jobs") == "auto"),
          budget_(arguments.duration("--budget").count()) {
        for (const std::string& given : problems) {
            entries_.emplace_back().given = given;
            entries_.back().problem = given;
        }
    }

    int run() {
        const double first = shared_ ? first_share * budget_ / static_cast<double>(entries_.size()) : budget_;
        for (size_t i = 0; i < entries_.size(); ++i) {
            say(fmt::format("[{}/{}] {}", i + 1, entries_.size(), entries_[i].given));
            guarded(entries_[i], [&] {
                load(entries_[i]);
                go(entries_[i], first);
            });
        }
        if (shared_) share_rest();
        print();
        const bool all = std::all_of(entries_.begin(), entries_.end(),
                                     [](const Entry& entry) { return entry.outcome == name_of(Outcome::improved); });
        return static_cast<int>(all ? Exit::improved : Exit::no_improvement);
    }

private:
    void load(Entry& entry) {
        entry.loaded = problem_argument(entry.given);
        entry.problem = entry.loaded->name;
        if (folders_.emplace(entry.problem, entry.loaded->folder).first->second != entry.loaded->folder)
            throw UsageError(fmt::format("{}: another problem of this batch has its name", entry.given),
                             "run it by itself, with --out");
    }

    void go(Entry& entry, double seconds) {
        RunOptions options = options_of_(*entry.loaded);
        options.settings.budget_seconds = seconds;
        if (arguments_.has("--out")) options.settings.out = fs::path(options.settings.out) / entry.problem;
        run_one(entry, options, arguments_, *store_);
        say(fmt::format("{}: {}, {}", entry.problem, entry.outcome, cells_of(entry)[2]));
    }

    // Who promises most comes first. What is decided follows from what the store holds, so that the same command
    // decides alike after it was stopped.
    void share_rest() {
        std::vector<Entry*> waiting;
        for (Entry& entry : entries_)
            if (promise_of(entry.record) > 0) waiting.push_back(&entry);
        std::stable_sort(waiting.begin(), waiting.end(),
                         [](const Entry* a, const Entry* b) { return promise_of(a->record) > promise_of(b->record); });
        while (!waiting.empty()) {
            std::vector<double> promises;
            for (const Entry* entry : waiting) promises.push_back(promise_of(entry->record));
            const double seconds = shares_of(promises, left()).front();
            Entry& entry = *waiting.front();
            waiting.erase(waiting.begin());
            if (seconds <= 0) return;
            say(fmt::format("[{} more s] {}", std::lround(seconds), entry.problem));
            guarded(entry, [&] { go(entry, seconds); });
        }
    }

    double left() const {
        double left = budget_;
        for (const Entry& entry : entries_) left -= entry.spent;
        return left;
    }

    void guarded(Entry& entry, const std::function<void()>& what) {
        try {
            check_interrupt();
            what();
        } catch (const Interrupted&) {
            print();
            fmt::print(stderr, "the same command goes on from here\n");
            throw;
        } catch (const LostStore&) {  // the others would lose it too
            entry.outcome = "interrupted";
            print();
            fmt::print(stderr, "the same command goes on from here\n");
            throw;
        } catch (const Error& error) {
            entry.outcome = "failed";
            entry.note = one_line(error.what());
            fmt::print(stderr, "strop: {}\nhint: {}\n", entry.note, one_line(error.hint()));
        }
    }

    void say(const std::string& line) const {
        if (!quiet_) fmt::print(stderr, "{}\n", line);
    }
    void print() const { arguments_.has("--json") ? print_json(entries_) : print_table(entries_); }

    const Arguments& arguments_;
    const OptionsOf& options_of_;
    const std::unique_ptr<Store> store_;
    const bool quiet_, shared_;
    const double budget_;
    std::vector<Entry> entries_;
    std::map<std::string, fs::path> folders_;  // by name
};

}  // namespace

int optimize_batch(const std::vector<std::string>& problems, const Arguments& arguments, const OptionsOf& options_of) {
    return Batch(problems, arguments, options_of).run();
}

}  // namespace strop::cli
