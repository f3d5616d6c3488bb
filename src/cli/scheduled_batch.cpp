#include "cli/scheduled_batch.h"

#include <algorithm>
#include <functional>
#include <map>
#include <random>
#include <set>
#include <thread>

#include <fmt/format.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/interrupt.h"
#include "base/line.h"
#include "cli/batch_table.h"
#include "cli/earlier_run.h"
#include "cli/finish.h"
#include "cli/problem_argument.h"
#include "cli/scheduler.h"
#include "cli/store_access.h"
#include "cli/submitted_batch.h"
#include "cli/task_script.h"
#include "cli/terminal.h"
#include "llm/spec.h"

namespace strop::cli {

namespace {

constexpr Seconds soonest{0.3}, rarest{15};  // between two questions to the scheduler
constexpr Seconds late_files{60};            // a shared file system shows them so late, at most
constexpr Seconds cancelling{120};           // for the tasks of a cancelled job to end
constexpr const char* goes_on = "the same command goes on from here\n";

std::string server_of(const Arguments& arguments) {
    const StoreAddress address = store_address(arguments);
    if (!address.is_server()) {
        if (arguments.has("--store"))
            throw UsageError(fmt::format("--store {}: the tasks of a job cannot share a file", address.shown()),
                             "leave it out (each task has its own beside its result), or name a PostgreSQL server");
        return {};
    }
    if (address.has_password())
        throw UsageError(fmt::format("--store {}: its password would be written into the script", address.shown()),
                         "put it into ~/.pgpass (a file that PGPASSFILE names)");
    return address.given();
}

const char* how_it_ended(TaskState state) {
    switch (state) {
        case TaskState::completed: return "completed";
        case TaskState::failed: return "failed";
        default: return "was stopped";
    }
}

class Leader {
public:
    Leader(const std::vector<std::string>& problems, const Arguments& arguments, const OptionsOf& options_of)
        : arguments_(arguments),
          options_of_(options_of),
          server_(server_of(arguments)),
          folder_(fs::absolute(arguments.has("--out") ? arguments.text("--out") : "strop-out").lexically_normal()),
          painter_(2, arguments.has("--quiet")),
          scheduler_(make_scheduler(arguments)),
          entries_(batch_entries(problems)) {}

    int run() {
        if (!arguments_.has("--dry-run")) check_folder(folder_);
        for (size_t i = 0; i < entries_.size(); ++i) guarded(i, [&] { load(i); });
        if (arguments_.has("--dry-run")) return show();
        std::error_code failed;
        fs::create_directories(folder_, failed);  // what it cannot do was said above
        const BatchLock lock(folder_);
        batch_ = read_batch(folder_);
        if (!follows()) submit_missing();
        follow();
        painter_.clear();
        print_batch(entries_, arguments_.has("--json"));
        if (std::any_of(entries_.begin(), entries_.end(), [](const auto& e) { return e.outcome == "interrupted"; }))
            fmt::print(stderr, goes_on);
        return exit_code_of(entries_);
    }

private:
    void load(size_t i) {
        BatchEntry& entry = entries_[i];
        entry.loaded = problem_argument(entry.given, arguments_.text("--dtype"));
        const Problem& problem = *entry.loaded;
        const auto same = std::find_if(entries_.begin(), entries_.begin() + static_cast<std::ptrdiff_t>(i),
                                       [&](const BatchEntry& other) { return other.problem == problem.name; });
        if (same != entries_.begin() + static_cast<std::ptrdiff_t>(i)) {
            entry.loaded.reset();
            throw UsageError(fmt::format("{}: another problem of this batch has its name", entry.given),
                             "run it by itself, with --out");
        }
        entry.problem = problem.name;
        RunOptions options = options_of_(problem);
        options.settings.out = folder_ / problem.name;
        options_.emplace(i, std::move(options));
    }

