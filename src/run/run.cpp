#include "run/run.h"

#include <algorithm>
#include <random>

#include <fmt/chrono.h>
#include <fmt/format.h>

#include "base/error.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/interrupt.h"
#include "base/line.h"
#include "base/strings.h"
#include "device/machine.h"
#include "graph/signature.h"
#include "judge/worker.h"
#include "language/bundle.h"
#include "language/contract.h"
#include "playbook/playbook.h"
#include "problem/loader.h"
#include "problem/trace.h"
#include "run/advisers.h"
#include "run/earlier.h"
#include "run/in_process.h"
#include "run/journal.h"
#include "run/own_kernels.h"
#include "run/profiling.h"
#include "run/recorder.h"
#include "run/recording.h"
#include "run/result_folder.h"
#include "run/roofline.h"
#include "run/run_machine.h"
#include "run/shares.h"
#include "run/small_shapes.h"
#include "run/verification.h"
#include "run/winner_notes.h"
#include "sandbox/process.h"
#include "search/dispatch.h"
#include "search/search.h"

namespace strop {

namespace {

constexpr int64_t probe_bytes = int64_t{48} << 20;    // of shapes that nobody listed
constexpr double save_every_seconds = 2;
constexpr double replayed_seconds = 1e6;              // time is no limit where nothing is measured
constexpr int most_lost_winners = 3;                  // to sanitizers, before the run ends without a result
constexpr double longest_reference_seconds = 60;      // one call of the reference; less where the budget is less

std::string new_run_id(const std::string& problem) {
    return fmt::format("{}-{:%Y%m%d-%H%M%S}-{:04x}", problem, fmt::gmtime(std::time(nullptr)),
                       std::random_device{}() & 0xffff);
}

class Run : public search::Observer {
public:
    Run(const RunOptions& options, RunRecord record, double already_spent, Store& store, View& view)
        : options_(options), record_(std::move(record)), spent_before_(already_spent), shares_(budget()),
          store_(store), view_(view) {
        record_.outcome = Outcome::running;
    }

    RunRecord execute() {
        try {
            prepare();
            trace();
            measure_baselines();
            plan();
            search_strategies();
            if (found_.strategies.empty()) return finish_without_proposals();
            decide();
            check_held_out();
            verify();
            call_from_python();
            conclude();
        } catch (const Interrupted&) {
            record_.outcome = Outcome::interrupted;
            save();
            view_.note("the state is saved; go on with: strop resume " + record_.run);
            throw;
        } catch (const Error& error) {
            note_failure(error);
            throw;
        }
        return record_;
    }

    // search::Observer
    // Only the search asks. Baselines that compile for long must not starve it: it gets half of all but small budgets.
    double seconds_left() override {
        if (marks_) return reached_.search_looks++ < marks_->search_looks ? replayed_seconds : 0;
        double left = search_seconds_left();
        reached_.search_looks += left > 0;
        return left;
    }
    bool stop_requested() override { return interrupted(); }
    void on_round(int round, const std::string& what) override { view_.phase(fmt::format("round {}: {}", round, what)); }
    void on_strategies(const std::vector<Strategy>& strategies) override {
        record_.strategies = strategies;
        view_.strategies(strategies);
    }
    void on_evaluation(const Evaluation& evaluation, const Kernel& kernel) override {
        HistoryEntry entry{elapsed(), kernel.id, kernel.strategy, evaluation.configuration, evaluation.verdict,
                           evaluation.evidence.substr(0, 2000), {}};
        for (const PointResult& result : evaluation.points)
            if (!result.time.samples_ns.empty()) entry.nanoseconds[result.point.label] = result.time.median_ns;
        entry.compile_seconds = evaluation.compile_seconds;
        entry.check_seconds = evaluation.check_seconds;
        entry.time_seconds = evaluation.time_seconds;
        record_.history.push_back(entry);
        ++record_.evaluations;
        ++record_.evaluations_by_verdict[name_of(evaluation.verdict)];
        view_.evaluation(entry, record_, marks_ ? 0 : search_seconds_left());
        if (elapsed() - saved_at_ > save_every_seconds) save();
    }

private:
    double budget() const { return record_.settings.budget_seconds; }
    double search_seconds_left() const {
        const double least = budget() * (budget() < least_budget_for_all ? 1.0 / 3 : 0.5);
        return std::max(budget() - shares_.reserved(), search_start_ + least) - elapsed();
    }
    double elapsed() const { return spent_before_ + seconds_since(start_); }

