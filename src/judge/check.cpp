#include "judge/check.h"

#include <atomic>
#include <cmath>
#include <cstring>
#include <limits>
#include <mutex>

#include <fmt/format.h>

#include "base/hash.h"
#include "base/strings.h"
#include "judge/cache_lines.h"
#include "judge/float_range.h"
#include "judge/parallel_for.h"

namespace strop::judge {

namespace {

constexpr int64_t block_elements = 1 << 14;
constexpr int64_t blocks_of_a_thread = 8;  // at least
constexpr int64_t small_elements = 1 << 18;
constexpr uint64_t one_block_of = 16;
constexpr uint64_t fingerprint_values = 512;
constexpr int64_t one_wrong_of = 1000;
constexpr double near_misses = 4096;               // times what is allowed: some hundredths of what is usual
constexpr int64_t sparse_elements = 1024;          // beside the blocks, one secret element of so many is watched
constexpr int64_t poisoned_by_a_thread = 4 << 20;  // bytes, at least
constexpr double subnormal_steps = 16;  // as many units in the last place as a normal value may be off at least

bool chosen(const Sampling& sampling, int64_t count, int64_t block) {
    if (sampling.everything || count <= small_elements) return true;
    bool edge = block == 0 || (block + 1) * block_elements >= count;
    return edge || mix64(sampling.seed + static_cast<uint64_t>(block)) % one_block_of == 0;
}

// Threads only for what is looked at: to start one takes as long as comparing some blocks.
template <typename Body>
void over_blocks(const Sampling& sampling, int64_t count, const Body& body) {
    std::vector<int64_t> blocks;
    for (int64_t block = 0; block * block_elements < count; ++block)
        if (chosen(sampling, count, block)) blocks.push_back(block);
    parallel_for(static_cast<int64_t>(blocks.size()), blocks_of_a_thread, [&](int64_t first, int64_t last) {
        for (int64_t i = first; i < last; ++i) {
            int64_t begin = blocks[static_cast<size_t>(i)] * block_elements;
            body(begin, std::min(count, begin + block_elements));
        }
    });
}

// Elements at secret places all over a large output: who looks for what is watched has to look at everything.
template <typename Body>
void over_sparse(const Sampling& sampling, int64_t count, const Body& body) {
    if (sampling.everything || count <= small_elements) return;
    for (int64_t begin = 0; begin + sparse_elements <= count; begin += sparse_elements)
        body(begin + static_cast<int64_t>(mix64(sampling.seed ^ static_cast<uint64_t>(begin)) % sparse_elements));
}

struct Limit {
    double absolute, relative;
    double steps = subnormal_steps;
};

// The type decides at its ends: what is not normal may be flushed to zero, where it is kept its steps are coarse, and
// what does not fit is an infinity of that sign. What is allowed may carry a value over either end.
double most_allowed(double got, double want, const Limit& limit, const FloatRange& range) {
    const double allowed = limit.absolute + limit.relative * std::fabs(want);
    if (std::fabs(want) - allowed >= range.least_normal) return allowed;
    const bool flushed = got == 0 && (std::fabs(want) < range.least_normal || std::fabs(want) > allowed);
    if (flushed) return std::numeric_limits<double>::infinity();
    return std::max(allowed, limit.steps * range.least_subnormal);
}

bool acceptable(double got, double want, const Limit& limit, const FloatRange& range) {
    if (std::fabs(got - want) <= most_allowed(got, want, limit, range)) return true;
    if (std::isnan(want)) return std::isnan(got);
    const double allowed = limit.absolute + limit.relative * std::fabs(want);
    return std::fabs(want) + allowed > range.largest && std::isinf(got) && std::signbit(got) == std::signbit(want);
}

struct Wrong {
    int64_t count = 0, compared = 0, first = std::numeric_limits<int64_t>::max();
    double got = 0, want = 0;
};

// `slack`: of each element, or null.
template <typename T>
Wrong compare(const T* got, const double* want, int64_t count, const Limit& limit, const Sampling& sampling,
              const double* slack) {
    Wrong wrong;
    std::mutex mutex;
    constexpr FloatRange range = float_range<T>();
    auto limit_at = [&](int64_t i) {
        return slack ? Limit{limit.absolute + slack[i], limit.relative, limit.steps} : limit;
    };
    over_blocks(sampling, count, [&](int64_t begin, int64_t end) {
        int64_t bad = 0;
        for (int64_t i = begin; i < end; ++i) {
            double error = std::fabs(static_cast<double>(got[i]) - want[i]);
            // The common case without a branch per element; NaNs compare false and are counted.
            bad += !(error <= limit.absolute + limit.relative * std::fabs(want[i]));
        }
        Wrong mine;
        mine.compared = end - begin;
        for (int64_t i = begin; bad > 0 && i < end; ++i) {
            double value = static_cast<double>(got[i]);
            if (acceptable(value, want[i], limit_at(i), range)) continue;
            if (mine.count++ == 0) {
                mine.first = i;
                mine.got = value;
                mine.want = want[i];
            }
        }
        std::lock_guard<std::mutex> lock(mutex);
        wrong.compared += mine.compared;
        wrong.count += mine.count;
        if (mine.first < wrong.first) {
            wrong.first = mine.first;
            wrong.got = mine.got;
            wrong.want = mine.want;
        }
    });
    over_sparse(sampling, count, [&](int64_t i) {
        double value = static_cast<double>(got[i]);
        ++wrong.compared;
        if (acceptable(value, want[i], limit_at(i), range)) return;
        if (wrong.count++ > 0) return;
        wrong.first = i;
        wrong.got = value;
        wrong.want = want[i];
    });
    return wrong;
}

// Whole numbers are stored in their own type.
template <typename T>
Wrong compare_whole(const T* got, const T* want, int64_t count, double allowed, const double* slack) {
    Wrong wrong;
    wrong.compared = count;
    for (int64_t i = 0; i < count; ++i) {
        if (got[i] == want[i]) continue;
        const double most = slack ? std::max(allowed, slack[i]) : allowed;
        if (std::fabs(static_cast<double>(got[i]) - static_cast<double>(want[i])) <= most && most > 0) continue;
        if (wrong.count++ > 0) continue;
        wrong.first = i;
        wrong.got = static_cast<double>(got[i]);
        wrong.want = static_cast<double>(want[i]);
    }
    return wrong;
}

Wrong compare_output(DType dtype, const char* got, const double* want, int64_t count, const Limit& limit,
                     const Sampling& sampling, const double* slack = nullptr) {
    const void* exact = want;
    switch (dtype) {
        case DType::float32: return compare(reinterpret_cast<const float*>(got), want, count, limit, sampling, slack);
        case DType::float64: return compare(reinterpret_cast<const double*>(got), want, count, limit, sampling, slack);
        case DType::float16: return compare(reinterpret_cast<const Float16*>(got), want, count, limit, sampling, slack);
        case DType::bfloat16:
            return compare(reinterpret_cast<const BFloat16*>(got), want, count, limit, sampling, slack);
        case DType::int32:
            return compare_whole(reinterpret_cast<const int32_t*>(got), static_cast<const int32_t*>(exact), count,
                                 limit.absolute, slack);
        case DType::int64:
            return compare_whole(reinterpret_cast<const int64_t*>(got), static_cast<const int64_t*>(exact), count,
                                 limit.absolute, slack);
        case DType::int8:
            return compare_whole(reinterpret_cast<const int8_t*>(got), static_cast<const int8_t*>(exact), count,
                                 limit.absolute, slack);
        case DType::uint8:
        case DType::boolean:
            return compare_whole(reinterpret_cast<const uint8_t*>(got), static_cast<const uint8_t*>(exact), count,
                                 limit.absolute, slack);
    }
    return {};
}

std::string index_text(int64_t flat, const std::vector<int64_t>& shape) {
    std::vector<std::string> parts(shape.size());
    for (size_t axis = shape.size(); axis-- > 0;) {
        parts[axis] = std::to_string(flat % shape[axis]);
        flat /= shape[axis];
    }
    return join(parts, ", ");
}

}  // namespace

void poison(Buffers& buffers, const InputSet& set, bool on_device) {
    buffers.note_poisoned(set.outputs);
    for (const Place& place : set.outputs) {
        char* region = buffers.outputs().data();
        std::memset(region + place.begin, slack_byte, static_cast<size_t>(place.data - place.begin));
        int64_t end = place.data + place.data_bytes, region_end = place.begin + place.bytes;
        std::memset(region + end, slack_byte, static_cast<size_t>(region_end - end));
        if (on_device) continue;
        parallel_for(place.data_bytes, poisoned_by_a_thread, [&](int64_t first, int64_t last) {
            char* at = region + place.data + first;
            if (buffers.large()) fill_past_caches(at, poison_byte, last - first);
            else std::memset(at, poison_byte, static_cast<size_t>(last - first));
        });
    }
}

uint64_t fingerprint(const Problem& problem, Buffers& buffers, const InputSet& set, uint64_t seed) {
    uint64_t hash = 0;
    for (size_t t = 0; t < problem.outputs.size(); ++t) {
        size_t size = size_of(problem.outputs[t].dtype);
        uint64_t count = static_cast<uint64_t>(set.outputs[t].data_bytes) / size;
        for (uint64_t i = 0; i < std::min(count, fingerprint_values); ++i) {
            uint64_t at = i == 0 ? count - 1 : mix64(seed + i) % count, value = 0;
            std::memcpy(&value, buffers.output(set, t) + at * size, size);
            hash = mix64(hash ^ value);
        }
    }
    return hash;
}

std::string wrote_outside(Buffers& buffers, const InputSet& set) {
    for (const Place& place : set.outputs) {
        const char* data = buffers.outputs().data();
        auto changed = [&](int64_t begin, int64_t end) {
            for (int64_t i = begin; i < end; ++i)
                if (static_cast<unsigned char>(data[i]) != slack_byte) return true;
            return false;
        };
        if (changed(place.begin, place.data)) return "wrote before the beginning of an output";
        if (changed(place.data + place.data_bytes, place.begin + place.bytes))
            return "wrote behind the end of an output";
    }
    return {};
}

namespace {

// Whole numbers may differ by what the problem allows, if that is one at least: they may come from rounding reals. Its
// relative part is for reals, since of an index or a truth it would mean nothing.
Limit limit_of(const Problem& problem, const InputSet& set, size_t output) {
    const DType dtype = problem.outputs[output].dtype;
    if (!is_floating(dtype)) {
        const bool exact = dtype == DType::boolean || !problem.tolerance;
        return {exact ? 0 : std::floor(problem.tolerance->absolute), 0};
    }
    if (problem.tolerance) return {problem.tolerance->absolute, problem.tolerance->relative};
    const double steps = output < set.steps.size() ? set.steps[output] : subnormal_steps;
    return {set.tolerance[output] * set.scale[output], set.tolerance[output], steps};
}

// "y[3, 4] is 1.5, expected 2 (allowed error 1e-6)", "i[3] is 70000000001, expected 70000000000".
std::string describe_wrong(const Tensor& tensor, const std::vector<int64_t>& shape, const Wrong& wrong,
                           const Limit& limit) {
    double allowed = limit.absolute + limit.relative * std::fabs(wrong.want);
    if (is_floating(tensor.dtype)) allowed = most_allowed(wrong.got, wrong.want, limit, float_range(tensor.dtype));
    const auto text = [&](double value) {
        if (!is_floating(tensor.dtype)) return fmt::format("{:.0f}", value);
        return fmt::format("{:.{}g}", value, tensor.dtype == DType::float64 ? 17 : 9);
    };
    const bool not_written = std::isnan(wrong.got) && !std::isnan(wrong.want);
    return fmt::format("{}[{}] is {}, expected {}{}", tensor.name, index_text(wrong.first, shape),
                       not_written ? "nan (not written, or computed as nan)" : text(wrong.got), text(wrong.want),
                       allowed > 0 ? fmt::format(" (allowed error {:.2g})", allowed) : "");
}

template <typename T>
double largest_share(const T* got, const double* want, int64_t count, const Limit& limit) {
    constexpr double infinity = std::numeric_limits<double>::infinity();
    const FloatRange range = float_range<T>();
    double largest = 0;
    std::mutex mutex;
    over_blocks({}, count, [&](int64_t begin, int64_t end) {
        double mine = 0;
        for (int64_t i = begin; i < end; ++i) {
            const double value = static_cast<double>(got[i]), error = std::fabs(value - want[i]);
            const double share = error / most_allowed(value, want[i], limit, range);
            if (share <= mine || error == 0) continue;
            // Beyond that it may be right all the same, at the ends of the type: then its share says nothing.
            if (share <= 1) mine = share;
            else if (!acceptable(value, want[i], limit, range)) mine = std::isfinite(share) ? share : infinity;
        }
        std::lock_guard<std::mutex> lock(mutex);
        largest = std::max(largest, mine);
    });
    return largest;
}

}  // namespace

std::string wrong_element(const Problem& problem, const InputSet& set, const Dimensions& dims, size_t output,
                          int64_t element, const char* bytes, const std::vector<char>& expected, double slack) {
    const Tensor& tensor = problem.outputs[output];
    Limit limit = limit_of(problem, set, output);
    const size_t width = is_floating(tensor.dtype) ? 8 : size_of(tensor.dtype);
    alignas(8) char want[8] = {};
    std::memcpy(want, expected.data() + static_cast<size_t>(element) * width, width);
    Wrong wrong = compare_output(tensor.dtype, bytes, reinterpret_cast<const double*>(want), 1, limit, {}, &slack);
    if (wrong.count == 0) return {};
    wrong.first = element;
    return describe_wrong(tensor, extents(problem, tensor, dims), wrong, limit);
}

double largest_error(const Problem& problem, Buffers& buffers, const InputSet& set) {
    double largest = 0;
    for (size_t t = 0; t < problem.outputs.size(); ++t) {
        DType dtype = problem.outputs[t].dtype;
        const char* got = buffers.output(set, t);
        const double* want = buffers.expected(set, t);
        int64_t count = element_count(problem, problem.outputs[t], buffers.point().dims);
        Limit limit = limit_of(problem, set, t);
        if (dtype == DType::float32)
            largest = std::max(largest, largest_share(reinterpret_cast<const float*>(got), want, count, limit));
        if (dtype == DType::float64)
            largest = std::max(largest, largest_share(reinterpret_cast<const double*>(got), want, count, limit));
        if (dtype == DType::float16)
            largest = std::max(largest, largest_share(reinterpret_cast<const Float16*>(got), want, count, limit));
        if (dtype == DType::bfloat16)
            largest = std::max(largest, largest_share(reinterpret_cast<const BFloat16*>(got), want, count, limit));
    }
    return largest;
}

namespace {

Wrong compare_output(const Problem& problem, Buffers& buffers, const InputSet& set, size_t output,
                     const Sampling& sampling, const Slack& slack) {
    const DType dtype = problem.outputs[output].dtype;
    const int64_t count = set.outputs[output].data_bytes / static_cast<int64_t>(size_of(dtype));
    const bool has_slack = output < slack.size() && static_cast<int64_t>(slack[output].size()) == count;
    return compare_output(dtype, buffers.output(set, output), buffers.expected(set, output), count,
                          limit_of(problem, set, output), sampling, has_slack ? slack[output].data() : nullptr);
}

}  // namespace

std::string wrong_output(const Problem& problem, Buffers& buffers, const InputSet& set, const Sampling& sampling,
                         const Slack& slack) {
    for (size_t t = 0; t < problem.outputs.size(); ++t) {
        const Wrong wrong = compare_output(problem, buffers, set, t, sampling, slack);
        if (wrong.count == 0) continue;
        const Tensor& tensor = problem.outputs[t];
        const Dimensions& dims = buffers.point().dims;
        return fmt::format("{}; {} of {} compared values are wrong at {}, inputs {}",
                           describe_wrong(tensor, extents(problem, tensor, dims), wrong, limit_of(problem, set, t)),
                           wrong.count, wrong.compared, describe(dims), name_of(set.distribution));
    }
    return {};
}

bool may_be_rounding(const Problem& problem, Buffers& buffers, const InputSet& set, const Sampling& sampling) {
    bool few = true;
    for (size_t t = 0; t < problem.outputs.size(); ++t) {
        const Wrong wrong = compare_output(problem, buffers, set, t, sampling, {});
        const bool few_here = wrong.count * one_wrong_of <= wrong.compared;
        // By how much a whole number is wrong says nothing; a single one may be where few are compared.
        if (is_floating(problem.outputs[t].dtype)) few = few && few_here;
        else if (wrong.count > 1 && !few_here) return false;
    }
    return few || largest_error(problem, buffers, set) <= near_misses;
}

}  // namespace strop::judge
