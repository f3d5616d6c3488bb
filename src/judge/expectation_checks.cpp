// What is found out about a reference before anything is expected of kernels: whether it repeats, whether it computes
// the same in float64, and which distributions suit it.
#include <algorithm>
#include <cmath>
#include <cstring>

#include <fmt/format.h>

#include "base/error.h"
#include "base/hash.h"
#include "judge/expectation.h"
#include "judge/wide_values.h"

namespace strop::judge {

namespace {

constexpr double same_evaluation = 1e-9;  // share by which two evaluations in float64 may differ
// A function that jumps may do so elsewhere in float32, at a few of its outputs.
constexpr double least_alike = 0.99;
// A reference that takes so long at the smallest shape is asked as seldom as possible.
constexpr Seconds slow_reference{0.01};
// A shape whose sets of every distribution fit in this gets them all, unless the reference is slow.
constexpr uint64_t most_draws = 16;  // of indexes, to see whether a tensor has what they name
constexpr int64_t all_distributions_bytes = 16 << 20;
constexpr int64_t least_extent = 16;  // of a smaller shape that tells which distributions are benign

}  // namespace

// Where the reference is finite and well-conditioned, on the smallest point of the sweep, or a smaller one where the
// reference is slow there.
void Expectation::find_benign_distributions() {
    benign_known_ = true;
    const ShapePoint* smallest = smallest_point();
    if (!smallest) return;
    Buffers declared(problem_, *smallest, {Distribution::declared}, 0, mix64(seed_ + 17));
    expect(declared, 0);  // who fails there is told so
    check_repeatable(declared);
    if (compiled_ && !compiled_->wide.empty()) check_float64(declared);
    slow_ = declared.reference_time() >= slow_reference;
    const ShapePoint point = slow_ ? smaller_than(*smallest) : *smallest;
    for (Distribution distribution : unusual_distributions()) {
        Buffers buffers(problem_, point, {Distribution::declared, distribution}, 0, mix64(seed_ + 17));
        if (expect(buffers, 1) && estimate_tolerance(buffers, 1, widen_scale(buffers, 1)))
            benign_.push_back(distribution);
    }
}

// Distributions of a point's checks: as declared, then unusual ones, from the deck without replacement, so that a
// judgement meets each once before it meets one twice; all of them where the shape is small and the reference quick. Of
// the shapes outside the sweep every other one gets one.
std::vector<Distribution> Expectation::deal(const ShapePoint& point) {
    const int64_t bytes = tensor_bytes(problem_, point.dims);
    std::vector<Distribution> dealt = {Distribution::declared};
    if (bytes > large_bytes) return dealt;
    std::mt19937_64 random(point_seed(describe(point.dims)));
    if (!in_sweep(problem_, point.dims)) {  // they come in numbers and are checked once: fewer sets
        if ((seed_ + outside_++) % 2 == 0) dealt.push_back(draw(random));
        return dealt;
    }
    const bool all = !slow_ && bytes * static_cast<int64_t>(benign_.size() + 1) <= all_distributions_bytes;
    if (all) {
        dealt.insert(dealt.end(), benign_.begin(), benign_.end());
        std::shuffle(dealt.begin() + 1, dealt.end(), random);
    }
    while (dealt.size() < 3) dealt.push_back(draw(random));
    return dealt;
}

Distribution Expectation::draw(std::mt19937_64& random) {
    if (deck_.empty()) {
        deck_ = benign_.empty() ? std::vector{Distribution::declared} : benign_;
        std::shuffle(deck_.begin(), deck_.end(), random);
    }
    const Distribution drawn = deck_.back();
    deck_.pop_back();
    return drawn;
}

// Of whole numbers, the same in float32 as in float64: a step from one to the next is no rounding error, however small
// it is beside the largest.
bool Expectation::gives_whole_numbers(Buffers& buffers, const InputSet& set, const std::vector<double>& noise) const {
    bool any = false;
    for (size_t t = 0; t < problem_.outputs.size(); ++t) {
        if (!is_floating(problem_.outputs[t].dtype)) continue;
        const auto* values = reinterpret_cast<const double*>(buffers.expected(set, t));
        const int64_t count = element_count(problem_, problem_.outputs[t], buffers.point().dims);
        if (noise[t] != 0 || !std::all_of(values, values + count, [](double v) { return v == std::nearbyint(v); }))
            return false;
        any = true;
    }
    return any;
}

bool Expectation::computes_doubles() const {
    return std::any_of(problem_.outputs.begin(), problem_.outputs.end(),
                       [](const Tensor& tensor) { return tensor.dtype == DType::float64; });
}

// `results`, in float64 at inputs `steps_nearby` beside their own, become the mean of them and of those as far on the
// other side, for outputs of float64; others what is expected. Of a smooth function the mean differs from the value in
// the middle by rounding errors only, which is what it loses within its formula (1 - cos(x) of a small x) and nothing
// more precise is there to tell (Moré and Wild, Estimating Computational Noise, 2011).
bool Expectation::to_the_middle(Buffers& buffers, const InputSet& set, uint64_t seed,
                                const std::vector<const char*>& expected, std::vector<std::vector<char>>& results) {
    std::vector<std::vector<char>> other;
    if (!tries(buffers, set, {64, seed, -steps_nearby}, &other)) return false;
    for (size_t t = 0; t < other.size(); ++t) {
        if (problem_.outputs[t].dtype != DType::float64) {
            std::memcpy(results[t].data(), expected[t], results[t].size());
            continue;
        }
        double* values = reinterpret_cast<double*>(results[t].data());
        for (size_t i = 0; i < other[t].size() / sizeof(double); ++i)
            values[i] = (values[i] + value_at(other[t].data(), i)) / 2;
    }
    return true;
}

void Expectation::add_noise_of_doubles(Buffers& buffers, const InputSet& set, uint64_t seed,
                                       std::vector<double>& noise) {
    std::vector<std::vector<char>> results;
    if (!computes_doubles() || !tries(buffers, set, {64, seed, steps_nearby}, &results) ||
        !to_the_middle(buffers, set, seed, expected_of(buffers, set), results))
        return;
    for (size_t t = 0; t < noise.size(); ++t)
        if (problem_.outputs[t].dtype == DType::float64)
            noise[t] = std::max(noise[t], difference(buffers, set, t, results[t]));
}

std::vector<const char*> Expectation::expected_of(Buffers& buffers, const InputSet& set) const {
    std::vector<const char*> expected;
    for (size_t t = 0; t < problem_.outputs.size(); ++t)
        expected.push_back(reinterpret_cast<const char*>(buffers.expected(set, t)));
    return expected;
}

// One without extents of 1 if there is such a one: a mean of one element, say, bears values that no other mean does.
const ShapePoint* Expectation::smallest_point() const {
    const ShapePoint* smallest = nullptr;
    std::pair<bool, double> least;
    for (const ShapePoint& point : problem_.points) {
        std::pair<bool, double> size{false, 0};
        for (const auto& [name, extent] : point.dims) size.first = size.first || extent == 1;
        for (const Tensor& tensor : problem_.inputs)
            size.second += static_cast<double>(element_count(problem_, tensor, point.dims));
        if (!smallest || size < least) {
            smallest = &point;
            least = size;
        }
    }
    return smallest;
}

// Its extents halved, as far as the problem admits it and the reference is finite there, until the reference is quick.
ShapePoint Expectation::smaller_than(const ShapePoint& point) {
    ShapePoint found = point;
    for (bool smaller = true; smaller;) {
        ShapePoint next = found;
        for (auto& [name, extent] : next.dims) {
            const int64_t whole = extent;
            if (whole < 2 * least_extent) continue;
            extent = (whole + 1) / 2;
            if (!admits(problem_, next.dims)) extent = whole;
        }
        smaller = next.dims != found.dims;
        if (!smaller) break;
        Buffers buffers(problem_, next, {Distribution::declared}, 0, mix64(seed_ + 17));
        if (!gives_finite_values(buffers)) break;
        found = next;
        smaller = buffers.reference_time() >= slow_reference;
    }
    return found;
}

bool Expectation::gives_finite_values(Buffers& buffers) {
    std::vector<std::vector<char>> results;
    if (!tries(buffers, buffers.sets().front(), {}, &results)) return false;
    for (size_t t = 0; t < results.size(); ++t)
        if (is_floating(problem_.outputs[t].dtype) && !all_finite(reinterpret_cast<const double*>(results[t].data()),
                                                                  static_cast<int64_t>(results[t].size() / 8)))
            return false;
    return true;
}

bool Expectation::works_at(const Dimensions& dims) {
    // Indexes may happen to lie in a tensor that is too small for most of them.
    const bool draws_indexes = std::any_of(problem_.inputs.begin(), problem_.inputs.end(),
                                           [](const Tensor& input) { return !is_floating(input.dtype); });
    try {
        if (!admits(problem_, dims)) return true;  // nobody calls it there
        for (uint64_t draw = 0; draw < (draws_indexes ? most_draws : 1); ++draw) {
            Buffers buffers(problem_, {describe(dims), dims}, {Distribution::declared}, 0, mix64(seed_ + 17 + draw));
            if (!gives_finite_values(buffers)) return false;
        }
        return true;
    } catch (const UsageError&) {
        if (!host_ && !crashed_) throw;  // it never returned
        return false;
    }
}

std::map<std::string, Range> Expectation::possible_range() {
    std::map<std::string, Range> range = problem_.range;
    const ShapePoint* smallest = smallest_point();
    std::map<std::string, int64_t> most;  // of open dimensions: the least extent of the sweep
    Dimensions least = smallest ? smallest->dims : Dimensions{};
    for (const ShapePoint& point : problem_.points)
        for (const auto& [name, extent] : point.dims)
            if (!range.at(name).declared && extent > range.at(name).low)
                most[name] = most.contains(name) ? std::min(most[name], extent) : extent;
    for (const auto& [name, extent] : most) least[name] = range.at(name).low;
    if (most.empty() || (admits(problem_, least) && works_at(least)) || !works_at(smallest->dims)) return range;
    for (const auto& [name, extent] : most) {
        Dimensions one = smallest->dims;
        int64_t& low = one[name] = range.at(name).low;
        auto raise = [&low, most = extent] { low = std::min(most, low < 8 ? low + 1 : 2 * low); };
        while (low < extent && !admits(problem_, one)) raise();  // nobody calls it there: that says nothing
        if (works_at(one)) continue;
        while (low < extent && !works_at(one)) raise();
        least[name] = low;
    }
    // Each may be so small by itself; together they may be too few.
    while (!works_at(least)) {
        bool raised = false;
        for (const auto& [name, extent] : most) {
            raised = raised || least[name] < extent;
            least[name] = std::min(extent, 2 * least[name]);
        }
        if (!raised) break;
    }
    for (const auto& [name, extent] : most) range.at(name).low = least[name];
    return range;
}

// The same inputs again, in the same process and in a fresh one: a reference that draws numbers, counts its calls or
// reads a clock answers otherwise. Threads of a library may add up in another order.
void Expectation::check_repeatable(Buffers& buffers) {
    const InputSet& set = buffers.sets().front();
    for (bool fresh : {false, true}) {
        if (fresh) host_.reset();
        std::vector<std::vector<char>> again;
        evaluate(buffers, set, {}, &again);
        for (size_t t = 0; t < again.size(); ++t) {
            const Tensor& tensor = problem_.outputs[t];
            const bool same = is_floating(tensor.dtype)
                                  ? difference(buffers, set, t, again[t]) <= same_evaluation
                                  : std::memcmp(buffers.expected(set, t), again[t].data(), again[t].size()) == 0;
            if (same) continue;
            throw UsageError(
                fmt::format("{}: the reference gives other values for '{}' when it is called {} with the same "
                            "inputs at {}",
                            problem_.reference.string(), tensor.name, fresh ? "in another process" : "again",
                            describe(buffers.point().dims)),
                "let it depend on its arguments only: no random numbers, no state, no clock");
        }
    }
}

// That the same source with the other type computes the same: not where it looks at the bits of its floats, say.
void Expectation::check_float64(Buffers& buffers) {
    const InputSet& set = buffers.sets().front();
    std::vector<std::vector<char>> declared;
    evaluate(buffers, set, {32}, &declared);
    for (size_t t = 0; t < declared.size(); ++t) {
        const Tensor& tensor = problem_.outputs[t];
        const size_t bytes = is_floating(tensor.dtype) ? 8 : size_of(tensor.dtype), count = declared[t].size() / bytes;
        const char* wide = reinterpret_cast<const char*>(buffers.expected(set, t));
        size_t unlike = 0, first = 0;
        for (size_t i = 0; i < count; ++i) {
            const char *a = declared[t].data() + i * bytes, *b = wide + i * bytes;
            bool alike = std::memcmp(a, b, bytes) == 0;
            if (!alike && is_floating(tensor.dtype)) {
                const double x = value_at(a, 0), y = value_at(b, 0);
                alike = std::fabs(x - y) <= largest_tolerance * (std::fabs(y) + set.scale[t]);
            }
            if (!alike && unlike++ == 0) first = i;
        }
        if (static_cast<double>(count - unlike) >= least_alike * static_cast<double>(count)) continue;
        const std::string in_words =
            is_floating(tensor.dtype)
                ? fmt::format(" ({:.6g} and {:.6g})", value_at(declared[t].data(), first), value_at(wide, first))
                : "";
        throw UsageError(
            fmt::format("{}: computes something else in float64 than in float32: '{}'[{}] differs{} at {}, {} of {}",
                        problem_.reference.string(), tensor.name, first, in_words, describe(buffers.point().dims),
                        unlike, count),
            "compute in STROP_REAL, or write `// strop:float32` into it: its own results are expected then");
    }
}

}  // namespace strop::judge
