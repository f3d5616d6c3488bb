// The referee: compiles, checks and times kernels of one problem on this machine. It lives in a process of its own
// (worker.h) and trusts nothing that runs below it.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "core/evaluator.h"
#include "core/machine.h"
#include "core/profile.h"
#include "core/record.h"
#include "device/cuda.h"
#include "judge/check.h"
#include "judge/credit.h"
#include "judge/expectation.h"
#include "judge/glimpse.h"
#include "judge/runner.h"
#include "judge/sightings.h"
#include "language/cpp.h"
#include "stats/call_time.h"

namespace strop::judge {

class OneCore;

struct RefereeOptions {
    std::optional<CudaDevice> device;  // that kernels run on; none: the host
    uint64_t seed = 0;                 // of inputs and of the order of measurements; secret from candidates
    Seconds reference_limit{60};
    std::vector<std::string> flags;  // added to every compilation ("-fsanitize=address"); such builds are not timed
};

inline constexpr double long_call_ns = 1e6;        // a call this long is a batch by itself
inline constexpr double wakes_by_itself_ns = 2e7;  // in a longer call what it has to wake and load first is nothing
inline constexpr double slow_call_ns = 1e8;        // a call this long is repeated as seldom as can be
inline constexpr double part_ns = 3e5;             // of a sample: a long batch takes so much, as far as calls allow
inline constexpr Seconds prepare_limit{60};        // for mapping a point's buffers

// Median and interval from the samples.
void summarise(Measurement& time);

class Referee : public Evaluator {
public:
    Referee(const Problem& problem, const Machine& machine, const RefereeOptions& options);
    ~Referee() override;

    std::vector<Evaluation> evaluate(std::vector<EvaluationRequest> requests) override;
    std::vector<ProbeResult> probe(const std::vector<EvaluationRequest>& requests) override;
    Comparison compare(const ComparisonRequest& request) override;
    // Judges in full, then looks at where the kernel's time goes at each of the points.
    Profile profile(EvaluationRequest request);

    // Builds it once with each sanitizer and runs it at all of the points, at small ones first, so far as the time
    // reaches: at least one.
    std::vector<SanitizerRun> sanitize(const EvaluationRequest& request, Seconds limit);

    // Checks a kernel in CUDA C++, rewritten, in the emulator (language/cuda_emulator.h): small points first, as far as
    // the time reaches, at least one. Points that are not in the answer were not run. Nothing is timed.
    Evaluation emulate(const EvaluationRequest& request, Seconds limit);

    // Starts and checks the baselines that are installed; their names. Slow the first time (frameworks compile).
    const std::vector<std::string>& baselines();
    const std::vector<MissingBaseline>& missing_baselines() const { return missing_; }
    std::string reference_note() const;
    // The problem's, without shapes at which the reference does not work (Expectation::possible_range).
    const std::map<std::string, Range>& range() const { return problem_.range; }
    // Inputs, expected values and allowed errors at a small shape, for a test that runs without Strop.
    TestVector test_vector(const ShapePoint& point);
    // Fresh inputs from now on.
    void reseed(uint64_t seed);
    // Wall seconds spent on the reference and on preparing baselines.
    double reference_seconds() const { return expectation_.seconds() + baseline_seconds_; }
    std::string key(const EvaluationRequest& request) const;
    const CppToolchain& toolchain() const { return toolchain_; }
    // "nvcc 13.0.88 -O3 -std=c++17 -arch=sm_90": what compiles kernels here.
    std::string compiled_by() const;

private:
    void leave_out_impossible_shapes();
    struct Timing;  // one contender at one point while it is compared
    struct Baseline {
        std::string name;
        std::unique_ptr<Runner> runner;
        std::string cores;  // of its first thread, when it had been called at every shape
    };