    void save() {
        note_seconds();
        store_.save_run(record_);
        saved_at_ = elapsed();
    }

    void note_seconds() {
        PhaseSeconds& seconds = record_.seconds;
        seconds.total = elapsed();
        if (recorder_) {
            const PhaseSeconds& now = recorder_->seconds();
            seconds.reference = before_.reference + now.reference + extra_reference_;
            seconds.compile = before_.compile + now.compile;
            seconds.check = before_.check + now.check;
            seconds.time = before_.time + now.time;
        }
        if (!advisers_) return;
        advisers_->note(record_);
        seconds.models = before_.models + advisers_->seconds();
    }

    // Without this a run that ended with an error would look as if it still ran.
    void note_failure(const Error& error) {
        if (saved_at_ == 0) return;   // nothing of it is in the store
        record_.outcome = error.code() == Exit::no_improvement ? Outcome::no_improvement : Outcome::failed;
        record_.note = one_line(error.what());
        try {
            save();
        } catch (const Error&) {
            // The store may be what failed; the first error says so.
        }
    }

    void prepare() {
        problem_ = load_problem(options_.problem);
        keep_points(problem_, record_.settings.points);
        check_memory(problem_);
        view_.phase("measuring the machine's ceilings");
        machine_ = std::make_unique<RunMachine>(store_, record_.run);
        record_.machine = machine_->machine();
        before_ = record_.seconds;
        record_.history.clear();
        record_.experiments.clear();
        record_.evaluations = 0;
        record_.evaluations_by_verdict.clear();
        record_.weaker = sandbox::weaker_protections();
        save();
        if (options_.replay) marks_ = load_marks(store_, record_.run);
        journal_ = std::make_unique<Journal>(store_, record_.run, marks_.has_value());
        if (!record_.settings.models.empty())
            advisers_ = std::make_unique<Advisers>(record_.settings, store_, record_.run, options_.replay.has_value(),
                                                   [] { return interrupted(); });
        llm::hide_keys();   // before anything else is started
        worker_ = std::make_unique<judge::WorkerClient>(options_.worker_command, problem_.folder.string(),
                                                        record_.settings.points, mix64(record_.settings.seed),
                                                        [] { check_interrupt(); },
                                                        Seconds(std::min(longest_reference_seconds, budget())));
        record_.compiler = worker_->toolchain();
        recorder_ = std::make_unique<Recorder>(*worker_, store_, record_);
    }

    void measure_baselines() {
        view_.phase("running the reference and the baselines");
        double before = worker_->reference_seconds();
        baseline_names_ = worker_->baselines(record_.missing_baselines);
        extra_reference_ += worker_->reference_seconds() - before;
        own_kernels_ = std::make_unique<OwnKernels>(record_.settings.kernels);
        for (const std::string& name : baseline_names_) compared_.push_back({name, name, {}, {}});
        for (const Contender& own : own_kernels_->contenders()) {
            if (record_.settings.only_own) break;   // its defaults are among what is searched
            baseline_names_.push_back(own.name);
            compared_.push_back(own);
        }
        const double seconds = std::clamp(0.005 * budget(), 0.1, 0.5);
        Comparison comparison = recorder_->compare({compared_, problem_.points, Effort::screen, seconds});
        record_.shapes.clear();
        for (const PointComparison& point : comparison.points) {
            ShapeReport shape;
            shape.label = point.point.label;
            shape.dims = point.point.dims;
            for (const ContenderResult& result : point.results)
                if (result.verdict == Verdict::ok) {
                    shape.baselines[result.name] = result.time.median_ns;
                    double& best = targets_.baseline_ns[shape.label];
                    if (best == 0 || result.time.median_ns < best) best = result.time.median_ns;
                }
            record_.shapes.push_back(std::move(shape));
        }
        view_.baselines(record_);
    }

