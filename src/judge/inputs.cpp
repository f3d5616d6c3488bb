#include "judge/inputs.h"

#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <numbers>

#include "base/hash.h"
#include "core/half.h"
#include "judge/parallel_for.h"

namespace strop::judge {

namespace {

constexpr int64_t parallel_grain = 1 << 16;

// Uniform in (0, 1], 24 bits: never zero, so that its logarithm is finite.
float unit(uint64_t bits) { return static_cast<float>((bits >> 40) + 1) * 0x1p-24f; }

// Where the normal distribution function is p; by Newton's method on its logarithm, which is concave.
double normal_quantile(double p, double guess) {
    double x = guess;
    for (int i = 0; i < 8; ++i) {
        const double below = 0.5 * std::erfc(-x * std::numbers::sqrt2 / 2);
        const double density = std::exp(-0.5 * x * x) * std::numbers::inv_sqrtpi / std::numbers::sqrt2;
        x -= (std::log(below) - std::log(p)) * below / density;
    }
    return x;
}

// Normal numbers by inversion: quantiles of equal steps, linear between them; the outermost steps are inverted one by
// one. Filling inputs is most of what some judgements cost, and this takes a tenth of Box and Muller's method.
class NormalTable {
public:
    NormalTable() {
        for (int i = steps / 2; i > 0; --i) {
            const double p = static_cast<double>(i) / steps,
                         guess = i == steps / 2 ? 0 : quantiles_[static_cast<size_t>(i) + 1];
            quantiles_[static_cast<size_t>(i)] = static_cast<float>(normal_quantile(p, guess));
            quantiles_[static_cast<size_t>(steps - i)] = -quantiles_[static_cast<size_t>(i)];
        }
    }

    float operator()(uint64_t bits) const {
        const size_t step = bits >> 52;
        const float share = static_cast<float>((bits >> 28) & 0xffffff) * 0x1p-24f;
        if (step == 0) return tail(share);
        if (step == steps - 1) return -tail(share);
        return quantiles_[step] + share * (quantiles_[step + 1] - quantiles_[step]);
    }

private:
    static constexpr int steps = 4096;
    float tail(float share) const {
        return static_cast<float>(normal_quantile((share + 0x1p-25) / steps, quantiles_[1]));
    }
    std::array<float, steps + 1> quantiles_{};
};

float normal(uint64_t bits) {
    static const NormalTable table;
    return table(bits);
}

float plain_value(Fill fill, uint64_t bits) {
    switch (fill) {
        case Fill::normal: return normal(bits);
        case Fill::uniform: return unit(bits) - 0x1p-24f;
        case Fill::positive: return 0.1f + unit(bits);
        case Fill::zeros_ones: return static_cast<float>(bits >> 63);
        case Fill::integers: return 0;
    }
    return 0;
}

// Factors to the ends of a type's range.
struct Ends {
    float tiny, huge;
};

Ends ends_of(DType dtype) { return dtype == DType::float16 ? Ends{1e-5f, 4e3f} : Ends{1e-39f, 1e34f}; }

float vary(float value, Fill fill, Distribution distribution, uint64_t bits, Ends ends) {
    switch (distribution) {
        case Distribution::declared: return value;
        case Distribution::scaled_up: return value * 1e3f;
        case Distribution::scaled_down: return value * 1e-3f;
        case Distribution::shifted: return value + 10.0f;
        case Distribution::far: return value + 300.0f;
        case Distribution::sparse: return fill != Fill::positive && mix64(bits) % 10 != 0 ? 0.0f : value;
        case Distribution::very_sparse: return fill != Fill::positive && mix64(bits) % 100 != 0 ? 0.0f : value;
        case Distribution::repeated: return std::round(value * 2) / 2 + (fill == Fill::positive ? 0.5f : 0.0f);
        case Distribution::whole: return std::round(value * 60) + (fill == Fill::positive ? 1.0f : 0.0f);
        case Distribution::constant: return std::round(value * 4) / 4 + 0.125f;
        case Distribution::subnormal: return value * ends.tiny;
        case Distribution::huge: return value * ends.huge;
        case Distribution::masked: return mix64(bits) % 64 == 0 ? -std::numeric_limits<float>::infinity() : value;
    }
    return value;
}

// Sums of them have to be exact.
bool has_few_digits(Distribution distribution) {
    return distribution == Distribution::repeated || distribution == Distribution::whole ||
           distribution == Distribution::constant;
}

float scale_of(const Tensor& input, Distribution distribution) {
    return static_cast<float>(has_few_digits(distribution) ? std::exp2(std::round(std::log2(input.scale)))
                                                           : input.scale);
}

template <typename T, typename Make>
void fill_with(void* data, int64_t count, const Make& make) {
    T* values = static_cast<T*>(data);
    parallel_for(count, parallel_grain, [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i) values[i] = static_cast<T>(make(i));
    });
}

}  // namespace

std::string name_of(Distribution distribution) {
    switch (distribution) {
        case Distribution::declared: return "as declared";
        case Distribution::scaled_up: return "scaled by 1e3";
        case Distribution::scaled_down: return "scaled by 1e-3";
        case Distribution::shifted: return "shifted by 10";
        case Distribution::far: return "shifted by 300";
        case Distribution::sparse: return "sparse";
        case Distribution::very_sparse: return "very sparse";
        case Distribution::repeated: return "repeated values";
        case Distribution::whole: return "whole numbers";
        case Distribution::constant: return "one value";
        case Distribution::subnormal: return "subnormal";
        case Distribution::huge: return "near the largest values";
        case Distribution::masked: return "some minus infinity";
    }
    return {};
}