    std::vector<Built> build(const std::vector<EvaluationRequest>& requests);
    Build build_of(const Kernel& kernel, const Configuration& configuration) const;
    // What is left to compile of a kernel in another language than C++, at these points.
    void finish_build(const Kernel& kernel, const std::vector<ShapePoint>& points, Built& built);
    // A kernel's process whose hand-shake is believed as far as one without a kernel has such a one.
    std::unique_ptr<Runner> start(const Built& built, const std::vector<Buffers*>& points);
    // Of the points where it may be called, small ones first: a hopeless kernel is dropped before it costs anything.
    std::vector<Buffers*> callable_at(const EvaluationRequest& request);
    void judge(const EvaluationRequest& request, const Built& built, bool ignores_outputs, Evaluation& evaluation);
    bool judge_point(Runner& runner, size_t index, const EvaluationRequest& request, Evaluation& evaluation,
                     PointResult& result);
    // Judges a point again where the machine's ceilings allow no such time.
    void doubt(const EvaluationRequest& request, const Built& built, Buffers& buffers, Evaluation& evaluation,
               PointResult& result);
    double least_plausible_ns(const ShapePoint& point) const;
    // Calls once with a set and compares; ok or the verdict.
    Runner::Outcome check(Runner& runner, size_t index, uint32_t set, bool everything, Seconds limit);
    // Of the last check with a set: the largest error over what is allowed, of all elements.
    double error_share(const Runner& runner, size_t index, uint32_t set);
    const InputSet& checked_set(Buffers& buffers, uint32_t set);
    // Empty where all are right, also those few whose inputs cancel.
    std::string wrong_values(Buffers& buffers, const InputSet& set, const Sampling& sampling);
    std::string wrong_element(Buffers& buffers, const InputSet& set, const Found& one,
                              const std::vector<std::vector<char>>& expected);
    void note_late_writes(Runner& runner, size_t index, const InputSet& set, uint64_t seed, uint64_t seen,
                          Runner::Outcome& outcome);

    // How much a sample is looked at: a screening has many kernels to see, a close look trusts no address twice.
    enum class Look { screen, close };
    // At a window whose expected values are known (of small inputs any may be), or anywhere.
    Runner::Outcome batch(Runner& runner, size_t index, uint32_t calls, Seconds limit, bool at_known, bool watch);
    // So many glances are due among so many samples to come.
    struct Glances {
        int due = 0, among = 0;
    };
    // What a batch among the parts of a sample is for, whose time is not taken: to see what its calls leave, or what
    // becomes of it when inputs change.
    enum class Inside { nothing, calls, renewals };
    Inside look_inside(Look look, Glances& glances);
    // One sample; `time` gets it. Watched: taken again, a few times at most, when somebody else had a core meanwhile.
    // With glances among its parts, unless null.
    Runner::Outcome sample(Runner& runner, size_t index, double estimate_ns, double target_ns, Look look, bool watch,
                           Glances* glances, Measurement& time);
    // As long as the patience lasts, where it is a loud moment.
    void await_quiet(Runner& runner);
    // Its threads waited for a core for more than a small share of the time since then.
    bool had_no_core(Runner& runner, size_t parts, int64_t waited_before_ns, Clock::time_point since);
    // Samples since the last look at the neighbours are of a quiet moment where they were quiet then and still are.
    void look_at_neighbours(std::vector<Timing>& timings);
    struct Parts {
        std::vector<stats::BatchPair> pairs;
        size_t disturbed = 0;
    };
    Runner::Outcome sample_once(Runner& runner, size_t index, double estimate_ns, double target_ns, bool at_known,
                                bool watch, Inside inside, Parts& parts);
    Runner::Outcome take_part(Runner& runner, size_t index, double estimate_ns, bool at_known, bool watch,
                              stats::BatchPair& part);
    // At random, of a batch that is timed or looked into: by its length nobody can tell which it is.
    double calls_of_long_batch(double batch_ns, double estimate_ns);
    void time_screen(Runner& runner, size_t index, const EvaluationRequest& request, double first_ns,
                     PointResult& result);
    // Whether what else a program does decides if tensors are in the last cache when the kernel is called.
    bool fill_last_cache(const Buffers& buffers) const;
    static constexpr size_t cold_calls_of_a_screening = 3;  // at least, where several are compared
    void screen_cold(Runner& runner, size_t index, PointResult& result);
    static bool flush_from_caches(Buffers& buffers, const InputSet& set);
    // `usual_ns`: what a call takes.
    std::optional<Runner::Outcome> cold_call(Runner& runner, size_t index, double usual_ns);
    int64_t any_window(const Buffers& buffers);
    int64_t usual_window(const Buffers& buffers);
    int64_t any_window_from(int64_t least, const Buffers& buffers);
    void turn(Runner& runner, size_t index);
    int64_t aim(Runner& runner, size_t index, bool at_known);
    static int64_t first_window(const Buffers& buffers, int64_t last, uint32_t calls);
    bool known_window_is_due();
    void compare_last(Runner& runner, size_t index, const InputSet& last, const Sampling& sampling,
                      Runner::Outcome& outcome);
    const InputSet& expected_through(Buffers& buffers, int64_t window);
    // A few calls from somewhere, neither compared nor taken as a sample.
    Runner::Outcome call_unseen(Runner& runner, size_t index, uint32_t calls, Seconds limit);
    // Before a close look at a point: what was known of its inputs is no longer so, and a second window gets known.
    void start_closely(Buffers& buffers);

