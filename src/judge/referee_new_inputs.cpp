// Calls with inputs that a kernel has just met beside calls with new ones: who keeps results by content is quicker with
// those that it has met.
#include <algorithm>
#include <cmath>
#include <cstring>

#include <fmt/format.h>

#include "base/strings.h"
#include "judge/check.h"
#include "judge/referee.h"
#include "stats/sample.h"

namespace strop::judge {

namespace {

constexpr double remembers_ratio = 1.5, remembers_least_ns = 2e3;  // of calls with new inputs over known ones
constexpr double branches_ratio = 3;                               // likewise, more than learned branches mostly save
constexpr double alone_ratio = 3;                                  // of a call by itself over those of batches
constexpr double waking_ns = 3e5;                                  // of the threads that a kernel computes on
constexpr double fetched_ns_of_a_byte = 0.4;                       // from another core's cache, or from memory
constexpr int looks = 3, rounds_of_the_first = 9, rounds_of_another = 5;
constexpr int rounds_of_like_inputs = 9, compared_of_like_inputs = 64;  // elements of each output
constexpr double least_like_change = 0x1p-12;  // of all inputs: a few branches of some thousands go another way
constexpr double of_each_ratio = 1.3;          // of what new values of one input after the other cost over all at once
const Seconds call_limit{30};

// Single calls, by the clock outside.
struct Calls {
    double batch_ns = 0;      // what a call of a batch is said to take
    double handshake_ns = 0;  // in each of the others
    double asking_ns = 0;     // the same after a pause, where that was measured: cores that sleep can be slow to wake
    double explained_ns = 0;  // beside work and asking: threads that wake up, tensors from another core's cache
    std::vector<double> met, fresh, ran;  // with known inputs, with new ones; those less what threads waited for a core

    // Every call has told the same story. Less than a factor of three may be branches that known inputs decide as they
    // did before, and a call of a batch has not met its inputs.
    bool apart() const {
        const double least_ns = stats::quantile(fresh, 0), known_ns = stats::quantile(met, 0.75);
        return least_ns > remembers_ratio * known_ns + remembers_least_ns &&
               (!claims_new() || least_ns - handshake_ns > branches_ratio * (known_ns - handshake_ns));
    }
    // What it is said to take is about what it takes with new inputs.
    bool claims_new() const {
        return stats::quantile(fresh, 0) - handshake_ns <= remembers_ratio * batch_ns + remembers_least_ns;
    }
    bool too_long() const {
        return stats::quantile(ran, 0) > alone_ratio * batch_ns + std::max(handshake_ns, asking_ns) + explained_ns;
    }
    double between_ns() const { return std::sqrt(stats::median(met) * stats::median(fresh)); }
    // Of a call that has not met its inputs, where those of batches have.
    double new_ns() const {
        const double fresh_ns = stats::median(fresh);
        return std::min(batch_ns + fresh_ns - stats::median(met), fresh_ns - handshake_ns);
    }
};

// Single calls with one input new, by input; then with none, and with all of them.
struct OneByOne {
    std::vector<std::vector<double>> took;  // without waiting