    // Before baselines, which may take long to start: whether there will be ideas at all.
    void trace() {
        view_.phase("tracing the reference");
        reference_python();   // what is wrong with it is said by its variable's name
        graph_ = trace_reference(problem_);
        playbook_ = std::make_unique<playbook::Playbook>(problem_, graph_, record_.machine);
        const bool others = advisers_ || !record_.settings.kernels.empty();
        if (!others && !playbook_->why_nothing().empty()) view_.note(playbook_->why_nothing());
    }

    void plan() {
        plan_on_this_machine();
        if (machine_->is_new() && beaten_by_baselines(record_.shapes)) {
            view_.phase("measuring the machine's ceilings again: a baseline is faster than they allow");
            machine_->raise();
            record_.machine = machine_->machine();
            playbook_ = std::make_unique<playbook::Playbook>(problem_, graph_, record_.machine);
            plan_on_this_machine();
        }
        targets_.cores = record_.machine.cores;
        targets_.callable = [this](const Kernel& kernel, const ShapePoint& point) {
            return may_be_called(kernel, bindings_of(problem_, point.dims));
        };
        const bool lessons = use_experience();
        if (advisers_)
            advisers_->brief(
                briefing(lessons), *recorder_,
                [this](const Kernel& kernel, const Evaluation& evaluation) { return why_slow(kernel, evaluation); },
                [this](double seconds) { return time_for(seconds); });
    }

    // Whether lessons of earlier runs may be used too.
    bool use_experience() {
        const Signature signature = signature_of(playbook_->graph());
        if (!signature.exact.empty()) store_.save_signature(record_.run, signature, record_.machine);
        EarlierRuns earlier(store_, record_, signature, options_.knowledge && !options_.replay);
        targets_.earlier = [earlier](const Kernel& kernel) mutable { return earlier.of(kernel.id); };
        std::vector<Proposal> planned;
        if (!record_.settings.only_own && !record_.settings.dry_run) planned = playbook_->plan();
        Beginning beginning = beginning_of(earlier.experience(), planned);
        playbook_->arrange(beginning.ranks);
        // What is proven last is measured first: this problem's own winners, then those of the nearest relative.
        std::reverse(beginning.proven.begin(), beginning.proven.end());
        for (Proposal& winner : earlier.winners()) beginning.proven.push_back(std::move(winner));
        earlier_winners_ = std::make_unique<EarlierWinners>(std::move(beginning.proven));
        if (!beginning.says.empty()) view_.note(record_.note = beginning.says);
        return earlier.allowed() || options_.replay;
    }

    void plan_on_this_machine() {
        for (ShapeReport& shape : record_.shapes) {
            const Roofline line = roofline(problem_, playbook_->graph(), record_.machine, shape.dims);
            note_roofline(line, shape);
            // Small shapes live in caches, where a roofline from bandwidths alone is out of reach: no reason to stop.
            if (line.bound != "cache") targets_.roofline_ns[shape.label] = line.nanoseconds;
        }
    }

    // For a model's answer and the screening of what comes of it, as long as screenings took so far.
    bool time_for(double seconds) {
        return journal_->next("time for a call", [&] {
            const double measuring = recorder_->seconds().compile + recorder_->seconds().check + recorder_->seconds().time;
            const double screening = record_.evaluations > 0 ? measuring / record_.evaluations : 0;
            return search_seconds_left() > seconds + screening ? "yes" : "no";
        }) == "yes";
    }