    std::string script() const {
        TaskScript script{folder_, {}, {}, server_};
        for (const BatchEntry& entry : entries_) {
            script.names.push_back(entry.loaded ? entry.problem : "");
            script.problems.push_back(entry.loaded ? fs::absolute(entry.loaded->folder).lexically_normal() : "");
        }
        return script_text(script, scheduler_->frame(), arguments_);
    }

    int show() const {
        std::vector<int> all;
        for (size_t i = 0; i < entries_.size(); ++i)
            if (entries_[i].loaded) all.push_back(static_cast<int>(i));
        fmt::print("# {}\n{}\n{}", (folder_ / script_name).string(), script(),
                   scheduler_->shown({folder_, "strop-NAME", all}));
        return all.size() == entries_.size() ? 0 : static_cast<int>(Exit::usage);
    }

    // The job of an earlier command that still runs: its tasks are waited for.
    bool follows() {
        if (batch_.name.empty()) return false;
        if (batch_.place != scheduler_->place())
            throw UsageError(
                fmt::format("{}: its batch was submitted elsewhere ({})", folder_.string(), batch_.place),
                "go back there, name another folder with --out, or remove strop-batch.json once that job has ended");
        const std::optional<ScheduledJob> job = scheduler_->job_named(batch_.name);
        if (!job)
            throw EnvironmentError(fmt::format("what became of job {} is not known: {}",
                                               batch_.job.empty() ? batch_.name : batch_.job, scheduler_->why()),
                                   fmt::format("the same command goes on once {} answers", scheduler_->asked()));
        if (!job->is_active()) return false;
        batch_.job = job->id;
        if (batch_.script != content_hash(script()))
            throw UsageError(
                fmt::format("{}: job {} of another command still runs there", folder_.string(), batch_.job),
                fmt::format("wait for it, end it (`{}`), or name another folder with --out",
                            scheduler_->cancel_line(batch_.job)));
        write_batch(folder_, batch_);
        for (size_t i = 0; i < entries_.size(); ++i) {
            if (!entries_[i].loaded) continue;
            if (const auto task = batch_.tasks.find(entries_[i].problem); task != batch_.tasks.end())
                waiting_.emplace(task->second, i);
            else guarded(i, [&] { collect(i, "done before"); });
        }
        painter_.line(fmt::format("following job {}", batch_.job));
        return true;
    }

    void submit_missing() {
        batch_ = {fmt::format("strop-{:08x}", std::random_device{}()), "", "", content_hash(script()), {}};
        std::vector<int> missing;
        std::error_code ignored;
        for (size_t i = 0; i < entries_.size(); ++i) {
            if (!entries_[i].loaded) continue;
            bool done = false;
            if (!guarded(i, [&] { done = collect(i, "done before"); }) || done) continue;
            missing.push_back(static_cast<int>(i));
            batch_.tasks[entries_[i].problem] = static_cast<int>(i);
            fs::remove(log_of(i), ignored);  // what it says is of another job
        }
        if (missing.empty()) return;
        check_interrupt();
        batch_.place = scheduler_->place();
        write_file(folder_ / script_name, script());
        write_batch(folder_, batch_);  // before the job exists, so that a leader that is killed here finds it by name
        batch_.job = scheduler_->submit({folder_, batch_.name, missing});
        write_batch(folder_, batch_);
        for (const int i : missing) waiting_.emplace(i, static_cast<size_t>(i));
        painter_.line(fmt::format("job {}: {} of {} problems submitted", batch_.job, missing.size(), entries_.size()));
    }

    void follow() {
        const Clock::time_point start = Clock::now();
        bool answers = true;
        while (!waiting_.empty()) {
            if (interrupted()) cancel();
            if (const std::optional<ScheduledJob> job = scheduler_->job_named(batch_.name)) {
                answers = true;
                look_at(job->tasks);
            } else if (answers) {
                answers = false;
                painter_.line(fmt::format("! {}; the job goes on, and {} is asked again", scheduler_->why(),
                                          scheduler_->asked()));
            }
            const double often = std::clamp(seconds_since(start) / 20, soonest.count(), rarest.count());
            if (!waiting_.empty()) pause(Seconds(often));
        }
    }

