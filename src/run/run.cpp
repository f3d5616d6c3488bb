#include "run/run.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/error.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/interrupt.h"
#include "base/line.h"
#include "base/strings.h"
#include "device/cuda.h"
#include "device/machine.h"
#include "graph/signature.h"
#include "judge/worker_pool.h"
#include "language/bundle.h"
#include "language/contract.h"
#include "playbook/playbook.h"
#include "problem/cpp_reference.h"
#include "problem/loader.h"
#include "problem/trace.h"
#include "run/advisers.h"
#include "run/baselines.h"
#include "run/budget.h"
#include "run/earlier.h"
#include "run/experience_source.h"
#include "run/final_function.h"
#include "run/first_record.h"
#include "run/granted.h"
#include "run/held_out.h"
#include "run/in_process.h"
#include "run/journal.h"
#include "run/lessons.h"
#include "run/own_kernels.h"
#include "run/profiling.h"
#include "run/recorder.h"
#include "run/recording.h"
#include "run/result_folder.h"
#include "run/roofline.h"
#include "run/run_machine.h"
#include "run/small_shapes.h"
#include "run/target_part.h"
#include "run/verification.h"
#include "run/winner_notes.h"
#include "run/worker_uses.h"
#include "search/search.h"

namespace strop {

namespace {

constexpr double save_every_seconds = 2;
constexpr double patience_share = 0.3;  // of the budget, beside it: for loud moments of the verification
constexpr int screenings_of_a_batch = 4;
constexpr double walking_seconds = 10;
constexpr double replayed_seconds = 1e6;  // time is no limit where nothing is measured
constexpr int most_lost_winners = 3;      // to sanitizers, before the run ends without a result

class Run : public search::Observer {
public:
    Run(const RunOptions& options, RunRecord record, double already_spent, Store& store, View& view,
        std::optional<double> search_seconds = {})
        : options_(options),
          record_(std::move(record)),
          budget_(record_.settings.budget_seconds, already_spent, record_.settings.shared_seconds),
          store_(store),
          view_(view),
          search_seconds_(search_seconds) {
        record_.outcome = Outcome::running;
        store_.tell([this](const std::string& line) { view_.note(line); });
    }
    ~Run() override { store_.tell({}); }

    RunRecord execute() {
        try {
            prepare();
            trace();
            measure_baselines();
            plan();
            search_strategies();
            if (waits_) {
                let_workers_wait();
                return record_;
            }
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
        } catch (const judge::LostWorker& error) {
            note_loss(error);
            throw;
        } catch (const LostStore&) {
            if (saved_at_ > 0) view_.note("once the store is back go on with: strop resume " + record_.run);
            throw;
        } catch (const Error& error) {
            note_failure(error);
            throw;
        }
        return record_;
    }

    // search::Observer
    // Only the search asks.
    double seconds_left() override {
        if (marks_) return reached_.search_looks++ < marks_->search_looks ? replayed_seconds : 0;
        const double left = search_seconds_left();
        reached_.search_looks += left > 0;
        return left;
    }
    bool stop_requested() override { return interrupted(); }
    void on_round(int round, const std::string& what) override { phase(fmt::format("round {}: {}", round, what)); }
    void on_strategies(const std::vector<Strategy>& strategies) override {
        record_.strategies = strategies;
        view_.strategies(strategies);
    }
    void on_evaluation(const Evaluation& evaluation, const Kernel& kernel) override {
        const size_t place = record_.history.size();  // what is walked again was evaluated when it was
        const HistoryEntry entry =
            history_entry(evaluation, kernel, place < searched_at_.size() ? searched_at_[place] : budget_.elapsed());
        record_.history.push_back(entry);
        ++record_.evaluations;
        ++record_.evaluations_by_verdict[name_of(evaluation.verdict)];
        if (!evaluation.judged_by.empty()) ++record_.evaluations_by_others[evaluation.judged_by];
        view_.evaluation(entry, record_, marks_ ? 0 : search_seconds_left());
        if (budget_.elapsed() - saved_at_ > save_every_seconds) save();
    }

private:
    // What an earlier life has evaluated is walked again however late it is.
    double search_seconds_left() const {
        if (record_.history.size() < searched_at_.size()) return walking_seconds;
        return budget_.search_seconds_left() - (1 - options_.search_share) * budget_.search_seconds();
    }