    // What is not told by outputs that are compared: calls that are skipped, results that are kept, threads.
    // The time is what it takes now, and disturbed, where it agrees with no batch that is taken now; and what it takes
    // with new inputs, where those of a batch have decided its branches before.
    Runner::Outcome look_closely(Runner& runner, size_t index, Measurement& time);
    // Attempts: batches may be over before anything is seen, or without a core.
    static constexpr int attempts_at_a_glance = 8;
    // Paces: of so many batches, of which the slowest tells.
    Runner::Outcome glance(Runner& runner, size_t index, double estimate_ns, int attempts = attempts_at_a_glance,
                           int paces = 1);
    Runner::Outcome renew_meanwhile(Runner& runner, size_t index, double estimate_ns,
                                    int attempts = attempts_at_a_glance);
    Runner::Outcome renew_once(Runner& runner, size_t index, double& call_ns, double batch_ns, bool& late);
    // Of inputs, in the middle of a batch of `count` calls.
    struct Change {
        int64_t count, anew, returned;  // calls: that a wrap to window 0 came before; after which it is due
        Nanoseconds expected;           // until then
        std::function<void()> make;
    };
    Runner::Outcome change_as_calls_return(Runner& runner, size_t index, int64_t first, const Change& change,
                                           bool& early, bool& last_has_begun);
    Runner::Outcome change_on_device(Runner& runner, size_t index, int64_t first, const Change& change, double call_ns,
                                     bool& last_has_begun);
    bool is_right_undisturbed(Runner& runner, size_t index, double estimate_ns);
    struct Seen {
        bool late = true;    // nothing was seen while the batch ran
        double call_ns = 0;  // what all of the batch took for a call, less the time when it had no core
        int paces = 0;       // so many batches had calls that were seen to return
        double pace = 0;     // what those took, over that and what is claimed: the slowest of them
        double work = 0;     // of kernels that start threads: of the first that was seen, over that of all of its batch
    };
    Runner::Outcome glance_at_suspect(Runner& runner, size_t index, double estimate_ns, Runner::Outcome first);
    Runner::Outcome glance_in_time(Runner& runner, size_t index, double estimate_ns, int attempts, int paces,
                                   Seen& seen);
    Runner::Outcome glance_once(Runner& runner, size_t index, double estimate_ns, double batch_ns, Seen& seen);
    Runner::Outcome compare_seen(Buffers& buffers, int64_t first, uint32_t calls, const Glimpse& glimpse);
    static Runner::Outcome with_the_device_in_view(Runner& runner, size_t index, Runner::Outcome outcome);
    Runner::Outcome meet_new_inputs(Runner& runner, size_t index, Measurement& time);
    // A call with known inputs, then a watched one with others, whose time it gives.
    Runner::Outcome call_after_known(Runner& runner, size_t index, const Buffers::Values& known,
                                     const Buffers::Values& inputs);
    // What such a call takes in a process without a kernel, while the kernel's own stands still.
    double asking_ns(Runner& runner, Buffers& buffers, const Buffers::Values& known);
    // `quick`: less than `slow_ns` with inputs whose order and signs are those of the known ones.
    Runner::Outcome meet_like_inputs(Runner& runner, size_t index, const Buffers::Values& known, double slow_ns,
                                     bool& quick);
    // `packs`: what it keeps is made of some inputs, of each by itself, and nothing is lost with others.
    Runner::Outcome meet_one_by_one(Runner& runner, size_t index, const Buffers::Values& known, bool& packs);
    Runner::Outcome compare_call(Runner& runner, size_t index, InputSet set);
    Runner::Outcome compare_lengths(Runner& runner, size_t index, Measurement& time);
    Runner::Outcome compare_lengths_in_pairs(Runner& runner, size_t index, double estimate_ns, Measurement& time);
    // A batch that takes some milliseconds: what it took for a call, less what its threads waited for a core.
    Runner::Outcome whole_batch(Runner& runner, size_t index, double estimate_ns, double& call_ns);
    Runner::Outcome compare_clocks(Runner& runner, size_t index);
    // The count of returned calls is that of calls which take so long.
    Runner::Outcome check_count(Runner& runner, size_t index, const Measurement& time);
    Runner::Outcome count_threads(const Runner& runner) const;
    Built build_emulated(const Kernel& kernel, const Configuration& configuration);
    PointResult emulate_point(const Built& built, const ShapePoint& point, Seconds limit, double& call_seconds);
    PointResult emulate_in_turn(const Built& built, const std::vector<ShapePoint>& points, Seconds limit);
    void run_sanitized(const Sanitizer& sanitizer, const Built& built, const EvaluationRequest& request, Seconds limit,
                       SanitizerRun& result);
    PointProfile profile_point(const Built& built, const PointResult& judged, std::vector<std::string>& missing);
    void time_in_turns(Runner& all, Runner& one, double estimate_ns, PointProfile& result);
    std::vector<Sighting> watch(Runner& runner, double estimate_ns);
    std::map<std::string, double> count_events(Runner& runner, double estimate_ns, std::vector<std::string>& missing);
    Runner::Outcome possible_time(Runner& runner, size_t index, double median_ns);
    std::vector<Buffers*> buffers_for(const std::vector<ShapePoint>& points);
    struct Starting {
        std::string name;
        std::filesystem::path file;
        bool as_eager;                   // missing where PyTorch's eager mode is
        std::unique_ptr<Runner> runner;  // null: in C++, to be compiled
    };
    std::vector<Starting> started_baselines(const std::vector<Buffers*>& buffers);
    void start_baselines();
    void add_reference(const std::vector<Buffers*>& buffers);
    void add_baseline(const std::string& name, std::unique_ptr<Runner> runner);
    Baseline* find_baseline(const std::string& name);
    Runner::Outcome why_missing(const std::string& name) const;
    std::vector<Built> build_contenders(const ComparisonRequest& request, Comparison& comparison);
    PointComparison compare_point(const ComparisonRequest& request, const std::vector<Built>& built,
                                  const ShapePoint& point, Seconds limit, Comparison& comparison);
    void enter(const Contender& contender, const Built& built, Buffers& buffers, Effort effort, Timing& timing);
    bool enter_baseline(const std::string& name, const Buffers& buffers, Timing& timing);
    void launch(Timing& timing, Buffers& buffers);
    void launch_again(Timing& timing, Buffers& buffers);
    std::vector<size_t> take_turns(std::vector<Timing>& timings, Buffers& buffers, const ComparisonRequest& request,
                                   Seconds limit);
    size_t take_rounds(std::vector<Timing>& timings, Seconds limit, size_t most);
    bool any_wants_launches(const std::vector<Timing>& timings, const std::vector<size_t>& launches) const;
    static bool wants_turns(const Timing& timing);
    // Each of those of which it is known how they stand to the first.
    static void settle(std::vector<Timing>& timings, const std::vector<size_t>& launches);
    static std::optional<int> bound_core(const std::vector<Timing>& timings);
    static std::unique_ptr<OneCore> core_of_round(const Runner& runner, bool alone, double call_ns,
                                                  std::optional<int>& core);
    void take_turn(Timing& timing, bool first_of_launch, std::optional<int>& core);
    void warm_up(Timing& timing, bool first_of_launch);
    void take_overhead(Timing& timing);
    void time_cold(std::vector<Timing>& timings, Buffers& buffers, const ComparisonRequest& request, Seconds limit);
    bool take_cold_call(Timing& timing, std::optional<int>& core);
    void check_again(Timing& timing, Buffers& buffers, const ComparisonRequest& request);
    std::optional<size_t> smallest_call(const Runner& runner) const;
    double most_overhead_ns() const;  // of the smallest call that counts as the price of a call
    uint64_t random() { return random_(); }