    static void pause(Seconds time) {
        for (const Clock::time_point start = Clock::now(); !interrupted() && seconds_since(start) < time.count();)
            std::this_thread::sleep_for(std::chrono::milliseconds(50));
    }

    void look_at(const std::map<int, Task>& tasks) {
        size_t running = 0;
        std::string reason;
        for (auto waiting = waiting_.begin(); waiting != waiting_.end();) {
            const auto [task, i] = *waiting;
            const auto found = tasks.find(task);
            const Task seen = found == tasks.end() ? Task{} : found->second;
            if (seen.is_active()) {
                running += seen.state == TaskState::running;
                if (seen.state == TaskState::waiting && !seen.says.empty()) reason = seen.says;
                tell_change(i, seen.state);
            }
            waiting = !seen.is_active() && settle(i, task, seen) ? waiting_.erase(waiting) : std::next(waiting);
        }
        // What comes before a colon is the kind, what follows may change by the minute.
        if (!reason.empty() && reasons_.insert(reason.substr(0, reason.find(':'))).second)
            painter_.line(fmt::format("waiting: {}", reason));
        painter_.paint(
            {fmt::format("job {}: {} of {} ended, {} running{}", batch_.job, entries_.size() - waiting_.size(),
                         entries_.size(), running, reason.empty() ? "" : fmt::format(", others wait ({})", reason))});
    }

    void tell_change(size_t i, TaskState state) {
        TaskState& before = states_[i];
        if (before == state || state == TaskState::ending) return;
        if (state == TaskState::running) painter_.line(fmt::format("{}: running", entries_[i].problem));
        else if (before == TaskState::running && state == TaskState::waiting)
            painter_.line(
                fmt::format("{}: stopped by {}, to be started again", entries_[i].problem, scheduler_->name()));
        before = state;
    }

    // Whether it is known how the task ended.
    bool settle(size_t i, int number, Task task) {
        const Clock::time_point first = ended_.emplace(i, Clock::now()).first->second;
        bool done = false;
        if (!guarded(i, [&] { done = collect(i, ""); })) return true;
        if (!done) {
            if (task.state == TaskState::unknown) task = scheduler_->past_task(batch_.job, number);
            if (task.state == TaskState::completed && seconds_since(first) < late_files.count()) return false;
            explain(i, task);
        }
        painter_.line(fmt::format("{}: {}, {}", entries_[i].problem, entries_[i].outcome,
                                  done ? speedup_text(entries_[i]) : entries_[i].note));
        return true;
    }

    void explain(size_t i, const Task& task) {
        BatchEntry& entry = entries_[i];
        const bool unknown = task.state == TaskState::unknown;
        const std::string why =
            unknown ? fmt::format("{} knows nothing of it any more", scheduler_->name()) : one_line(task.says);
        std::string words = last_words(log_of(i));
        if (words.empty() && why.empty())
            words = fmt::format("{} says that it {}, and there is no {}: do the nodes see this folder?",
                                scheduler_->name(), how_it_ended(task.state), log_of(i).string());
        entry.note = why.empty() ? words : words.empty() ? why : why + ": " + words;
        entry.outcome =
            begun_[i] && (task.state != TaskState::failed || words == stopped_words) ? "interrupted" : "failed";
    }

    // True when its run has ended. Only for tasks that do not run: their store is a file of another machine's.
    bool collect(size_t i, const std::string& note) {
        BatchEntry& entry = entries_[i];
        const std::unique_ptr<Store> store = Store::existing(server_.empty() ? store_of(i) : StoreAddress(server_));
        begun_[i] = false;
        if (!store) return false;
        const std::optional<RunRecord> found =
            earlier_run(*store, *entry.loaded, options_.at(i), arguments_.has("--seed"));
        begun_[i] = found.has_value();
        if (!found || !found->is_finished()) return false;
        entry.record = *found;
        entry.outcome = name_of(found->outcome);
        entry.note = note;
        return true;
    }