    // What was spent until here is known, however the process ends.
    void phase(const std::string& what) {
        if (saved_at_ > 0 && budget_.elapsed() - saved_at_ > save_every_seconds) save();
        view_.phase(what);
    }

    void save() {
        note_seconds();
        store_.save_run(record_);
        saved_at_ = budget_.elapsed();
    }

    void note_seconds() {
        PhaseSeconds& seconds = record_.seconds;
        seconds.total = budget_.elapsed();
        if (worker_) record_.workers = joined(workers_before_, worker_->uses());
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

    // Without this a run that ended with an error would look as if it still ran. False: nothing of it is in the store.
    bool note_end(Outcome outcome, const Error& error) {
        if (saved_at_ == 0) return false;
        record_.outcome = outcome;
        record_.note = one_line(error.what());
        save();
        return true;
    }

    void note_failure(const Error& error) {
        try {
            note_end(error.code() == Exit::no_improvement ? Outcome::no_improvement : Outcome::failed, error);
        } catch (const Error&) {
            // The store may be what failed; the first error says so.
        }
    }

    void note_loss(const judge::LostWorker& error) {
        if (note_end(Outcome::interrupted, error))
            view_.note("the state is saved; go on with: strop resume " + record_.run);
    }

    void prepare() {
        problem_ = load_problem(options_.problem);
        keep_points(problem_, record_.settings.points);
        if (record_.settings.only_own) problem_ = problem_of(record_.settings.kernels, std::move(problem_));
        if (options_.workers.are_own()) check_memory(problem_);  // elsewhere the worker looks at its own
        if (language() == Language::opencl && !options_.replay)
            record_.device = described_opencl_device(options_.workers);
        const bool on_cuda = language() == Language::cuda && !options_.replay;
        if (on_cuda && options_.workers.are_own()) cuda_device();  // is there one? A run without any is not kept
        if (!store_.load_run(record_.run))
            save();  // a new run that cannot begin is in the store, one that goes on stays as it is
        start_worker();
        if (on_cuda) record_.device = worker_->greeting().device;
        before_ = record_.seconds;
        for (const HistoryEntry& entry : record_.history) searched_at_.push_back(entry.seconds);
        workers_before_ = record_.workers;
        record_.history.clear();
        record_.experiments.clear();
        record_.evaluations = 0;
        record_.evaluations_by_verdict.clear();
        record_.evaluations_by_others.clear();
        record_.weaker = worker_->greeting().weaker;
        save();
        view_.note("run " + record_.run);
        if (options_.replay) marks_ = load_marks(store_, record_.run, !record_.settings.models.empty());
        journal_ = std::make_unique<Journal>(store_, record_.run, marks_.has_value());
        recorder_ = std::make_unique<Recorder>(*worker_, store_, record_, [] { check_interrupt(); });
    }

    // Its machine is the run's.
    void start_worker() {
        if (!record_.settings.models.empty())
            advisers_ = std::make_unique<Advisers>(record_.settings, store_, record_.run, options_.replay.has_value(),
                                                   [] { return interrupted(); });
        llm::hide_keys();  // before anything else is started
        std::vector<judge::WorkerCommand>& commands = options_.workers.commands;
        for (judge::WorkerCommand& command : commands) {
            command.target = record_.settings.target;
            if (language() == Language::cuda) command.device = "cuda";
        }
        if (commands.size() > 1) phase(fmt::format("starting {} workers", commands.size()));
        else if (!options_.workers.are_own()) phase("starting " + commands.front().name());
        const auto idle = [] { check_interrupt(); };
        const auto say = [this](const std::string& loss) { view_.note(loss); };
        if (options_.waiting) worker_ = options_.waiting->take(record_.run);
        const bool has_waited = worker_ != nullptr;
        if (has_waited) worker_->serve_another(idle, say);
        else worker_ = std::make_unique<judge::WorkerPool>(commands, idle, say);
        phase("measuring the machine's ceilings");
        machine_ = std::make_unique<RunMachine>(store_, record_.run, *worker_);
        record_.machine = machine_->machine();
        if (!has_waited)
            worker_->open(problem_, record_.settings.points, mix64(record_.settings.seed), budget_.for_a_reference());
        problem_ = judge::with_least_extents(std::move(problem_), worker_->least_extents());
        record_.compiler = worker_->toolchain();
        if (!worker_->reference_note().empty()) view_.note(worker_->reference_note());
    }

    void measure_baselines() {
        phase("running the reference and the baselines");
        own_kernels_ = std::make_unique<OwnKernels>(record_.settings.kernels, problem_);
        if (is_cpp(problem_.reference) && !record_.settings.only_own && language() == Language::cpp)
            own_kernels_->add_reference(worker_->toolchain("clang") != worker_->toolchain("g++"));
        std::vector<Contender> own = own_kernels_->contenders();
        if (record_.settings.only_own) own.clear();  // its defaults are among what is searched
        baselines_ = strop::measure_baselines(problem_, own, Seconds(budget_.total()), *worker_, *recorder_);
        extra_reference_ += baselines_.reference_seconds;
        record_.missing_baselines = baselines_.missing;
        record_.shapes = baselines_.shapes;
        targets_.baseline_ns = baselines_.best_ns;
        view_.baselines(record_);
    }

    Language language() const { return language_for(record_.settings.device); }

    // Before baselines, which may take long to start: whether there will be ideas at all.
    void trace() {
        phase("tracing the reference");
        reference_python();  // what is wrong with it is said by its variable's name
        graph_ = trace_reference(problem_);
        if (!record_.settings.only_own) granted_ = take_for_granted(parse_graph(graph_).require, problem_);
        if (!granted_.empty()) view_.note(granted_);
        playbook_ = std::make_unique<playbook::Playbook>(problem_, graph_, record_.machine, language());
        const bool others = advisers_ || !record_.settings.kernels.empty();
        if (!others && !playbook_->why_nothing().empty()) view_.note(playbook_->why_nothing());
    }

    void plan() {
        plan_on_this_machine();
        if (machine_->is_new() && beaten_by_baselines(record_.shapes)) {
            phase("measuring the machine's ceilings again: a baseline is faster than they allow");
            machine_->raise();
            record_.machine = machine_->machine();
            playbook_ = std::make_unique<playbook::Playbook>(problem_, graph_, record_.machine, language());
            plan_on_this_machine();
        }
        targets_.cores = record_.machine.cores;
        targets_.workers = record_.settings.batch_workers;
        targets_.callable = [this](const Kernel& kernel, const ShapePoint& point) {
            return may_be_called(kernel, bindings_of(problem_, point.dims));
        };
        const bool lessons = use_experience();
        if (!advisers_) return;
        agent::Briefing briefing = briefing_of(problem_, record_, *playbook_);
        if (lessons) briefing.lessons = earlier_lessons(store_, source_->store(), record_, briefing.known);
        advisers_->brief(std::move(briefing), {*recorder_, *journal_,
                                               [this](const Kernel& kernel, const Evaluation& evaluation) {
                                                   return why_slow(kernel, evaluation);
                                               },
                                               [this](double seconds) { return time_for(seconds); },
                                               [this] { return !interrupted() && search_seconds_left() > 0; }});
    }

    // Whether lessons of earlier runs may be used too.
    bool use_experience() {
        const Signature signature = signature_of(playbook_->graph());
        if (!signature.exact.empty()) store_.save_signature(record_.run, signature, record_.machine);
        // A replay has what was found in the recording.
        source_ = std::make_unique<ExperienceSource>(store_, options_.replay ? "" : record_.settings.knowledge);
        for (const Complaint& complaint : source_->complaints()) view_.note(complaint.phrase);
        EarlierRuns earlier(store_, record_, signature, options_.knowledge && !options_.replay, &source_->store());
        targets_.earlier = [earlier](const Kernel& kernel) mutable { return earlier.of(kernel.id); };
        std::vector<Proposal> planned;
        if (!record_.settings.only_own && !record_.settings.dry_run) planned = playbook_->plan();
        Beginning beginning = beginning_of(earlier.experience(), planned);
        playbook_->arrange(beginning.ranks);
        // What is proven last is measured first: this problem's own winners, then those of the nearest relative.
        std::reverse(beginning.proven.begin(), beginning.proven.end());
        for (Proposal& winner : earlier.winners()) beginning.proven.push_back(std::move(winner));
        earlier_winners_ = std::make_unique<EarlierWinners>(std::move(beginning.proven));
        if (const std::string& given = record_.settings.knowledge; !given.empty())
            beginning.says =
                fmt::format("{} ({})", beginning.says.empty() ? "found nothing of use" : beginning.says, given);
        if (!beginning.says.empty()) view_.note(record_.note = beginning.says);
        return earlier.allowed() || options_.replay;
    }

    void plan_on_this_machine() {
        for (ShapeReport& shape : record_.shapes) {
            const Roofline line = roofline(problem_, playbook_->graph(), record_.machine, shape.dims);
            note_roofline(line, shape);
            // Small shapes live in caches, where a roofline from bandwidths alone is out of reach: no reason to stop.
            if (line.bound != "cache") targets_.roofline_ns[shape.label] = line.nanoseconds;
            if (line.bound == "memory") targets_.in_memory.insert(shape.label);
        }
    }

    // For a model's answer and the batch that may be under way when it comes; each screening as long as they took so
    // far.
    bool time_for(double seconds) {
        return journal_->next("time to ask", [&] {
            const double measuring =
                recorder_->seconds().compile + recorder_->seconds().check + recorder_->seconds().time;
            const double screening = record_.evaluations > 0 ? measuring / record_.evaluations : 0;
            const int batch = screenings_of_a_batch * record_.settings.batch_workers;
            return search_seconds_left() > seconds + batch * screening ? "yes" : "no";
        }) == "yes";
    }

    std::string why_slow(const Kernel& kernel, const Evaluation& evaluation) {
        const EvaluationRequest request{
            kernel, evaluation.configuration, worth_profiling(evaluation, record_.shapes), Effort::full, {}};
        if (request.points.empty()) return {};
        const Profile profile = recorder_->profile(request);
        return profile_text(
            explained(profile, problem_, playbook_->graph(), record_.machine, least_times(record_.history)));
    }

    std::vector<Proposer*> proposers() {
        if (record_.settings.only_own) return {own_kernels_.get()};
        if (record_.settings.dry_run) return {&advisers_->agent()};
        std::vector<Proposer*> all = {own_kernels_.get(), playbook_.get(), earlier_winners_.get()};
        if (advisers_) all.push_back(&advisers_->agent());
        return all;
    }

    void search_strategies() {
        budget_.begin_search(searched_at_.empty() ? 0 : searched_at_.back() - searched_at_.front());
        if (search_seconds_) budget_.give_search(*search_seconds_);
        record_.settings.shared_seconds = budget_.shared();
        std::vector<Proposer*> asked = proposers();
        found_ = search::run(problem_.points, asked, *recorder_, record_.settings, targets_, *this);
        if (advisers_) advisers_->agent().end();
        for (Proposer* proposer : asked)
            if (std::string why = proposer->why_nothing(); !why.empty()) add_note(why);
        for (const std::string& note : {worker_->reference_note(), granted_})
            if (!note.empty()) add_note(note);
        record_.strategies = found_.strategies;
        record_.stopped_by = found_.stopped_by;
        waits_ = options_.search_share < 1 && found_.stopped_by == "budget" && !found_.finalists.empty();
        if (waits_) record_.outcome = Outcome::interrupted;
        save();
        check_interrupt();
        if (found_.finalists.empty() && !found_.strategies.empty())
            throw Error(Exit::no_improvement, fmt::format("{}: no kernel was correct", problem_.name),
                        fmt::format("strop show {} tells why each failed", record_.run));
    }

    // Elsewhere, and on a device, they may be in somebody's way.
    void let_workers_wait() {
        if (options_.waiting && options_.workers.are_own() && language() == Language::cpp)
            options_.waiting->keep(record_.run, std::move(worker_));
    }

    void add_note(const std::string& note) { record_.note += (record_.note.empty() ? "" : "; ") + note; }

    // The dispatching function, once its winners are clean: one with an error that no output shows loses, and the next
    // best is built.
    void decide() {
        for (int lost = 0;; ++lost) {
            plan_dispatch();
            final_.finding = sanitize(final_.kernel());
            if (final_.finding.empty() || lost == most_lost_winners) return;
            const std::string why = drop_winner_at_fault(problem_, final_, sanitized_points(), found_, record_);
            if (why.empty()) return;
            view_.note(why);
            add_note(why);
        }
    }

    void plan_dispatch() {
        phase("finals and dispatch");
        search::DispatchOptions options;
        const double deadline = budget_.end_of_dispatch();
        options.seconds = deadline - budget_.elapsed();
        options.seed = record_.settings.seed;
        options.max_bytes = probe_bytes;
        options.most_winners = static_cast<size_t>(record_.settings.winners);
        options.stop = [] { return interrupted(); };
        options.seconds_left = [this, deadline] { return deadline - budget_.elapsed(); };
        if (marks_) {
            options.seconds = replayed_seconds;
            const int mark = marks_->comparisons_of_dispatch(reached_.dispatch_comparisons.size());
            options.seconds_left = [this, mark] { return recorder_->comparisons() < mark ? replayed_seconds : 0; };
        }
        search::DispatchPlan dispatch = search::plan_dispatch(problem_, found_.finalists, *recorder_, options);
        reached_.dispatch_comparisons.push_back(recorder_->comparisons());
        check_interrupt();
        if (dispatch.winners.empty()) {
            add_note(dispatch.why_none);
            throw Error(Exit::no_improvement, fmt::format("{}: {}", problem_.name, dispatch.why_none),
                        fmt::format("strop show {} tells of each", record_.run));
        }
        record_.regimes = dispatch.regimes;
        if (language() != Language::cuda) record_.compiler = worker_->toolchain(bundle_compiler(dispatch.winners));
        record_.kernels.clear();
        for (const DispatchWinner& winner : dispatch.winners) record_.kernels.push_back(winner.kernel);
        final_ = final_function_of(problem_, std::move(dispatch), record_.strategies);
        save();
    }

    void check_held_out() {
        phase("checking the dispatch on held-out shapes");
        const double deadline = budget_.end_of_held_out();
        auto is_over = [&] {
            return marks_ ? recorder_->comparisons() >= marks_->held_out_comparisons : budget_.elapsed() > deadline;
        };
        held_out_ = strop::check_held_out(problem_, final_.dispatch, final_.kernel(), record_.settings.seed, *recorder_,
                                          is_over);
        record_.dispatch = held_out_.check;
        reached_.held_out_comparisons = recorder_->comparisons();
        save();
        if (record_.dispatch.correct < record_.dispatch.shapes)
            view_.note(fmt::format("the dispatching function failed: {}", held_out_.failure));
    }

    // Fresh inputs, a fresh process, every element, paired with every baseline.
    void verify() {
        phase("verifying on fresh inputs, paired with the baselines");
        double before = worker_->reference_seconds();
        worker_->reseed(mix64(record_.settings.seed + 0x5eed));
        extra_reference_ += worker_->reference_seconds() - before;
        auto who = [this](const Dimensions& dims) { return final_.kernel_at(problem_, dims); };
        const VerificationTime time{budget_.for_verification(), patience_share * budget_.total()};
        const Comparison comparison = compare_with_baselines(final_.kernel(), baselines_.contenders, record_.shapes,
                                                             problem_.points, time, *recorder_);
        std::string failure = note_verification(comparison, who, record_);
        if (failure.empty()) failure = final_.finding;
        record_.verified = failure.empty() && record_.dispatch.correct == record_.dispatch.shapes;
        record_.verification = !failure.empty() ? failure : held_out_.failure;
        if (record_.verified) record_.verification = what_was_verified(record_, problem_, baselines_.names);
    }

    std::string sanitize(const Kernel& kernel) {
        record_.sanitizers.clear();
        if (language() == Language::cuda) return {};  // those of the processor see nothing of a device
        const Seconds limit(budget_.for_sanitizers());
        if (limit.count() == 0) return {};
        phase("looking for errors with sanitizers");
        const EvaluationRequest request{kernel, kernel.initial, sanitized_points(), Effort::full, {}};
        record_.sanitizers = recorder_->sanitize(request, limit);
        return finding_of(record_.sanitizers);
    }

    std::vector<ShapePoint> sanitized_points() { return with_small_shapes(problem_, record_.settings.seed); }

    void call_from_python() {
        record_.in_process = {};
        if (!record_.verified) return;
        const bool own = options_.workers.are_own();
        if (!own) record_.in_process.missing = "the worker may be on another machine";
        if (language() == Language::cuda) record_.in_process.missing = "its kernels run on a GPU";
        if (!own || language() == Language::cuda || budget_.for_in_process() == 0) return;
        phase("calling the result from Python beside a framework");
        record_.in_process = recorder_->in_process(final_.source, [this] {
            const ResultFiles files{final_.source, compiler_flags(record_.compiler, final_.dispatch.winners), {}};
            return measure_in_process(problem_, record_, files, baselines_.names, Seconds(budget_.for_in_process()));
        });
    }

    // From here on nothing is saved before the files are written: what has an outcome counts as finished.
    void conclude() {
        record_.outcome = outcome_of(record_);
        record_.result = record_.settings.out;
        mark_winners(record_);
        view_.phase("drawing lessons");
        draw_lessons(store_, record_,
                     advisers_ ? advisers_->agent().reflect(record_) : std::vector<agent::DrawnLesson>{},
                     options_.replay.has_value());
        save_marks(store_, record_.run, reached_);
        view_.phase("writing the result");
        const search::DispatchPlan& dispatch = final_.dispatch;
        BundleNotes notes = final_.notes;
        notes.header = header_note(record_);  // names the run, which what is judged does not: a replay has another
        ResultFiles files{bundle(problem_, dispatch.winners, dispatch.tree, notes),
                          compiler_flags(record_.compiler, dispatch.winners), small_vectors()};
        record_.function = final_.source;
        keep_part(store_, problem_, record_, dispatch, notes, final_.kernel(), files.vectors);
        note_seconds();
        write_result(record_.result, problem_, record_, files);
        store_.save_run(record_);  // last, and as it is in the files: a run killed before is resumed and writes them
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
    Budget budget_;
    Store& store_;
    View& view_;
    std::optional<double> search_seconds_;  // that it is given when it goes on
    double saved_at_ = 0, extra_reference_ = 0;
    std::vector<double> searched_at_;  // evaluations of an earlier life: seconds
    bool waits_ = false;               // for its share of what a batch has left
    PhaseSeconds before_;
    std::vector<WorkerUse> workers_before_;
    Problem problem_;
    std::unique_ptr<RunMachine> machine_;
    std::unique_ptr<judge::WorkerPool> worker_;
    std::unique_ptr<Recorder> recorder_;
    Baselines baselines_;
    std::unique_ptr<playbook::Playbook> playbook_;
    std::unique_ptr<OwnKernels> own_kernels_;
    std::unique_ptr<EarlierWinners> earlier_winners_;
    std::unique_ptr<ExperienceSource> source_;
    std::unique_ptr<Advisers> advisers_;
    std::unique_ptr<Journal> journal_;
    std::optional<Marks> marks_;  // of the recording that is replayed
    Marks reached_;
    search::Targets targets_;
    search::Result found_;
    FinalFunction final_;
    HeldOut held_out_;
    std::string graph_, granted_;  // granted: what the graph takes for granted, said to the user
};

}  // namespace

RunRecord optimize(const RunOptions& options, Store& store, View& view) {
    const Problem problem = load_problem(options.problem);
    RunOptions absolute = options;
    absolute.problem = problem.folder.string();
    return Run(absolute, new_record(problem, options, store), 0, store, view).execute();
}

RunRecord resume(const std::string& name, const More& more, const judge::Workers& workers, Store& store, View& view) {
    RunRecord record = record_of(name, store);
    if (record.is_finished()) return record;
    const double spent = record.seconds.total;
    if (more.budget_seconds > 0) {
        record.settings.budget_seconds = spent + more.budget_seconds;
        record.settings.shared_seconds = 0;
    }
    note_workers(workers, record.settings);
    RunOptions options{record.problem_folder, record.settings, record.strop_version, workers};
    options.search_share = more.search_share;
    options.waiting = more.waiting;
    return Run(options, record, spent, store, view, more.search_seconds).execute();
}

}  // namespace strop
