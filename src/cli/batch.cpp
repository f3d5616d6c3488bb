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
#include "cli/batch_table.h"
#include "cli/earlier_run.h"
#include "cli/problem_argument.h"
#include "cli/progress.h"
#include "cli/store_access.h"
#include "run/batch_shares.h"

namespace strop::cli {

namespace {

void run_one(BatchEntry& entry, const RunOptions& options, const Arguments& arguments, Store& store) {
    const std::optional<RunRecord> earlier = earlier_run(store, *entry.loaded, options, arguments.has("--seed"));
    if (earlier && earlier->is_finished()) {
        entry.note = "done before";
    } else {
        entry.outcome = "interrupted";  // unless it ends
        entry.note.clear();
    }
    Progress progress(arguments.has("--quiet"));
    entry.record = go_on(earlier, options, store, progress);
    entry.outcome = name_of(entry.record.outcome);
    entry.spent += entry.record.seconds.total;
}

class Batch {
public:
    Batch(const std::vector<std::string>& problems, const Arguments& arguments, const OptionsOf& options_of)
        : arguments_(arguments),
          options_of_(options_of),
          store_(store_of_run(arguments)),
          quiet_(arguments.has("--quiet")),
          shared_(arguments.text("--jobs") == "auto"),
          budget_(arguments.duration("--budget").count()),
          entries_(batch_entries(problems)) {}

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
        return exit_code_of(entries_);
    }

private:
    void load(BatchEntry& entry) {
        entry.loaded = problem_argument(entry.given, arguments_.text("--dtype"));
        entry.problem = entry.loaded->name;
        if (folders_.emplace(entry.problem, entry.loaded->folder).first->second != entry.loaded->folder)
            throw UsageError(fmt::format("{}: another problem of this batch has its name", entry.given),
                             "run it by itself, with --out");
    }

    void go(BatchEntry& entry, double seconds) {
        RunOptions options = options_of_(*entry.loaded);
        options.settings.budget_seconds = seconds;
        if (arguments_.has("--out")) options.settings.out = fs::path(options.settings.out) / entry.problem;
        run_one(entry, options, arguments_, *store_);
        say(fmt::format("{}: {}, {}", entry.problem, entry.outcome, speedup_text(entry)));
    }

    // Who promises most comes first. What is decided follows from what the store holds, so that the same command
    // decides alike after it was stopped.
    void share_rest() {
        std::vector<BatchEntry*> waiting;
        for (BatchEntry& entry : entries_)
            if (promise_of(entry.record) > 0) waiting.push_back(&entry);
        std::stable_sort(waiting.begin(), waiting.end(), [](const BatchEntry* a, const BatchEntry* b) {
            return promise_of(a->record) > promise_of(b->record);
        });
        while (!waiting.empty()) {
            std::vector<double> promises;
            for (const BatchEntry* entry : waiting) promises.push_back(promise_of(entry->record));
            const double seconds = shares_of(promises, left()).front();
            BatchEntry& entry = *waiting.front();
            waiting.erase(waiting.begin());
            if (seconds <= 0) return;
            say(fmt::format("[{} more s] {}", std::lround(seconds), entry.problem));
            guarded(entry, [&] { go(entry, seconds); });
        }
    }

    double left() const {
        double left = budget_;
        for (const BatchEntry& entry : entries_) left -= entry.spent;
        return left;
    }

    void guarded(BatchEntry& entry, const std::function<void()>& what) {
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
    void print() const { print_batch(entries_, arguments_.has("--json")); }

    const Arguments& arguments_;
    const OptionsOf& options_of_;
    const std::unique_ptr<Store> store_;
    const bool quiet_, shared_;
    const double budget_;
    std::vector<BatchEntry> entries_;
    std::map<std::string, fs::path> folders_;  // by name
};

}  // namespace

int optimize_batch(const std::vector<std::string>& problems, const Arguments& arguments, const OptionsOf& options_of) {
    return Batch(problems, arguments, options_of).run();
}

}  // namespace strop::cli