    std::string why_slow(const Kernel& kernel, const Evaluation& evaluation) {
        const EvaluationRequest request{kernel, evaluation.configuration, worth_profiling(evaluation, record_.shapes),
                                        Effort::full, {}};
        if (request.points.empty()) return {};
        const Profile profile = recorder_->profile(request);
        return profile_text(explained(profile, problem_, playbook_->graph(), record_.machine, least_times(record_.history)));
    }

    agent::Briefing briefing(bool lessons) {
        agent::Briefing briefing;
        briefing.problem = problem_;
        briefing.machine = record_.machine;
        briefing.compiler = record_.compiler;
        briefing.reference = read_file(problem_.reference);
        briefing.graph = describe(playbook_->graph());
        briefing.shapes = record_.shapes;
        for (const Proposal& proposal : playbook_->plan()) briefing.known.push_back(proposal.strategy);
        if (lessons) briefing.lessons = earlier_lessons(store_, record_);
        briefing.advice = record_.settings.analysis_advice;
        return briefing;
    }

    std::vector<Proposer*> proposers() {
        if (record_.settings.only_own) return {own_kernels_.get()};
        if (record_.settings.dry_run) return {&advisers_->agent()};
        std::vector<Proposer*> all = {own_kernels_.get(), playbook_.get(), earlier_winners_.get()};
        if (advisers_) all.push_back(&advisers_->agent());
        return all;
    }

    void search_strategies() {
        search_start_ = elapsed();
        std::vector<Proposer*> asked = proposers();
        if (advisers_) view_.phase("asking models for strategies and kernels");
        found_ = search::run(problem_.points, asked, *recorder_, record_.settings, targets_, *this);
        for (Proposer* proposer : asked)
            if (std::string why = proposer->why_nothing(); !why.empty())
                record_.note += (record_.note.empty() ? "" : "; ") + why;
        record_.strategies = found_.strategies;
        record_.stopped_by = found_.stopped_by;
        save();
        check_interrupt();
        if (found_.finalists.empty() && !found_.strategies.empty())
            throw Error(Exit::no_improvement, fmt::format("{}: no kernel was correct", problem_.name),
                        fmt::format("strop show {} tells why each failed", record_.run));
    }

    // The dispatching function, once its winners are clean: one with an error that no output shows loses, and the next
    // best is built.
    void decide() {
        finding_ = plan_and_sanitize();
        for (int lost = 0; !finding_.empty() && lost < most_lost_winners && drop_winner_at_fault(); ++lost)
            finding_ = plan_and_sanitize();
    }

    std::string plan_and_sanitize() {
        plan_dispatch();
        return sanitize(final_kernel());
    }
    bool drop_winner_at_fault() {
        const std::optional<ShapePoint> place = place_of_finding(record_.sanitizers, sanitized_points());
        if (!place) return false;
        const std::string id = kernel_at(place->dims);
        found_.finalists = without(found_.finalists, id);
        found_.reserves = without(found_.reserves, id);
        if (found_.finalists.empty()) found_.finalists = found_.reserves;
        if (found_.finalists.empty()) return false;
        const std::string why = fmt::format("{} won and is out: {}", id, finding_);
        view_.note(why);
        mark_lost(id, finding_, record_);
        record_.note += (record_.note.empty() ? "" : "; ") + why;
        return true;
    }

    std::string kernel_at(const Dimensions& dims) const {
        return dispatch_.winners[static_cast<size_t>(pick(dispatch_.tree, dispatch_.winners, problem_, dims))].kernel.id;
    }