    explicit OneByOne(const Buffers::Values& known) : took(known.size() + 2) {}
    static Buffers::Values inputs(size_t kind, const Buffers::Values& known, const Buffers::Values& drawn) {
        if (kind > known.size()) return drawn;
        Buffers::Values inputs = known;
        if (kind < known.size()) inputs[kind] = drawn[kind];
        return inputs;
    }
    double lost_ns(size_t kind) const { return low(took[kind]) - low(took[took.size() - 2]); }
    bool is_free(size_t t) const { return !took[t].empty() && lost_ns(t) <= lost_ns(took.size() - 1) / 4; }
    // Some input costs nothing, and the others no more one by one than all at once.
    bool packs() const {
        double sum_ns = 0;
        bool any_is_free = false;
        for (size_t t = 0; t + 2 < took.size(); ++t) {
            any_is_free |= is_free(t);
            if (!took[t].empty()) sum_ns += std::max(0.0, lost_ns(t));
        }
        return any_is_free && sum_ns <= of_each_ratio * lost_ns(took.size() - 1);
    }
    static double low(const std::vector<double>& took_ns) { return stats::quantile(took_ns, 0.25); }
};

}  // namespace

// Before both kinds of calls the same memory is written by the same code, so that caches are in the same state.
Runner::Outcome Referee::call_after_known(Runner& runner, size_t index, const Buffers::Values& known,
                                          const Buffers::Values& inputs) {
    Buffers& buffers = *runner.points()[index];
    const uint32_t set = static_cast<uint32_t>(buffers.timed());
    buffers.set_input_values(set, known);
    Runner::Outcome outcome = runner.call(index, 1, set, 0, call_limit);
    if (!outcome.ok()) return outcome;
    buffers.set_input_values(set, inputs);
    return runner.watched_call(index, 1, set, 0, call_limit);
}

double Referee::asking_ns(Runner& runner, Buffers& buffers, const Buffers::Values& known) {
    runner.pause();
    const std::unique_ptr<Runner> idle = Runner::idle(problem_, {&buffers});
    std::vector<double> took;
    for (int round = 0; round < rounds_of_another; ++round)
        if (const Runner::Outcome outcome = call_after_known(*idle, 0, known, known); outcome.ok())
            took.push_back(outcome.outside_ns);
    runner.resume();
    return took.empty() ? 0 : stats::median(took);
}

// What the calls give is not compared, only how long they take. Under load anything can look apart once, and an honest
// kernel must not be accused: what looks apart is looked at twice more, and then branches have to be ruled out.
//
// And a call by itself cannot take much longer than those of batches, beyond what asking just now, threads that wake up
// or wait for a core, and tensors that another core has written explain.
Runner::Outcome Referee::meet_new_inputs(Runner& runner, size_t index, Measurement& time) {
    Buffers& buffers = *runner.points()[index];
    const size_t set = buffers.timed();
    buffers.restore();
    const Buffers::Values known = buffers.input_values(set);
    Buffers::Values drawn;
    Calls calls{stats::median(time.samples_ns), runner.handshake_ns()};
    calls.explained_ns = waking_ns + fetched_ns_of_a_byte * static_cast<double>(buffers.tensor_bytes());
    int rounds = calls.batch_ns > slow_call_ns ? 1 : buffers.large() ? 2 : rounds_of_the_first, look = 0;
    Runner::Outcome outcome;
    do {
        for (int call = 0; call < 2 * rounds && outcome.ok(); ++call) {
            const bool change = call % 4 == 0 || call % 4 == 3;  // in turn the first and the second of two
            if (change) {
                buffers.refill(problem_, set, random());
                drawn = buffers.input_values(set);
            }
            outcome = call_after_known(runner, index, known, change ? drawn : known);
            if (!outcome.ok()) break;
            (change ? calls.fresh : calls.met).push_back(outcome.outside_ns);
            if (change) calls.ran.push_back(outcome.awake_ns());
        }
        rounds = std::max(rounds, rounds_of_another);
        if (outcome.ok() && calls.too_long())
            calls.asking_ns = std::max(calls.asking_ns, asking_ns(runner, buffers, known));
    } while (outcome.ok() && (calls.apart() || calls.too_long()) && ++look < looks);
    bool branches = false, packs = false;
    if (outcome.ok() && calls.apart()) outcome = meet_like_inputs(runner, index, known, calls.between_ns(), branches);
    if (outcome.ok() && calls.apart() && !branches) outcome = meet_one_by_one(runner, index, known, packs);
    buffers.set_input_values(set, known);
    if (!outcome.ok()) return outcome;
    const std::string where = strop::describe(buffers.point().dims);
    if (!calls.apart() && calls.too_long())
        return {Verdict::cheated,
                fmt::format("a call by itself takes {} or more with new inputs, where calls of batches are said to "
                            "take {}, at {}: the two do not agree",
                            human_nanoseconds(stats::quantile(calls.ran, 0)), human_nanoseconds(calls.batch_ns), where),
                0};
    if (calls.apart() && !branches && !packs)
        return {Verdict::cheated,
                fmt::format("takes {} with inputs that it has met and {} with new ones at {}: it keeps results",
                            human_nanoseconds(stats::median(calls.met)), human_nanoseconds(stats::median(calls.fresh)),
                            where),
                0};
    // The inputs of a batch's calls are each other's, moved by a few elements: they decide the same branches. And where
    // only the first call of a batch packs new weights, its claim is that of known ones.
    if (calls.apart())
        for (double& ns : time.samples_ns) ns *= std::max(1.0, calls.new_ns() / calls.batch_ns);
    return {};
}

// All inputs times one factor, another each time: how they compare and their signs stay, so that an honest kernel takes
// the branches that the processor has learned, and who keeps results by content has none for them. Whoever is quick has
// to be right.
Runner::Outcome Referee::meet_like_inputs(Runner& runner, size_t index, const Buffers::Values& known, double slow_ns,
                                          bool& quick) {
    Buffers& buffers = *runner.points()[index];
    std::vector<double> took;
    Runner::Outcome outcome;
    for (int round = 0; round < rounds_of_like_inputs; ++round) {
        Buffers::Values like = known;
        const double factor = 1 - least_like_change * (1 + static_cast<double>(random() % 1000) / 1000);
        bool any = false;
        for (size_t t = 0; t < like.size(); ++t) {
            const DType dtype = problem_.inputs[t].dtype;
            any |= scale_tensor(like[t].data(), dtype, static_cast<int64_t>(like[t].size() / size_of(dtype)), factor);
        }
        if (!any) return {};
        outcome = call_after_known(runner, index, known, like);
        if (!outcome.ok()) return outcome;
        took.push_back(outcome.outside_ns);
    }
    quick = stats::median(took) < slow_ns;
    return quick ? compare_call(runner, index, buffers.seen(0, 0)) : Runner::Outcome{};
}

// Who keeps weights in another layout, and compares them at every call, loses time with new weights and none with the
// other inputs new. Results are kept of all inputs, and what is kept of several together is lost with each of them.
// Under load anything can look so, and an honest kernel must not be accused: it is looked at up to three times.
Runner::Outcome Referee::meet_one_by_one(Runner& runner, size_t index, const Buffers::Values& known, bool& packs) {
    Buffers& buffers = *runner.points()[index];
    OneByOne calls(known);
    auto renew = [&](size_t kind) {
        buffers.refill(problem_, buffers.timed(), random());
        return OneByOne::inputs(kind, known, buffers.input_values(buffers.timed()));
    };
    for (int look = 0; look < looks && !packs; ++look) {
        for (int round = 0; round < rounds_of_another; ++round)
            for (size_t kind = 0; kind < calls.took.size(); ++kind) {
                if (kind < known.size() && known[kind].empty()) continue;
                const Runner::Outcome outcome = call_after_known(runner, index, known, renew(kind));
                if (!outcome.ok()) return outcome;
                calls.took[kind].push_back(outcome.awake_ns());
            }
        packs = calls.packs();
    }
    Runner::Outcome outcome;
    for (size_t t = 0; t < known.size() && packs && outcome.ok(); ++t) {
        if (!calls.is_free(t)) continue;
        outcome = call_after_known(runner, index, known, known);
        buffers.set_input_values(buffers.timed(), renew(t));
        if (outcome.ok()) outcome = compare_call(runner, index, buffers.seen(0, 0));
    }
    return outcome;
}

// One more call, with what the reference says to its inputs.
Runner::Outcome Referee::compare_call(Runner& runner, size_t index, InputSet set) {
    Buffers& buffers = *runner.points()[index];
    poison(buffers, set, runner.on_device());
    Runner::Outcome outcome = runner.call(index, 1, static_cast<uint32_t>(buffers.timed()), 0, call_limit);
    if (outcome.ok()) outcome.note(runner.fetch(index, set.outputs));
    if (!outcome.ok()) return outcome;
    const std::vector<std::vector<char>> expected = expectation_.values(buffers, set);
    long_idle_ = true;
    for (size_t output = 0; output < expected.size(); ++output) {
        const int64_t size = static_cast<int64_t>(size_of(problem_.outputs[output].dtype));
        const int64_t count = set.outputs[output].data_bytes / size;
        for (int i = 0; i < compared_of_like_inputs && count > 0; ++i) {
            const int64_t element = static_cast<int64_t>(random() % static_cast<uint64_t>(count));
            Found one{output, element, {}};
            std::memcpy(one.bytes, buffers.output(set, output) + element * size, static_cast<size_t>(size));
            const std::string wrong = wrong_element(buffers, set, one, expected);
            if (!wrong.empty())
                return {Verdict::cheated,
                        fmt::format("with inputs that are like those that it has met {} at {}", wrong,
                                    strop::describe(buffers.point().dims)),
                        0};
        }
    }
    return {};
}

}  // namespace strop::judge
