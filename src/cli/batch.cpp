#include "cli/batch.h"

#include <algorithm>
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
#include "run/run.h"

namespace strop::cli {

namespace {

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
        for (size_t i = 0; i < entries_.size(); ++i) {
            say(fmt::format("[{}/{}] {}", i + 1, entries_.size(), entries_[i].given));
            guarded(entries_[i], [&] {
                load(entries_[i]);
                begin(entries_[i]);
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

    void begin(BatchEntry& entry) {
        RunOptions options = options_of_(*entry.loaded);
        options.settings.budget_seconds = shared_ ? budget_ / static_cast<double>(entries_.size()) : budget_;
        if (shared_) {
            options.search_share = first_share;
            options.waiting = &waiting_;
        }
        if (arguments_.has("--out")) options.settings.out = fs::path(options.settings.out) / entry.problem;
        const std::optional<RunRecord> earlier = earlier_run(*store_, *entry.loaded, options, arguments_.has("--seed"));
        if (earlier && earlier->is_finished()) entry.note = "done before";
        go(entry, [&](View& view) {
            return shared_ && earlier && waits(*earlier) ? *earlier : go_on(earlier, options, *store_, view);
        });
    }

    void go(BatchEntry& entry, const std::function<RunRecord(View&)>& what) {
        if (entry.note.empty()) entry.outcome = "interrupted";  // unless it ends
        Progress progress(arguments_.has("--quiet"));
        entry.record = what(progress);
        entry.outcome = name_of(entry.record.outcome);
        say(fmt::format("{}: {}", entry.problem,
                        waits(entry.record) ? "waits for its share" : entry.outcome + ", " + speedup_text(entry)));
    }

    // Who has least to gain comes first: what it leaves over, or takes beyond its share, is the others'. What is
    // decided follows from what the store holds, so that the same command decides alike after it was stopped.
    void share_rest() {
        std::vector<BatchEntry*> waiting;
        for (BatchEntry& entry : entries_)
            if (waits(entry.record)) waiting.push_back(&entry);
        while (!waiting.empty()) {
            std::vector<Stake> stakes;
            for (const BatchEntry* entry : waiting)
                stakes.push_back(stake_of(entry->record, !waiting_.has(entry->record.run)));
            const std::vector<double> shares = shares_of(stakes, left());
            const auto least = std::min_element(shares.begin(), shares.end());
            BatchEntry& entry = *waiting[static_cast<size_t>(least - shares.begin())];
            waiting.erase(waiting.begin() + (least - shares.begin()));
            say(fmt::format("[{:.0f} more s of search] {}", *least, entry.problem));
            guarded(entry, [&] {
                go(entry, [&](View& view) {
                    const More more{0, 1, *least, &waiting_};
                    return resume(entry.record.run, more, options_of_(*entry.loaded).workers, *store_, view);
                });
            });
        }
    }

    double left() const {
        double left = budget_;
        for (const BatchEntry& entry : entries_) left -= entry.record.seconds.total;
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
    WaitingWorkers waiting_;
};

}  // namespace

int optimize_batch(const std::vector<std::string>& problems, const Arguments& arguments, const OptionsOf& options_of) {
    return Batch(problems, arguments, options_of).run();
}

}  // namespace strop::cli