    void plan_dispatch() {
        view_.phase("finals and dispatch");
        search::DispatchOptions options;
        const double later = shares_.reserved() - shares_.dispatch;
        double deadline = std::max(budget() - later, elapsed() + shares_.dispatch / 2);
        deadline = std::min(deadline, elapsed() + shares_.dispatch * 1.5);
        options.seconds = deadline - elapsed();
        options.seed = record_.settings.seed;
        options.max_bytes = probe_bytes;
        options.most_winners = static_cast<size_t>(record_.settings.winners);
        options.stop = [] { return interrupted(); };
        options.seconds_left = [this, deadline] { return deadline - elapsed(); };
        if (marks_) {
            options.seconds = replayed_seconds;
            const int mark = marks_->comparisons_of_dispatch(reached_.dispatch_comparisons.size());
            options.seconds_left = [this, mark] { return recorder_->comparisons() < mark ? replayed_seconds : 0; };
        }
        dispatch_ = search::plan_dispatch(problem_, found_.finalists, *recorder_, options);
        reached_.dispatch_comparisons.push_back(recorder_->comparisons());
        check_interrupt();
        if (dispatch_.winners.empty())
            throw Error(Exit::no_improvement,
                        fmt::format("{}: no kernel that may be called at every shape passed the thorough check",
                                    problem_.name),
                        fmt::format("strop show {} tells why each failed", record_.run));
        record_.regimes = dispatch_.regimes;
        record_.compiler = worker_->toolchain(bundle_compiler(dispatch_.winners));
        notes_ = winner_notes(problem_, dispatch_, record_.strategies);
        bundle_ = bundle(problem_, dispatch_.winners, dispatch_.tree, notes_);
        record_.kernels.clear();
        for (const DispatchWinner& winner : dispatch_.winners) record_.kernels.push_back(winner.kernel);
        save();
    }

    std::string header_note() const {
        return fmt::format("{}: the fastest kernels found for {} ({}, {} cores), with a dispatch over all shapes.\n"
                           "Made by strop, run {}; report.html says how it was measured and checked.",
                           problem_.name, record_.machine.cpu, record_.machine.isa, record_.machine.cores, record_.run);
    }

    Kernel final_kernel() const { return bundled_kernel(bundle_, dispatch_.winners); }

    // The dispatching function on shapes that nothing saw before: right everywhere, and its choice among the best.
    void check_held_out() {
        view_.phase("checking the dispatch on held-out shapes");
        std::vector<ShapePoint> seen = problem_.points;
        for (const search::DispatchSample& sample : dispatch_.samples) seen.push_back({"", sample.dims});
        std::vector<ShapePoint> shapes =
            search::held_out_shapes(problem_, 40, probe_bytes, mix64(record_.settings.seed + 5), seen);
        double deadline = std::max(budget() - shares_.verify - shares_.in_process, elapsed() + shares_.held_out / 2);
        Kernel kernel = final_kernel();
        record_.dispatch = {};
        size_t chunk = 4;
        for (size_t begin = 0; begin < shapes.size(); begin += chunk) {
            check_interrupt();
            bool over = marks_ ? recorder_->comparisons() >= marks_->held_out_comparisons : elapsed() > deadline;
            if (begin >= 2 * chunk && over) break;
            ComparisonRequest request;
            request.contenders.push_back({"dispatch", "", kernel, kernel.initial});
            for (size_t i = 0; dispatch_.winners.size() > 1 && i < dispatch_.winners.size(); ++i)
                request.contenders.push_back({fmt::format("winner {}", i), "", dispatch_.winners[i].kernel,
                                              dispatch_.winners[i].configuration});
            size_t end = std::min(shapes.size(), begin + chunk);
            request.points.assign(shapes.begin() + static_cast<long>(begin), shapes.begin() + static_cast<long>(end));
            request.effort = Effort::full;
            request.seconds_per_point = dispatch_.winners.size() > 1 ? 0.08 : 0.01;
            auto choice_at = [this](const Dimensions& dims) { return pick(dispatch_.tree, dispatch_.winners, problem_, dims); };
            if (std::string failure = note_held_out(recorder_->compare(request), choice_at, record_.dispatch); !failure.empty())
                held_out_failure_ = failure;
        }
        reached_.held_out_comparisons = recorder_->comparisons();
        save();
        if (record_.dispatch.correct < record_.dispatch.shapes)
            view_.note(fmt::format("the dispatching function failed: {}", held_out_failure_));
    }

