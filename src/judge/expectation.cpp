#include "judge/expectation.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>

#include <fmt/format.h>

#include "base/error.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/log.h"
#include "base/strings.h"
#include "core/json.h"
#include "device/machine.h"
#include "judge/answer.h"
#include "judge/float_range.h"
#include "judge/python_spec.h"
#include "judge/runner.h"
#include "judge/wide_values.h"
#include "problem/framework.h"

namespace strop::judge {

namespace {

constexpr int64_t usual_windows = 4096;
constexpr Seconds start_limit{30};  // of a process that is to evaluate: PyTorch takes seconds to load

// NumPy's own float32 evaluation is one legal order among many; another may differ this much more.
constexpr double noise_factor = 4;
// Rounding errors of a sum in order grow like the square root of its length, times what one of them does to the
// result (Higham, Accuracy and Stability of Numerical Algorithms, 2002, sections 2.8 and 4.2); this leaves room for the
// largest of many outputs.
constexpr double order_factor = 4;
// Of equal terms the errors do not cancel, but add up: the sum of their bounds.
constexpr double equal_terms_factor = 0.5;
constexpr double steps_apart = 2;  // half units in the last place: such inputs differ when they are rounded
// Units in the last place that float32 may be off beyond what its inputs' rounding errors do.
constexpr double most_unexplained = 64;
constexpr uint64_t draws_nearby = 3;
// Below this many units in the last place a tolerance would forbid legal rounding.
constexpr double least_ulps = 16;
// What a 16-bit output may be off for being stored, beside what float32 gives: where a result is a chain of operations,
// each of which stores its own, as a framework computes it, two or three roundings of half a unit each.
constexpr double stored_ulps = 2;
constexpr double float32_only_factor = 2;  // its expected values have rounding errors of their own
constexpr int said_why = 71;               // exit code of a reference in C++ (language/reference_kernel.cpp)
// Of so few outputs the largest error says little: more perturbations are tried, and each set has its own tolerance.
constexpr int64_t few_outputs = 256;
constexpr int perturbations_of_few = 8;
// And they may all happen to be small, so that no sum in float32 would be right: their scale is also that of more
// draws.
constexpr int draws_of_few = 7;

// Of the values that fit into the output's type.
double root_mean_square(const double* values, int64_t count, DType dtype) {
    const double largest = float_range(dtype).largest;
    double sum = 0;
    int64_t fitting = 0;
    for (int64_t i = 0; i < count; ++i)
        if (std::fabs(values[i]) <= largest) {
            sum += values[i] * values[i];
            ++fitting;
        }
    return fitting ? std::sqrt(sum / static_cast<double>(fitting)) : 0;
}

}  // namespace

Expectation::Expectation(const Problem& problem, uint64_t seed, Seconds limit)
    : problem_(problem),
      seed_(seed),
      limit_(limit),
      exchange_(1 << 20) {}

Expectation::~Expectation() = default;

void Expectation::start_host() {
    scratch_ = std::make_unique<TemporaryFolder>("strop-reference");
    Json spec = {{"role", "reference"},
                 {"reference", problem_.reference.string()},
                 {"function", problem_.function},
                 {"framework", framework_of(problem_.reference)},
                 {"inputs", names_and_dtypes(problem_.inputs)},
                 {"outputs", names_and_dtypes(problem_.outputs)},
                 {"parameters", parameters_with_values(problem_)},
                 {"exchange_fd", exchange_.fd()}};
    if (compiled_) {
        spec["libraries"] = {{"declared", compiled_->declared.string()},
                             {"wide", compiled_->wide.empty() ? Json() : Json(compiled_->wide.string())}};
        spec["late"] = compiled_->late_values;
    }
    write_file(scratch_->path() / "spec.json", spec.dump());
    sandbox::Command command;
    command.argv = {reference_python(), (home_folder() / "python/strop/host.py").string(),
                    (scratch_->path() / "spec.json").string()};
    command.environment = {{"PYTHONDONTWRITEBYTECODE", "1"},
                           {"GLIBC_TUNABLES", kept_memory},
                           {"NUMPY_MADVISE_HUGEPAGE", "0"}};  // used once, they cost more than they save
    command.scratch = scratch_->path().string();
    command.keep_fds = {exchange_.fd()};
    command.trust = sandbox::Trust::reference;
    host_ = std::make_unique<sandbox::Child>(command);
}

// Copies the inputs into the exchange, runs the reference, copies the outputs out. Floating outputs come back as
// doubles in both precisions. `results` null: into the expected values.
void Expectation::evaluate(Buffers& buffers, const InputSet& set, const Job& wanted,
                           std::vector<std::vector<char>>* results) {
    const Dimensions& dims = buffers.point().dims;
    Json job = {{"precision", wanted.precision},
                {"inputs", Json::array()},
                {"outputs", Json::array()},
                {"dimensions", Json::array()}};
    for (const std::string& name : problem_.dimensions) job["dimensions"].push_back(dims.at(name));
    if (wanted.perturb) {
        job["perturb"] = *wanted.perturb;
        job["times"] = wanted.times;
    }
    if (wanted.plant) job["plant"] = *wanted.plant;
    int64_t size = 0;
    auto add = [&](const char* kind, const Tensor& tensor, int64_t bytes) {
        job[kind].push_back({{"shape", extents(problem_, tensor, dims)}, {"offset", size}});
        int64_t offset = size;
        size += (bytes + 63) / 64 * 64;
        return offset;
    };
    std::vector<int64_t> in, out;
    for (size_t t = 0; t < problem_.inputs.size(); ++t)
        in.push_back(add("inputs", problem_.inputs[t], set.inputs[t].data_bytes));
    for (const Tensor& tensor : problem_.outputs)
        out.push_back(add("outputs", tensor, 8 * element_count(problem_, tensor, dims)));
    exchange_.grow(size + 64);
    for (size_t t = 0; t < in.size(); ++t)
        std::memcpy(exchange_.data() + in[t], buffers.input(set, t), static_cast<size_t>(set.inputs[t].data_bytes));

    crashed_ = false;
    if (!host_) {
        start_host();
        ask(Op::load, "", start_limit, dims);
    }
    const Clock::time_point start = Clock::now();
    const Answer answer = ask(Op::evaluate, job.dump(), limit_, dims);
    buffers.note_reference(Seconds(seconds_since(start)));
    host_->pause();  // what it has still to tidy up must not run beside a timed batch
    if (answer.reply.status != 0)
        throw UsageError(answer.text,
                         in_sweep(problem_, dims)
                             ? fmt::format("the reference failed{}: do inputs as they are declared suit it?",
                                           dims.empty() ? "" : " at " + describe(dims))
                             : fmt::format("the reference failed at {}: where it cannot be called, say so "
                                           "with `range` or `require` (docs/problems.md)",
                                           describe(dims)));

    if (!answer.text.empty() && notes_.insert(answer.text).second) spdlog::warn("{}", answer.text);

    if (results) results->clear();
    for (size_t t = 0; t < out.size(); ++t) {
        bool real = is_floating(problem_.outputs[t].dtype);
        int64_t count = element_count(problem_, problem_.outputs[t], dims);
        size_t bytes = static_cast<size_t>(count) * (real ? 8 : size_of(problem_.outputs[t].dtype));
        const char* from = exchange_.data() + out[t];
        if (results) results->emplace_back(from, from + bytes);
        else std::memcpy(buffers.expected(set, t), from, bytes);
    }
}

Answer Expectation::ask(Op op, const std::string& payload, Seconds limit, const Dimensions& dims) {
    host_->resume();
    Request request{op};
    request.payload_bytes = static_cast<uint32_t>(payload.size());
    host_->send(&request, sizeof request);
    host_->send(payload.data(), payload.size());
    const Clock::time_point start = Clock::now();
    Answer answer;
    const sandbox::Child::Wait wait = read_answer(
        [&](void* data, size_t bytes) { return host_->receive(data, bytes, limit - Seconds(seconds_since(start))); },
        answer);
    if (wait == sandbox::Child::Wait::ready) return answer;
    const std::string why = how_it_ended(wait, limit, dims);
    throw UsageError(fmt::format("{}: the reference {}", problem_.reference.string(), why),
                     crashed_ ? "a kernel's contract holds for it as well: docs/kernels.md"
                              : "make it return, or use smaller shapes");
}

std::string Expectation::how_it_ended(sandbox::Child::Wait wait, Seconds limit, const Dimensions& dims) {
    const sandbox::Finished finished = host_->kill();
    host_.reset();
    crashed_ = compiled_ && wait != sandbox::Child::Wait::timed_out;
    if (wait == sandbox::Child::Wait::timed_out)
        return fmt::format("did not return within {:.0f} s at {}", limit.count(), describe(dims));
    if (finished.exit_code != said_why) return "ended by itself: " + finished.describe();
    const std::vector<std::string> lines = split(trim(finished.err), '\n');
    return fmt::format("{} at {}", printable(lines.back()), describe(dims));
}

// The same, where the reference may refuse inputs that nobody declared; one in C++ may do so with a crash.
bool Expectation::tries(Buffers& buffers, const InputSet& set, const Job& job,
                        std::vector<std::vector<char>>* results) {
    try {
        evaluate(buffers, set, job, results);
        return true;
    } catch (const UsageError&) {
        if (!host_ && !crashed_) throw;  // it died, or never returned
        return false;
    }
}

// The largest difference of two evaluations, as a share of |expected| + scale; infinite where only one is finite. Of
// values that the output's type does not hold only what its steps do not explain says something (another element was
// chosen); inputs that nobody declared and that lead to values beyond it are not worth a check, because sums on the way
// may be infinite of either sign.
double Expectation::difference(Buffers& buffers, const InputSet& set, size_t output,
                               const std::vector<char>& other) const {
    const double* wide = buffers.expected(set, output);
    const double* rough = reinterpret_cast<const double*>(other.data());
    const FloatRange range = float_range(problem_.outputs[output].dtype);
    int64_t count = static_cast<int64_t>(other.size() / 8);
    double worst = 0;
    for (int64_t i = 0; i < count; ++i) {
        if (set.distribution != Distribution::declared && std::fabs(wide[i]) > range.largest)
            return std::numeric_limits<double>::infinity();
        double error = std::fabs(rough[i] - wide[i]);
        if (!(error > 0) && !std::isnan(error)) continue;
        if (std::fabs(wide[i]) > range.largest) continue;
        const bool vanishes = wide[i] != 0 && std::fabs(wide[i]) < range.least_normal;
        if (vanishes && (rough[i] == 0 || error <= set.steps[output] * range.least_subnormal)) continue;
        double share = error / (std::fabs(wide[i]) + set.scale[output]);
        if (!std::isfinite(share)) return std::numeric_limits<double>::infinity();
        worst = std::max(worst, share);
    }
    return worst;
}

// How many input elements each output element depends on, for the input with the most: the NaNs that one planted NaN
// becomes, times the elements it could have been, over the outputs. At least 1.
const std::vector<double>& Expectation::inputs_of_an_output(Buffers& buffers) {
    const Dimensions& dims = buffers.point().dims;
    auto [place, is_new] = inputs_of_outputs_.try_emplace(describe(dims), problem_.outputs.size(), 1.0);
    const InputSet& set = buffers.sets().front();
    std::vector<std::vector<char>> plain;
    const bool any_whole = std::any_of(problem_.outputs.begin(), problem_.outputs.end(),
                                       [](const Tensor& tensor) { return !is_floating(tensor.dtype); });
    if (is_new && any_whole) evaluate(buffers, set, {32}, &plain);
    for (size_t in = 0; is_new && in < problem_.inputs.size(); ++in) {
        if (!is_floating(problem_.inputs[in].dtype)) continue;
        std::vector<std::vector<char>> results;
        if (!tries(buffers, set, {32, {}, 1, in}, &results)) continue;
        double places = static_cast<double>(element_count(problem_, problem_.inputs[in], dims));
        for (size_t t = 0; t < problem_.outputs.size(); ++t) {
            const DType dtype = problem_.outputs[t].dtype;
            const size_t size = is_floating(dtype) ? sizeof(double) : size_of(dtype), count = results[t].size() / size;
            int64_t reached = 0;
            for (size_t i = 0; i < count; ++i)  // a whole number becomes another one
                reached += is_floating(dtype)
                               ? std::isnan(value_at(results[t].data(), i))
                               : std::memcmp(results[t].data() + i * size, plain[t].data() + i * size, size) != 0;
            double& inputs = place->second[t];
            inputs = std::max(inputs, static_cast<double>(reached) * places / static_cast<double>(count));
        }
    }
    return place->second;
}

// The declared distribution's tolerance is estimated once a point, an unusual one's on its own values; values drawn
// anew from the same distributions keep it. An unusual set on which the reference proves ill-conditioned becomes
// another one as declared.
void Expectation::expect_all(Buffers& buffers, bool estimate) {
    const bool few = has_few_outputs(buffers.point().dims);
    std::vector<InputSet>& sets = buffers.sets();
    for (size_t i = 0; i < sets.size(); ++i) {
        if (sets[i].values != i) {
            sets[i].scale = sets[sets[i].values].scale;
            sets[i].tolerance = sets[sets[i].values].tolerance;
            sets[i].steps = sets[sets[i].values].steps;
            continue;
        }
        bool own = few || (estimate && (i == 0 || sets[i].distribution != Distribution::declared));
        bool usable = expect(buffers, i);
        std::vector<double> noise;
        if (usable) noise = widen_scale(buffers, i);
        usable = usable && (!own || estimate_tolerance(buffers, i, noise));
        if (!usable && sets[i].distribution != Distribution::declared) {
            sets[i].distribution = Distribution::declared;
            buffers.refill(problem_, i, mix64(point_seed(describe(buffers.point().dims)) + i));
            expect(buffers, i);
            noise = widen_scale(buffers, i);
            own = few && estimate_tolerance(buffers, i, noise);
        }
        if (own || sets[i].distribution != Distribution::declared) continue;
        sets[i].tolerance = sets[0].tolerance;
        sets[i].steps = sets[0].steps;
    }
    if (buffers.windows() > 0) buffers.keep(0);  // just evaluated
}

const InputSet& Expectation::through(Buffers& buffers, int64_t window) {
    if (InputSet* known = buffers.known(window)) return *known;
    InputSet& set = buffers.keep(window);
    evaluate(buffers, set, {}, nullptr);
    for (size_t t = 0; t < problem_.outputs.size(); ++t)
        set_scale(buffers, set, t, reinterpret_cast<const char*>(buffers.expected(set, t)));
    buffers.remember(set);
    return set;
}

std::vector<std::vector<char>> Expectation::values(Buffers& buffers, InputSet& set) {
    std::vector<std::vector<char>> results;
    evaluate(buffers, set, {}, &results);
    for (size_t t = 0; t < results.size(); ++t) set_scale(buffers, set, t, results[t].data());
    return results;
}

void Expectation::set_scale(Buffers& buffers, InputSet& set, size_t output, const char* wide) const {
    const Tensor& tensor = problem_.outputs[output];
    if (!is_floating(tensor.dtype)) return;
    // The tolerance was estimated on window 0: where outputs are few, another window's may all happen to be small.
    set.scale[output] = std::max(buffers.sets().back().scale[output],
                                 root_mean_square(reinterpret_cast<const double*>(wide),
                                                  element_count(problem_, tensor, buffers.point().dims), tensor.dtype));
}

// Where all outputs are 0 (the entropy of one class, the deviation of one sample) a rounding error is measured against
// what they are elsewhere.
double Expectation::at_least_usual_scale(const Buffers& buffers, size_t output, double scale) {
    usual_scale_.resize(problem_.outputs.size());
    double& usual = usual_scale_[output];
    if (!in_sweep(problem_, buffers.point().dims)) return scale > 0 ? scale : usual;
    if (scale > 0 && (usual == 0 || scale < usual)) usual = scale;
    return scale;
}

// Expected values and their scale; whether all are finite, which for the first set, as declared, they have to be, and
// of unusual ones not all are 0.
bool Expectation::expect(Buffers& buffers, size_t index) {
    InputSet& set = buffers.sets()[index];
    if (set.distribution == Distribution::declared) evaluate(buffers, set, {}, nullptr);
    else if (!tries(buffers, set, {}, nullptr)) return false;
    bool finite = true;
    for (size_t t = 0; t < problem_.outputs.size(); ++t) {
        const Tensor& tensor = problem_.outputs[t];
        if (!is_floating(tensor.dtype)) continue;
        int64_t count = element_count(problem_, tensor, buffers.point().dims);
        const double* wide = buffers.expected(set, t);
        finite = finite && all_finite(wide, count);
        if (!finite && index == 0 && set.distribution == Distribution::declared)
            throw UsageError(fmt::format("{}: the reference returns nan or infinity in '{}' at {}",
                                         problem_.reference.string(), tensor.name, describe(buffers.point().dims)),
                             in_sweep(problem_, buffers.point().dims)
                                 ? "choose a `fill` of the inputs on which it is finite (positive, uniform)"
                                 : "choose a `fill` of the inputs on which it is finite, or leave such shapes out with "
                                   "`range` or `require` (docs/problems.md)");
        set.scale[t] = root_mean_square(wide, count, tensor.dtype);
        if (set.distribution == Distribution::declared) set.scale[t] = at_least_usual_scale(buffers, t, set.scale[t]);
        // Where everything cancels, what is left of a rounding error is as large as anything else.
        const double least = float_range(tensor.dtype).least_subnormal;
        if (set.distribution != Distribution::declared &&
            std::all_of(wide, wide + count, [&](double value) { return std::fabs(value) < least; }))
            return false;
    }
    return finite;
}

bool Expectation::has_few_outputs(const Dimensions& dims) const {
    return std::any_of(problem_.outputs.begin(), problem_.outputs.end(),
                       [&](const Tensor& tensor) { return element_count(problem_, tensor, dims) < few_outputs; });
}

// Of few outputs one evaluation says little: their root mean square over other inputs from the same distribution, where
// it is larger than theirs, and the largest error that float32 makes there, as a share of it.
std::vector<double> Expectation::widen_scale(Buffers& buffers, size_t index) {
    std::vector<double> squares, noise(problem_.outputs.size());
    if (!has_few_outputs(buffers.point().dims)) return noise;
    InputSet& set = buffers.sets()[index];
    const std::vector<std::vector<char>> own = buffers.input_values(index);
    for (double scale : set.scale) squares.push_back(scale * scale);
    int drawn = 1;
    std::vector<std::vector<char>> results, rough;
    for (int draw = 0; draw < draws_of_few; ++draw) {
        buffers.refill(problem_, index, mix64(seed_ + index) + static_cast<uint64_t>(draw));
        if (!tries(buffers, set, {}, &results)) continue;
        ++drawn;
        const bool both = tries(buffers, set, {32}, &rough);
        for (size_t t = 0; t < results.size(); ++t) {
            if (!is_floating(problem_.outputs[t].dtype)) continue;
            const double* wide = reinterpret_cast<const double*>(results[t].data());
            const int64_t count = static_cast<int64_t>(results[t].size() / 8);
            const double scale = root_mean_square(wide, count, problem_.outputs[t].dtype);
            squares[t] += scale * scale;
            for (int64_t i = 0; both && i < count; ++i)
                if (const double error = std::fabs(value_at(rough[t].data(), static_cast<size_t>(i)) - wide[i]);
                    std::isfinite(error))
                    noise[t] = std::max(noise[t], error);
        }
    }
    buffers.set_input_values(index, own);
    for (size_t t = 0; t < squares.size(); ++t) {
        const bool few = element_count(problem_, problem_.outputs[t], buffers.point().dims) < few_outputs;
        if (!few || !is_floating(problem_.outputs[t].dtype)) noise[t] = 0;
        else set.scale[t] = std::max(set.scale[t], std::sqrt(squares[t] / drawn));
        if (set.scale[t] > 0) noise[t] /= set.scale[t];
    }
    return noise;
}

// From what float32 gives, and from what rounding errors as large as those of the inputs do when every input element of
// an output adds one. Whether the tolerance still tells right from wrong.
bool Expectation::estimate_tolerance(Buffers& buffers, size_t index, std::vector<double> noise) {
    InputSet& set = buffers.sets()[index];
    const bool equal = has_equal_values(set.distribution);
    std::vector<double> growth;
    for (double length : inputs_of_an_output(buffers))
        growth.push_back(std::max(order_factor * std::sqrt(length), equal ? equal_terms_factor * length : 0));
    set.at_jumps = false;
    set.steps.clear();  // each term is rounded to a step, however small it is
    for (double steps : growth) set.steps.push_back(std::max(least_ulps, steps));
    std::vector<std::vector<char>> results;
    std::vector<double> condition(problem_.outputs.size());
    auto note = [&](const Job& job, std::vector<double>& worst, int64_t outputs) {
        if (job.precision == 32 && !job.perturb && set.distribution == Distribution::declared)
            evaluate(buffers, set, job, &results);
        else if (!tries(buffers, set, job, &results)) return false;
        for (size_t t = 0; t < worst.size(); ++t)
            if (is_floating(problem_.outputs[t].dtype) && static_cast<int64_t>(results[t].size() / 8) < outputs)
                worst[t] = std::max(worst[t], difference(buffers, set, t, results[t]));
        return true;
    };
    const auto all = std::numeric_limits<int64_t>::max();
    if (!note({32}, noise, all)) return false;
    // Where the declared types decide otherwise, nobody can be asked for what float64 decides.
    for (size_t t = 0; t < results.size(); ++t)
        if (set.distribution != Distribution::declared && !is_floating(problem_.outputs[t].dtype) &&
            std::memcmp(results[t].data(), buffers.expected(set, t), results[t].size()) != 0)
            return false;
    if (set.distribution != Distribution::whole)  // of a jump the middle is no noise
        for (uint64_t draw = 0; draw < draws_nearby; ++draw)
            add_noise_of_doubles(buffers, set, mix64(seed_ + index) + draw, noise);
    note({64, mix64(seed_ + index)}, condition, all);
    bool few = std::any_of(results.begin(), results.end(), [](const auto& r) { return r.size() / 8 < few_outputs; });
    for (uint64_t more = 1; few && more < perturbations_of_few; ++more)
        note({64, mix64(seed_ + index) + more}, condition, few_outputs);
    // Something inside is ill-conditioned (what was normalized nearly cancels) where float32 is off by more than the
    // orders of a sum explain. Of equal terms it may be exact by chance, because they add up to short numbers, but not
    // beside such inputs. How far another order is off one evaluation does not tell then: the declared distribution is
    // kept, with the worst of several.
    bool explained = true;
    auto explain = [&](size_t t, double error, double terms) {
        const double epsilon = epsilon_of(computed_in(problem_.outputs[t].dtype));
        explained = explained && error <= std::max(most_unexplained * epsilon,
                                                   order_factor * std::sqrt(terms) * (condition[t] + epsilon / 2));
    };
    for (size_t t = 0; t < noise.size(); ++t) explain(t, noise[t], inputs_of_an_output(buffers)[t]);
    std::vector<double> nearby(noise.size());
    for (uint64_t more = 0; (equal || !explained) && more < (slow_ ? 1 : draws_nearby); ++more)
        note({32, mix64(seed_ + index) + more, steps_apart}, nearby, all);
    for (size_t t = 0; equal && t < noise.size(); ++t) explain(t, nearby[t] - noise[t], 1);
    bool usable = true, sure = set.distribution == Distribution::whole;
    std::vector<double> at_jumps(problem_.outputs.size());
    for (size_t t = 0; t < problem_.outputs.size(); ++t) {
        if (!is_floating(problem_.outputs[t].dtype)) continue;
        const DType dtype = problem_.outputs[t].dtype;
        const double epsilon = epsilon_of(computed_in(dtype)),
                     stored = is_half(dtype) ? stored_ulps * epsilon_of(dtype) : 0;
        double orders = growth[t] * (condition[t] + epsilon / 2), own = noise_factor * std::max(noise[t], nearby[t]);
        // The function jumps, or is hopeless: what float32 gave is all that can be known.
        if (orders > largest_tolerance) orders = noise_factor * own;
        usable = usable && growth[t] * (condition[t] + epsilon / 2) <= largest_tolerance && own <= largest_tolerance;
        if (compiled_ && !compiled_->note.empty()) orders *= float32_only_factor;
        set.tolerance[t] = stored + std::min(largest_tolerance, std::max({least_ulps * epsilon, own, orders}));
        at_jumps[t] = stored + std::max(least_ulps, growth[t] / 2) * epsilon;
        sure = sure && noise[t] <= least_ulps * epsilon;
    }
    if (usable && explained && !(sure && gives_whole_numbers(buffers, set, noise))) return true;
    // A function that jumps does so between whole numbers, or at them: where float32 and float64 agree, what is to come
    // out there is known, although it is another thing next to them.
    if (sure) set.tolerance = at_jumps;
    return set.at_jumps = sure;
}

Slack Expectation::slack(Buffers& buffers, const InputSet& set) {
    const std::vector<InputSet>& sets = buffers.sets();
    for (size_t i = 0; buffers.small() && i < buffers.timed(); ++i) {
        if (&sets[i] != &set) continue;
        auto [place, is_new] = slack_.try_emplace({describe(buffers.point().dims), i});
        if (is_new) place->second = slack(buffers, set, expected_of(buffers, set));
        return place->second;
    }
    return slack(buffers, set, expected_of(buffers, set));
}

Slack Expectation::slack(Buffers& buffers, const InputSet& set, const std::vector<const char*>& expected) {
    Slack slack(problem_.outputs.size());
    std::vector<double> growth;
    for (double length : inputs_of_an_output(buffers)) growth.push_back(order_factor * std::sqrt(length));
    std::vector<std::vector<char>> results, exact;
    // By `factor` of how far results are from those: a whole number by all of it.
    auto widen_by = [&](const std::vector<const char*>& from, const std::vector<double>& factors) {
        for (size_t t = 0; t < slack.size(); ++t) {
            const bool real = is_floating(problem_.outputs[t].dtype);
            const DType kept = real ? DType::float64 : problem_.outputs[t].dtype;
            const int64_t count = static_cast<int64_t>(results[t].size() / size_of(kept));
            const std::vector<double> changed = as_doubles(results[t].data(), kept, count),
                                      want = as_doubles(from[t], kept, count);
            slack[t].resize(want.size());
            const double factor = real ? factors[t] : 1;
            for (size_t i = 0; i < want.size(); ++i)
                if (const double change = factor * std::fabs(changed[i] - want[i]); std::isfinite(change))
                    slack[t][i] = std::max(slack[t][i], change);
        }
    };
    auto widen = [&](const Job& job, const std::vector<double>& factors) {
        if (!tries(buffers, set, job, &results)) return false;
        widen_by(expected, factors);
        return true;
    };
    const std::vector<double> once(slack.size(), 1), noise(slack.size(), noise_factor);
    auto seed = [&](uint64_t draw) { return mix64(seed_ ^ mix64(draw)); };
    for (uint64_t draw = 0; draw < perturbations_of_few; ++draw)
        if (!widen({64, seed(draw)}, growth)) return {};
    // What jumps (a rounding to whole numbers) does so when its inputs change by all of that: this way, or the other.
    const double most = *std::max_element(growth.begin(), growth.end());
    for (uint64_t draw = 0; draw < perturbations_of_few / 2; ++draw)
        for (double times : {most, -most})
            if (!widen({64, seed(draw), times}, once)) return {};
    widen({32}, once);  // what the reference itself makes of them in the declared types
    // A formula may lose digits that its inputs do not show (an arc sine near 1): as many as float32 loses nearby.
    for (uint64_t draw = 0; draw < perturbations_of_few; ++draw) {
        if (!tries(buffers, set, {64, seed(draw), steps_nearby}, &exact) ||
            !tries(buffers, set, {32, seed(draw), steps_nearby}, &results))
            continue;
        std::vector<const char*> from;
        for (const std::vector<char>& values : exact) from.push_back(values.data());
        widen_by(from, noise);
        results = std::move(exact);
        if (computes_doubles() && to_the_middle(buffers, set, seed(draw), expected, results)) widen_by(expected, noise);
    }
    return slack;
}

Buffers& Expectation::with_inputs(const ShapePoint& point) {
    const std::string key = describe(point.dims);
    const auto found = buffers_.find(key);
    if (found != buffers_.end()) return *found->second;
    PhaseTimer timer(seconds_);
    if (!benign_known_) find_benign_distributions();
    std::vector<Distribution> checks = deal(point);
    // Shapes outside the sweep come in numbers and are checked once: no windows.
    auto buffers = std::make_unique<Buffers>(problem_, point, checks,
                                             in_sweep(problem_, point.dims) ? usual_windows : 1, point_seed(key));
    unevaluated_.insert(key);
    return *(buffers_[key] = std::move(buffers));
}

Buffers& Expectation::at(const ShapePoint& point) {
    Buffers& buffers = with_inputs(point);
    const auto waiting = unevaluated_.find(describe(point.dims));
    if (waiting == unevaluated_.end()) return buffers;
    PhaseTimer timer(seconds_);
    expect_all(buffers, true);
    unevaluated_.erase(waiting);
    return buffers;
}

void Expectation::forget(const ShapePoint& point) {
    const std::string key = describe(point.dims);
    buffers_.erase(key);
    unevaluated_.erase(key);
    inputs_of_outputs_.erase(key);
    std::erase_if(slack_, [&](const auto& one) { return one.first.first == key; });
}

void Expectation::reseed(uint64_t seed) {
    PhaseTimer timer(seconds_);
    seed_ = seed;
    slack_.clear();
    for (auto& [key, buffers] : buffers_) {
        buffers->refill(problem_, point_seed(key));
        if (unevaluated_.count(key) == 0) expect_all(*buffers, false);
    }
}

uint64_t Expectation::point_seed(const std::string& key) const {
    return mix64(seed_ ^ mix64(std::hash<std::string>{}(key)));
}

}  // namespace strop::judge
