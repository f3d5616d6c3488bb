// Expected values: the reference in float64, run in a child of its own, ahead of all candidates. Also the tolerance:
// what float32 evaluation of the same formula in any order may differ by.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/file.h"
#include "core/problem.h"
#include "judge/answer.h"
#include "judge/buffers.h"
#include "judge/check.h"
#include "judge/compiled_reference.h"
#include "sandbox/process.h"

namespace strop::judge {

class Expectation {
public:
    Expectation(const Problem& problem, uint64_t seed, Seconds limit);
    ~Expectation();

    // The problem's range; of dimensions for which it declares none, from where the reference can be called and is
    // finite (a deviation of one sample is not). As it is where the reference does not work at the sweep either, which
    // is said when it is evaluated there; a reference that never returns or dies is a UsageError.
    std::map<std::string, Range> possible_range();
    // Before anything else, where the reference is in C or C++.
    void use(CompiledReference compiled) { compiled_ = std::move(compiled); }
    // What a reader of results must know of the reference.
    std::string note() const { return compiled_ ? compiled_->note : ""; }

    // Buffers of a point with inputs and expected values, made once and kept. Errors of the user's reference
    // (raises, wrong shape or dtype, NaN, never returns) are UsageErrors.
    Buffers& at(const ShapePoint& point);
    // The same before anything is expected of them: for those who need time to start with them.
    Buffers& with_inputs(const ShapePoint& point);
    // The timed set through a window, with expected values: kept for window 0 and one other, else evaluated.
    const InputSet& through(Buffers& buffers, int64_t window);
    // What the reference says to the inputs of a set, as Buffers keeps it; sets the set's scale.
    std::vector<std::vector<char>> values(Buffers& buffers, InputSet& set);
    // What elements of a set may differ by beyond its tolerance, which an estimate on other values of the distribution
    // gave: of each what it changes by when its own inputs change by half a unit in the last place, as often as its
    // terms may be added up in other orders; where something jumps (reals are rounded to whole numbers), what it
    // changes by when its inputs change by all of that. `expected`: all values of each output; those that Buffers
    // keeps, unless given.
    Slack slack(Buffers& buffers, const InputSet& set);
    Slack slack(Buffers& buffers, const InputSet& set, const std::vector<const char*>& expected);
    // Drops the buffers of points outside the sweep (probes), to bound memory.
    void forget(const ShapePoint& point);
    // Wall time spent here so far.
    double seconds() const { return seconds_; }
    // Fresh inputs for the same points, in place, so that a winner meets values that it never saw.
    void reseed(uint64_t seed);

private:
    static constexpr double steps_nearby = 2048;  // half units: the same formula meets other rounding errors there

    // One evaluation of the reference.
    struct Job {
        int precision = 64;
        std::optional<uint64_t> perturb;  // seed: inputs are changed by at most half a unit in the last place,
        double times = 1;                 // so often
        std::optional<size_t> plant;      // a NaN in one element of this input
    };

    void start_host();
    uint64_t point_seed(const std::string& key) const;
    void evaluate(Buffers& buffers, const InputSet& set, const Job& job, std::vector<std::vector<char>>* results);
    bool tries(Buffers& buffers, const InputSet& set, const Job& job, std::vector<std::vector<char>>* results);
    std::vector<Distribution> deal(const ShapePoint& point);
    Distribution draw(std::mt19937_64& random);
    void expect_all(Buffers& buffers, bool estimate);
    bool expect(Buffers& buffers, size_t index);
    double at_least_usual_scale(const Buffers& buffers, size_t output, double scale);
    bool has_few_outputs(const Dimensions& dims) const;  // of some output so few elements that chance decides
    std::vector<double> widen_scale(Buffers& buffers, size_t index);
    bool computes_doubles() const;
    void add_noise_of_doubles(Buffers& buffers, const InputSet& set, uint64_t seed, std::vector<double>& noise);
    bool to_the_middle(Buffers& buffers, const InputSet& set, uint64_t seed, const std::vector<const char*>& expected,
                       std::vector<std::vector<char>>& results);
    std::vector<const char*> expected_of(Buffers& buffers, const InputSet& set) const;
    bool gives_whole_numbers(Buffers& buffers, const InputSet& set, const std::vector<double>& noise) const;
    bool estimate_tolerance(Buffers& buffers, size_t index, std::vector<double> noise);
    void find_benign_distributions();
    const ShapePoint* smallest_point() const;
    ShapePoint smaller_than(const ShapePoint& point);
    bool gives_finite_values(Buffers& buffers);
    bool works_at(const Dimensions& dims);
    void check_repeatable(Buffers& buffers);
    void check_float64(Buffers& buffers);
    Answer ask(Op op, const std::string& payload, Seconds limit, const Dimensions& dims);
    std::string how_it_ended(sandbox::Child::Wait wait, Seconds limit, const Dimensions& dims);
    void set_scale(Buffers& buffers, InputSet& set, size_t output, const char* wide) const;
    double difference(Buffers& buffers, const InputSet& set, size_t output, const std::vector<char>& other) const;
    const std::vector<double>& inputs_of_an_output(Buffers& buffers);

    const Problem& problem_;
    uint64_t seed_;
    Seconds limit_;
    std::optional<CompiledReference> compiled_;
    bool crashed_ = false;  // with its process, when it was evaluated last
    double seconds_ = 0;
    std::set<std::string> notes_;  // what the reference's process remarked, said once each
    std::unique_ptr<sandbox::Child> host_;
    std::unique_ptr<TemporaryFolder> scratch_;
    SharedMemory exchange_;
    std::map<std::string, std::unique_ptr<Buffers>> buffers_;       // by describe(dims)
    std::set<std::string> unevaluated_;                             // of them, those without expected values
    std::map<std::string, std::vector<double>> inputs_of_outputs_;  // likewise, for each output
    // Of sets for checking, which keep their values for one kernel after the other: by describe(dims) and index.
    std::map<std::pair<std::string, size_t>, Slack> slack_;
    // Unusual distributions on which the reference is finite and well-conditioned, at the smallest shape; and those
    // that have not been dealt yet, in secret order.
    std::vector<Distribution> benign_, deck_;
    std::vector<double> usual_scale_;  // of each output, the least at a shape of the sweep; 0: not known
    bool benign_known_ = false;
    bool slow_ = false;     // the reference, even at the smallest shape
    uint64_t outside_ = 0;  // shapes outside the sweep so far
};

}  // namespace strop::judge