    // Fresh inputs, a fresh process, every element, paired with every baseline.
    void verify() {
        view_.phase("verifying on fresh inputs, paired with the baselines");
        double before = worker_->reference_seconds();
        worker_->reseed(mix64(record_.settings.seed + 0x5eed));
        extra_reference_ += worker_->reference_seconds() - before;
        auto who = [this](const Dimensions& dims) { return kernel_at(dims); };
        std::string failure = note_verification(compare_with_baselines(final_kernel()), who, record_);
        if (failure.empty()) failure = finding_;
        record_.verified = failure.empty() && record_.dispatch.correct == record_.dispatch.shapes;
        record_.verification = !failure.empty() ? failure : held_out_failure_;
        if (record_.verified)
            record_.verification = fmt::format(
                "{} shapes of the sweep on fresh inputs of several distributions, every element; {} held-out shapes; paired "
                "with {}", problem_.points.size(), record_.dispatch.shapes, join(baseline_names_, ", "));
    }

    // Until every case is decided or the time is over; what is far behind needs a short look only.
    Comparison compare_with_baselines(const Kernel& kernel) {
        VerificationRequests requests = verification_requests(kernel, compared_, record_.shapes, problem_.points);
        Comparison slow;
        if (requests.far.contenders.size() > 1) slow = recorder_->compare(requests.far);
        const double left = std::max(budget() - shares_.in_process - elapsed(), shares_.verify);
        const double points = static_cast<double>(problem_.points.size());
        requests.near.seconds_per_point = std::max(0.7 * left / points, requests.far.seconds_per_point);
        return joined(recorder_->compare(requests.near), slow);
    }

    std::string sanitize(const Kernel& kernel) {
        record_.sanitizers.clear();
        if (shares_.sanitize == 0) return {};
        view_.phase("looking for errors with sanitizers");
        const EvaluationRequest request{kernel, kernel.initial, sanitized_points(), Effort::full, {}};
        const double left = budget() - shares_.after_sanitizers() - elapsed();
        record_.sanitizers = recorder_->sanitize(request, Seconds(std::max(shares_.sanitize, left)));
        return finding_of(record_.sanitizers);
    }

    std::vector<ShapePoint> sanitized_points() {
        std::vector<ShapePoint> points = problem_.points;
        for (const ShapePoint& point : small_shapes(problem_, record_.settings.seed))
            if (!in_sweep(problem_, point.dims)) points.push_back(point);
        return points;
    }

    void call_from_python() {
        record_.in_process = {};
        if (!record_.verified || shares_.in_process == 0) return;
        view_.phase("calling the result from Python beside a framework");
        record_.in_process = recorder_->in_process(bundle_, [this] {
            const ResultFiles files{bundle_, compiler_flags(record_.compiler, dispatch_.winners), {}};
            return measure_in_process(problem_, record_, files, baseline_names_, Seconds(shares_.in_process));
        });
    }

    void conclude() {
        record_.outcome = outcome_of(record_);
        record_.result = record_.settings.out;
        mark_winners(record_);
        if (advisers_) {
            view_.phase("drawing lessons");
            record_.lessons = advisers_->agent().reflect(record_);
        }
        save_marks(store_, record_.run, reached_);
        view_.phase("writing the result");
        notes_.header = header_note();   // names the run, which what is judged does not: a replay has another
        ResultFiles files{bundle(problem_, dispatch_.winners, dispatch_.tree, notes_),
                          compiler_flags(record_.compiler, dispatch_.winners), small_vectors()};
        note_seconds();
        write_result(record_.result, problem_, record_, files);
        store_.save_run(record_);   // last, and as it is in the files: a run killed before is resumed and writes them
    }