    Problem problem_;
    std::string range_note_;
    Machine machine_;
    RefereeOptions options_;
    CppToolchain toolchain_;
    TemporaryFolder folder_;
    Expectation expectation_;
    std::mt19937_64 random_;
    uint64_t dealt_ = 0, known_among_four_ = 0;               // of the samples of close looks
    double idle_handshake_ns_ = -1;                           // of a process without a kernel
    std::map<std::string, std::set<std::string>> rehearsed_;  // by library: describe(dims) of the shapes
    std::map<std::string, double> proven_ns_;  // by describe(dims): what a kernel took that was looked at for it
    struct {
        bool matter = false;  // to what is compared now
        bool loud = false;
        bool heard = false;  // a sample was disturbed since then: the next turn looks
        Clock::time_point looked_at{};
        Seconds patience{0};  // left for loud moments, at the point that is compared
    } neighbours_;
    bool long_idle_ = false;  // a kernel's process slept while the reference was evaluated
    Credit proof_credit_;     // for evaluating the reference for what batches left behind
    Credit glance_credit_;    // for the glances of screenings, all that they take
    bool baselines_started_ = false;
    double baseline_seconds_ = 0;
    std::vector<Baseline> baselines_;
    std::vector<std::string> baseline_names_;
    std::vector<MissingBaseline> missing_;
    ShapePoint tiny_;
};

}  // namespace strop::judge