bool has_equal_values(Distribution distribution) {
    return distribution == Distribution::sparse || distribution == Distribution::very_sparse ||
           has_few_digits(distribution);
}

const std::vector<Distribution>& unusual_distributions() {
    static const std::vector<Distribution> all = {
        Distribution::scaled_up, Distribution::scaled_down, Distribution::shifted,  Distribution::far,
        Distribution::sparse,    Distribution::very_sparse, Distribution::repeated, Distribution::whole,
        Distribution::constant,  Distribution::subnormal,   Distribution::huge,     Distribution::masked};
    return all;
}

void fill_tensor(void* data, int64_t count, const Tensor& input, const Bindings& bindings, Distribution distribution,
                 uint64_t seed) {
    const DType dtype = input.dtype;
    const Fill fill = input.fill;
    const int64_t limit = input.limit ? input.limit->evaluate_integer(bindings) : 2;
    const uint64_t base = mix64(seed);
    const Ends ends = ends_of(dtype);
    const float scale = scale_of(input, distribution);
    auto bits = [base](int64_t i) { return mix64(base + static_cast<uint64_t>(i)); };
    auto real = [&](int64_t i) {
        uint64_t drawn = bits(distribution == Distribution::constant ? 0 : i);
        return scale * vary(plain_value(fill, drawn), fill, distribution, drawn, ends);
    };
    // With digits that float32 has not: who rounds to it is wrong.
    const bool few_digits = fill == Fill::zeros_ones || has_few_digits(distribution);
    auto fine = [&](int64_t i) {
        const double further = few_digits ? 0 : 0x1p-88 * static_cast<double>(mix64(bits(i)));
        return real(i) * (1 + further);
    };
    // Quantized values are of both signs; nobody takes them for an index.
    const int64_t usual = dtype == DType::int8 ? -std::max<int64_t>(1, limit) : 0;
    const int64_t from = fill == Fill::zeros_ones ? 0 : input.from.value_or(usual);
    const int64_t room = fill == Fill::zeros_ones ? 2 : std::max<int64_t>(1, limit - from);
    auto whole = [&](int64_t i) { return static_cast<int64_t>((bits(i) >> 16) % static_cast<uint64_t>(room)) + from; };
    auto whole_real = [&](int64_t i) { return static_cast<double>(whole(i)); };
    switch (dtype) {
        case DType::float32:
            fill == Fill::integers ? fill_with<float>(data, count, whole_real) : fill_with<float>(data, count, real);
            break;
        case DType::float64:
            fill == Fill::integers ? fill_with<double>(data, count, whole_real) : fill_with<double>(data, count, fine);
            break;
        case DType::float16:
            fill == Fill::integers ? fill_with<Float16>(data, count, whole_real)
                                   : fill_with<Float16>(data, count, real);
            break;
        case DType::bfloat16:
            fill == Fill::integers ? fill_with<BFloat16>(data, count, whole_real)
                                   : fill_with<BFloat16>(data, count, real);
            break;
        case DType::int32: fill_with<int32_t>(data, count, whole); break;
        case DType::int64: fill_with<int64_t>(data, count, whole); break;
        case DType::int8: fill_with<int8_t>(data, count, whole); break;
        case DType::uint8: fill_with<uint8_t>(data, count, whole); break;
        case DType::boolean: fill_with<uint8_t>(data, count, [&](int64_t i) { return bits(i) >> 63; }); break;
    }
}

namespace {

template <typename T>
std::vector<double> as_doubles(const void* data, int64_t count) {
    const char* from = static_cast<const char*>(data);
    std::vector<double> wide;
    wide.reserve(static_cast<size_t>(count));
    for (int64_t i = 0; i < count; ++i, from += sizeof(T)) {
        T value;
        std::memcpy(&value, from, sizeof value);
        wide.push_back(static_cast<double>(value));
    }
    return wide;
}

}  // namespace

std::vector<double> as_doubles(const void* data, DType dtype, int64_t count) {
    switch (dtype) {
        case DType::float32: return as_doubles<float>(data, count);
        case DType::float64: return as_doubles<double>(data, count);
        case DType::float16: return as_doubles<Float16>(data, count);
        case DType::bfloat16: return as_doubles<BFloat16>(data, count);
        case DType::int32: return as_doubles<int32_t>(data, count);
        case DType::int64: return as_doubles<int64_t>(data, count);
        case DType::int8: return as_doubles<int8_t>(data, count);
        case DType::uint8:
        case DType::boolean: return as_doubles<uint8_t>(data, count);
    }
    return {};
}

bool scale_tensor(void* data, DType dtype, int64_t count, double factor) {
    auto scale = [&]<typename T>(const T* values) {
        fill_with<T>(data, count, [&](int64_t i) { return factor * static_cast<double>(values[i]); });
        return true;
    };
    switch (dtype) {
        case DType::float32: return scale(static_cast<const float*>(data));
        case DType::float64: return scale(static_cast<const double*>(data));
        case DType::float16: return scale(static_cast<const Float16*>(data));
        case DType::bfloat16: return scale(static_cast<const BFloat16*>(data));
        case DType::int32:
        case DType::int64:
        case DType::int8:
        case DType::uint8:
        case DType::boolean: break;
    }
    return false;
}

}  // namespace strop::judge