    RunRecord finish_without_proposals() {
        record_.outcome = Outcome::no_improvement;
        record_.verification = "nothing was proposed";
        record_.result = record_.settings.out;
        note_seconds();
        write_reports(record_.result, record_);
        store_.save_run(record_);
        return record_;
    }

    std::vector<TestVector> small_vectors() {
        const std::vector<ShapePoint> small = small_shapes(problem_, record_.settings.seed);
        double before = worker_->reference_seconds();
        std::vector<TestVector> vectors = small.empty() ? std::vector<TestVector>{} : worker_->test_vectors(small);
        extra_reference_ += worker_->reference_seconds() - before;
        return vectors;
    }

    RunOptions options_;
    RunRecord record_;
    double spent_before_;
    Shares shares_;
    Store& store_;
    View& view_;
    Clock::time_point start_ = Clock::now();
    double saved_at_ = 0, search_start_ = 0, extra_reference_ = 0;
    PhaseSeconds before_;
    Problem problem_;
    std::unique_ptr<RunMachine> machine_;
    std::unique_ptr<judge::WorkerClient> worker_;
    std::unique_ptr<Recorder> recorder_;
    std::vector<std::string> baseline_names_;
    std::vector<Contender> compared_;   // what the user would use instead: baselines and kernels of their own
    std::unique_ptr<playbook::Playbook> playbook_;
    std::unique_ptr<OwnKernels> own_kernels_;
    std::unique_ptr<EarlierWinners> earlier_winners_;
    std::unique_ptr<Advisers> advisers_;
    std::unique_ptr<Journal> journal_;
    std::optional<Marks> marks_;   // of the recording that is replayed
    Marks reached_;
    search::Targets targets_;
    search::Result found_;
    search::DispatchPlan dispatch_;
    BundleNotes notes_;
    std::string graph_, bundle_, finding_, held_out_failure_;
};

}  // namespace

RunRecord optimize(const RunOptions& options, Store& store, View& view) {
    Problem problem = load_problem(options.problem);
    RunRecord record;
    record.run = new_run_id(problem.name);
    record.started = utc_now();
    record.strop_version = options.strop_version;
    record.problem = problem.name;
    record.problem_folder = problem.folder.string();
    record.problem_hash = problem.hash;
    record.settings = options.settings;
    RunOptions absolute = options;
    absolute.problem = problem.folder.string();
    if (!options.replay) return Run(absolute, record, 0, store, view).execute();
    Recording recording = read_recording(*options.replay);
    if (recording.problem_hash != problem.hash)
        throw UsageError(fmt::format("{}: was recorded of another problem than {}", options.replay->string(),
                                     problem.folder.string()),
                         "the problem must be the same in every byte");
    record.settings = recording.settings;
    record.settings.out = options.settings.out;
    copy_into(store, record.run, recording);
    return Run(absolute, record, 0, store, view).execute();
}

RunRecord resume(const std::string& name, double extra_budget_seconds, const std::vector<std::string>& worker_command,
                 Store& store, View& view) {
    std::optional<RunRecord> found = store.load_run(name);
    if (!found) throw UsageError(fmt::format("no run '{}'", name), "strop runs lists them");
    RunRecord record = *found;
    if (record.outcome == Outcome::improved || record.outcome == Outcome::no_improvement) return record;
    if (load_problem(record.problem_folder).hash != record.problem_hash)
        throw UsageError(fmt::format("{}: the problem has changed since run {}", record.problem_folder, record.run),
                         "start a new run: strop optimize " + record.problem_folder);
    double spent = record.seconds.total;
    if (extra_budget_seconds > 0) record.settings.budget_seconds = spent + extra_budget_seconds;
    RunOptions options{record.problem_folder, record.settings, record.strop_version, worker_command};
    return Run(options, record, spent, store, view).execute();
}

}  // namespace strop