    [[noreturn]] void cancel() {
        const Clock::time_point start = Clock::now();
        painter_.line(fmt::format("cancelling job {}", batch_.job));
        const bool asked = scheduler_->cancel(batch_.job);
        std::string why = asked ? "" : scheduler_->why();
        bool active = true;
        while (asked && active && seconds_since(start) < cancelling.count()) {
            std::this_thread::sleep_for(std::chrono::milliseconds(200));
            const std::optional<ScheduledJob> job = scheduler_->job_named(batch_.name);
            active = !job || job->is_active();
        }
        painter_.clear();
        if (active)
            fmt::print(stderr, "strop: job {} may still run{}\nhint: {}\n", batch_.job,
                       why.empty() ? "" : ": " + one_line(why), scheduler_->cancel_line(batch_.job));
        for (const auto& [task, i] : waiting_) {
            if (active) continue;  // it may still be writing
            if (guarded(i, [&] { collect(i, ""); }) && begun_[i] && !entries_[i].record.is_finished())
                entries_[i].outcome = "interrupted";
        }
        print_batch(entries_, arguments_.has("--json"));
        fmt::print(stderr, goes_on);
        throw Interrupted();
    }

    // False where it failed, which the entry and a line then say.
    bool guarded(size_t i, const std::function<void()>& what) {
        try {
            what();
            return true;
        } catch (const Interrupted&) {
            throw;
        } catch (const LostStore&) {
            throw;
        } catch (const Error& error) {
            entries_[i].outcome = "failed";
            entries_[i].note = one_line(error.what());
            painter_.clear();
            fmt::print(stderr, "strop: {}\nhint: {}\n", entries_[i].note, one_line(error.hint()));
            return false;
        }
    }

    fs::path log_of(size_t i) const { return folder_ / (entries_[i].problem + ".log"); }
    fs::path store_of(size_t i) const { return folder_ / (entries_[i].problem + ".db"); }

    const Arguments& arguments_;
    const OptionsOf& options_of_;
    const std::string server_;  // the store's address; empty: a file a task
    const fs::path folder_;
    LivePainter painter_;
    const std::unique_ptr<Scheduler> scheduler_;
    SubmittedBatch batch_;
    std::vector<BatchEntry> entries_;
    std::map<size_t, RunOptions> options_;
    std::map<int, size_t> waiting_;  // by number in the script
    std::map<size_t, TaskState> states_;
    std::set<std::string> reasons_;  // for which tasks waited, said once
    std::map<size_t, Clock::time_point> ended_;
    std::map<size_t, bool> begun_;  // its store has a run that has not ended
};

}  // namespace

void check_scheduler_flags(const Arguments& arguments) {
    const std::string on = arguments.text("--on");
    for (const std::string scheduler : {"slurm", "k8s"})
        if (arguments.has("--" + scheduler) && on != scheduler)
            throw UsageError(fmt::format("--{0} without --on {0}", scheduler), "add --on " + scheduler);
    if (on.empty()) return;
    for (const char* flag : {"--model", "--record", "--replay"})
        if (arguments.has(flag))
            throw UsageError(fmt::format("{} and --on exclude each other", flag),
                             "keys and recordings stay here; --worker measures elsewhere (docs/workers.md)");
    if (arguments.text("--jobs") == "auto")
        throw UsageError("--jobs auto and --on exclude each other",
                         "tasks of a job run side by side: --budget is for each");
    (void)make_scheduler(arguments);
}

int optimize_elsewhere(const std::vector<std::string>& problems, const Arguments& arguments,
                       const OptionsOf& options_of) {
    llm::hide_keys();  // sbatch and kubectl get the environment
    return Leader(problems, arguments, options_of).run();
}

}  // namespace strop::cli
