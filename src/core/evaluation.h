// What the judge says about kernels: verdicts, measurements, comparisons. Plain data.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "core/kernel.h"
#include "core/problem.h"

namespace strop {

enum class Verdict {
    ok,
    compile_failed,
    wrong_output,
    nondeterministic,
    crashed,
    timed_out,
    over_limit,
    cheated,
    unsupported,
};
std::string name_of(Verdict verdict);

// Time per call at one point.
struct Measurement {
    std::vector<double> samples_ns;  // raw, in the order taken; each is a batch divided by its calls
    double median_ns = 0;
    double low_ns = 0, high_ns = 0;  // 95% interval of the median
    bool abandoned = false;          // far slower than the best known time: left early
    int disturbed = 0;               // of the samples: others had a core meanwhile, every time it was tried
};

// Of the samples, those during which others had a core; and from which share on that is worth telling.
double disturbed_share(const Measurement& time);
inline constexpr double disturbed_enough_to_tell = 0.2;

// Nanoseconds that decide between kernels at a point: tensors that fill the last cache lie there or not as the rest of
// the program pleases, so the slower of both counts. `cold` is empty elsewhere.
double deciding_ns(const Measurement& time, const Measurement& cold);

struct PointResult {
    ShapePoint point;
    Verdict verdict = Verdict::ok;
    std::string evidence;    // of a failure: the first wrong elements, the signal
    Measurement time;        // empty unless the verdict is ok
    Measurement cold;        // of calls whose tensors lay in no cache; only where they fill the last one
    double error_share = 0;  // the largest error over what is allowed, where every element was compared; else 0
};

// How much is paid to be sure.
enum class Effort {
    screen,  // few samples, sampled comparison on large outputs
    full,    // every element, several distributions, many samples
};

struct EvaluationRequest {
    Kernel kernel;
    Configuration configuration;
    std::vector<ShapePoint> points;  // points outside kernel.condition are skipped
    Effort effort = Effort::screen;
    // By label: what is far slower there may be left early. Infinity: nothing is known yet, and of calls that take a
    // tenth of a second what the same batch has just measured counts.
    std::map<std::string, double> best_ns;
};

struct Evaluation {
    std::string key;     // hash of source, configuration, tool chain, target and problem
    std::string kernel;  // Kernel::id
    Configuration configuration;
    Verdict verdict = Verdict::ok;  // the worst over the points
    std::string evidence;
    std::vector<PointResult> points;
    double compile_seconds = 0, check_seconds = 0, time_seconds = 0;
    std::string judged_by;  // the run that had it judged, where it was another

    bool ok() const { return verdict == Verdict::ok; }
    // What decides at the point of that label; infinity when it failed, was skipped or was never measured.
    double nanoseconds(const std::string& label) const;
};

// What the judge says of a probe: a kernel that answers a question by its time and need not compute the right result.
// Not an Evaluation, so that nobody who takes one (search, tuner, dispatch) can take a probe for a kernel that is
// right.
struct ProbeResult {
    Verdict verdict = Verdict::ok;  // ok: it ran; nobody looked at what it computed
    std::string evidence;
    std::vector<PointResult> points;
    double compile_seconds = 0, time_seconds = 0;
};

// The key of an evaluation: nothing with the same key is ever judged twice.
std::string evaluation_key(const EvaluationRequest& request, const std::string& toolchain,
                           const std::string& machine_fingerprint, const std::string& problem_hash);

// Someone who runs in a comparison: a kernel in a configuration, or a baseline by name.
struct Contender {
    std::string name;      // unique in the comparison
    std::string baseline;  // non-empty: a baseline ("numpy", "pytorch", "onednn", ...)
    Kernel kernel;         // otherwise
    Configuration configuration;
};

// A ratio with its 95% interval; above 1 means that the first named is faster.
struct Ratio {
    double ratio = 1, low = 1, high = 1;
};

enum class Decision { faster, slower, undecided };
std::string name_of(Decision decision);

struct ComparisonRequest {
    std::vector<Contender> contenders;  // the first is the one that the others are compared with
    std::vector<ShapePoint> points;
    Effort effort = Effort::full;
    double seconds_per_point = 0.5;  // for all contenders together
    double patience_seconds = 0;     // for all points, beside their time: to wait for quiet; 0: as much again
    bool prove = false;              // kernels meet new inputs at known addresses, in time as well as in value
    bool cold = false;  // also times calls whose tensors lie in no cache; where they fill the last one, always
};

struct ContenderResult {
    std::string name;
    Verdict verdict = Verdict::ok;
    std::string evidence;
    Measurement time;
    double overhead_ns = 0;                   // cost of one call from its host language, already left out of `time`
    Measurement cold;                         // of calls whose tensors lay in no cache; empty unless asked for
    double error_share = 0;                   // as in PointResult
    Ratio speedup;                            // of the first contender over this one, paired
    Decision decision = Decision::undecided;  // first contender against this one
};

struct PointComparison {
    ShapePoint point;
    std::vector<ContenderResult> results;  // in the request's order
};

struct Comparison {
    std::vector<PointComparison> points;
    double compile_seconds = 0, check_seconds = 0, time_seconds = 0, reference_seconds = 0;
};

// What a build that watches itself while it runs says of a kernel (AddressSanitizer and its like).
struct SanitizerRun {
    std::string sanitizer;  // "ThreadSanitizer"
    int shapes = 0;         // where it ran and found nothing
    Verdict verdict = Verdict::ok;
    std::string evidence;  // of a finding
    std::string missing;   // why it did not run, or not at every shape
};

// A small case with its right answer, in the order of the problem's tensors. Integers are exact in a double.
struct TestVector {
    ShapePoint point;
    std::vector<std::vector<double>> inputs, expected;
    std::vector<double> absolute, relative;  // allowed error of each output: absolute + relative * |expected|
};

}  // namespace strop
