#include "judge/expectation.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include <fmt/format.h>

#include "base/error.h"
#include "base/file.h"
#include "base/hash.h"
#include "core/json.h"
#include "device/machine.h"
#include "judge/answer.h"
#include "judge/runner.h"

namespace strop::judge {

namespace {

constexpr int64_t usual_windows = 4096;

// A legal order of evaluation may differ this much more than NumPy's own order does.
constexpr double noise_factor = 16;
// Below this many units in the last place a tolerance would forbid legal rounding.
constexpr double least_ulps = 16;
constexpr double float32_epsilon = 1.1920929e-7, float64_epsilon = 2.220446e-16;
constexpr double largest_tolerance = 1e-2;

bool all_finite(const double* values, int64_t count) {
    double sum = 0;   // a NaN or infinity times zero stays a NaN
    for (int64_t i = 0; i < count; ++i) sum += values[i] * 0;
    return sum == 0;
}

double root_mean_square(const double* values, int64_t count) {
    double sum = 0;
    int64_t finite = 0;
    for (int64_t i = 0; i < count; ++i)
        if (std::isfinite(values[i])) {
            sum += values[i] * values[i];
            ++finite;
        }
    return finite ? std::sqrt(sum / static_cast<double>(finite)) : 0;
}

Json names_and_dtypes(const std::vector<Tensor>& tensors) {
    Json list = Json::array();
    for (const Tensor& tensor : tensors) list.push_back({{"name", tensor.name}, {"dtype", name_of(tensor.dtype)}});
    return list;
}

}  // namespace

Expectation::Expectation(const Problem& problem, uint64_t seed, Seconds limit)
    : problem_(problem), seed_(seed), limit_(limit), exchange_(1 << 20) {}

Expectation::~Expectation() = default;

void Expectation::start_host() {
    scratch_ = std::make_unique<TemporaryFolder>("strop-reference");
    Json parameters = Json::array();
    for (const Parameter& parameter : problem_.parameters)
        parameters.push_back({{"dtype", name_of(parameter.dtype)}, {"value", parameter.value}});
    Json spec = {{"role", "reference"},
                 {"reference", problem_.reference.string()},
                 {"function", problem_.function},
                 {"inputs", names_and_dtypes(problem_.inputs)},
                 {"outputs", names_and_dtypes(problem_.outputs)},
                 {"parameters", parameters},
                 {"exchange_fd", exchange_.fd()}};
    write_file(scratch_->path() / "spec.json", spec.dump());
    sandbox::Command command;
    command.argv = {reference_python(), (home_folder() / "python/strop/host.py").string(),
                    (scratch_->path() / "spec.json").string()};
    command.environment = {{"PYTHONDONTWRITEBYTECODE", "1"}, {"GLIBC_TUNABLES", kept_memory},
                           {"NUMPY_MADVISE_HUGEPAGE", "0"}};   // used once, they cost more than they save
    command.scratch = scratch_->path().string();
    command.keep_fds = {exchange_.fd()};
    command.trust = sandbox::Trust::reference;
    host_ = std::make_unique<sandbox::Child>(command);
}

// Copies the inputs into the exchange, runs the reference, copies the outputs out. Floating outputs come back as
// doubles in both precisions. `results` null: into the expected values.
void Expectation::evaluate(Buffers& buffers, const InputSet& set, int precision,
                           std::vector<std::vector<char>>* results) {
    const Dimensions& dims = buffers.point().dims;
    Json job = {{"precision", precision}, {"inputs", Json::array()}, {"outputs", Json::array()}};
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

    if (!host_) start_host();
    std::string payload = job.dump();
    Request request{Op::evaluate};
    request.payload_bytes = static_cast<uint32_t>(payload.size());
    host_->send(&request, sizeof request);
    host_->send(payload.data(), payload.size());
    Clock::time_point start = Clock::now();
    Answer answer;
    sandbox::Child::Wait wait = read_answer(
        [&](void* data, size_t bytes) { return host_->receive(data, bytes, limit_ - Seconds(seconds_since(start))); },
        answer);
    if (wait != sandbox::Child::Wait::ready) {
        sandbox::Finished finished = host_->kill();
        host_.reset();
        std::string why = wait == sandbox::Child::Wait::timed_out
                              ? fmt::format("did not return within {:.0f} s at {}", limit_.count(), describe(dims))
                              : "ended by itself: " + finished.describe();
        throw UsageError(fmt::format("{}: the reference {}", problem_.reference.string(), why),
                         "make it return, or use smaller shapes");
    }
    if (answer.reply.status != 0)
        throw UsageError(answer.text, fmt::format("the reference failed at {}", describe(dims)));

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

double Expectation::noise(Buffers& buffers, const InputSet& set, size_t output,
                          const std::vector<char>& narrow) const {
    const double* wide = buffers.expected(set, output);
    const double* rough = reinterpret_cast<const double*>(narrow.data());
    int64_t count = static_cast<int64_t>(narrow.size() / 8);
    double worst = 0;
    for (int64_t i = 0; i < count; ++i) {
        double error = std::fabs(rough[i] - wide[i]);
        double allowed = std::fabs(wide[i]) + set.scale[output];
        if (error > 0 && std::isfinite(error)) worst = std::max(worst, error / allowed);
    }
    return worst;
}

// The declared distribution's noise is measured once a point, an unusual one's on its own values; values drawn anew
// from the same distributions keep it.
void Expectation::expect_all(Buffers& buffers, bool estimate_noise) {
    std::vector<InputSet>& sets = buffers.sets();
    for (size_t i = 0; i < sets.size(); ++i) {
        if (sets[i].values == i) {
            bool own_noise = i == 0 || sets[i].distribution != Distribution::declared;
            expect(buffers, i, estimate_noise && own_noise);
        } else {
            sets[i].scale = sets[sets[i].values].scale;
        }
        bool declared = sets[i].distribution == Distribution::declared;
        if (estimate_noise && declared) sets[i].tolerance = sets[0].tolerance;
    }
    if (buffers.windows() > 0) buffers.keep(0);   // just evaluated
}

const InputSet& Expectation::through(Buffers& buffers, int64_t window) {
    if (InputSet* known = buffers.known(window)) return *known;
    InputSet& set = buffers.keep(window);
    evaluate(buffers, set, 64, nullptr);
    for (size_t t = 0; t < problem_.outputs.size(); ++t)
        set_scale(buffers, set, t, reinterpret_cast<const char*>(buffers.expected(set, t)));
    return set;
}

std::vector<std::vector<char>> Expectation::values(Buffers& buffers, InputSet& set) {
    std::vector<std::vector<char>> results;
    evaluate(buffers, set, 64, &results);
    for (size_t t = 0; t < results.size(); ++t) set_scale(buffers, set, t, results[t].data());
    return results;
}

void Expectation::set_scale(Buffers& buffers, InputSet& set, size_t output, const char* wide) const {
    const Tensor& tensor = problem_.outputs[output];
    if (!is_floating(tensor.dtype)) return;
    set.scale[output] = root_mean_square(reinterpret_cast<const double*>(wide),
                                         element_count(problem_, tensor, buffers.point().dims));
}

void Expectation::expect(Buffers& buffers, size_t index, bool estimate_noise) {
    InputSet& set = buffers.sets()[index];
    evaluate(buffers, set, 64, nullptr);
    std::vector<std::vector<char>> narrow;
    if (estimate_noise) evaluate(buffers, set, 32, &narrow);
    for (size_t t = 0; t < problem_.outputs.size(); ++t) {
        const Tensor& tensor = problem_.outputs[t];
        if (!is_floating(tensor.dtype)) continue;
        int64_t count = element_count(problem_, tensor, buffers.point().dims);
        const double* wide = buffers.expected(set, t);
        if (index == 0 && !all_finite(wide, count))
            throw UsageError(fmt::format("{}: the reference returns nan or infinity in '{}' at {}",
                                         problem_.reference.string(), tensor.name, describe(buffers.point().dims)),
                             "choose a `fill` of the inputs on which it is finite (positive, uniform)");
        set.scale[t] = root_mean_square(wide, count);
        if (!estimate_noise) continue;
        double least = least_ulps * (tensor.dtype == DType::float32 ? float32_epsilon : float64_epsilon);
        double q = noise(buffers, set, t, narrow[t]);
        auto unusual = benign_.find(set.distribution);
        if (unusual != benign_.end()) q = std::max(q, unusual->second);
        set.tolerance[t] = std::min(largest_tolerance, std::max(least, noise_factor * q));
    }
}

// On the smallest point of the sweep: where the reference is finite in both precisions and its float32 noise is moderate.
void Expectation::find_benign_distributions() {
    benign_known_ = true;
    const ShapePoint* smallest = nullptr;
    double least = 0;
    for (const ShapePoint& point : problem_.points) {
        double elements = 0;
        for (const Tensor& tensor : problem_.inputs)
            elements += static_cast<double>(element_count(problem_, tensor, point.dims));
        if (!smallest || elements < least) {
            smallest = &point;
            least = elements;
        }
    }
    if (!smallest) return;
    for (Distribution distribution : unusual_distributions()) {
        Buffers buffers(problem_, *smallest, 2, 0, {distribution}, mix64(seed_ + 17));
        InputSet& set = buffers.sets()[1];
        evaluate(buffers, set, 64, nullptr);
        std::vector<std::vector<char>> narrow;
        evaluate(buffers, set, 32, &narrow);
        bool benign = true;
        double worst = 0;
        for (size_t t = 0; t < problem_.outputs.size(); ++t) {
            if (!is_floating(problem_.outputs[t].dtype)) continue;
            int64_t count = static_cast<int64_t>(narrow[t].size() / 8);
            set.scale[t] = root_mean_square(buffers.expected(set, t), count);
            benign = benign && all_finite(buffers.expected(set, t), count) &&
                     all_finite(reinterpret_cast<const double*>(narrow[t].data()), count);
            if (benign) worst = std::max(worst, noise(buffers, set, t, narrow[t]));
        }
        if (benign && worst < largest_tolerance / noise_factor) benign_[distribution] = worst;
    }
}

Buffers& Expectation::at(const ShapePoint& point) {
    std::string key = describe(point.dims);
    auto found = buffers_.find(key);
    if (found != buffers_.end()) return *found->second;
    PhaseTimer timer(seconds_);
    if (!benign_known_) find_benign_distributions();
    std::vector<Distribution> unusual;
    for (const auto& [distribution, noise_there] : benign_) unusual.push_back(distribution);
    int64_t bytes = 0;
    for (const auto* tensors : {&problem_.inputs, &problem_.outputs})
        for (const Tensor& tensor : *tensors) bytes += bytes_of(problem_, tensor, point.dims);
    // Shapes outside the sweep come in numbers and are checked once: fewer sets, and no windows.
    bool listed = in_sweep(problem_, point.dims), few = bytes > large_bytes || !listed;
    auto buffers = std::make_unique<Buffers>(problem_, point, few ? 1 : 3, listed ? usual_windows : 1, unusual,
                                             point_seed(key));
    expect_all(*buffers, true);
    return *(buffers_[key] = std::move(buffers));
}

void Expectation::forget(const ShapePoint& point) { buffers_.erase(describe(point.dims)); }

void Expectation::reseed(uint64_t seed) {
    PhaseTimer timer(seconds_);
    seed_ = seed;
    for (auto& [key, buffers] : buffers_) {
        buffers->refill(problem_, point_seed(key));
        expect_all(*buffers, false);
    }
}

uint64_t Expectation::point_seed(const std::string& key) const {
    return mix64(seed_ ^ mix64(std::hash<std::string>{}(key)));
}

}  // namespace strop::judge
