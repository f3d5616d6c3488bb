#include "core/problem.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/error.h"

namespace strop {

namespace {

struct DTypeInfo {
    DType dtype;
    const char* name;
    const char* c;
    size_t size;
};

constexpr DTypeInfo dtypes[] = {
    {DType::float32, "float32", "float", 4},      {DType::float64, "float64", "double", 8},
    {DType::int32, "int32", "int32_t", 4},        {DType::int64, "int64", "int64_t", 8},
    {DType::int8, "int8", "int8_t", 1},           {DType::uint8, "uint8", "uint8_t", 1},
    {DType::boolean, "bool", "bool", 1},          {DType::float16, "float16", "uint16_t", 2},
    {DType::bfloat16, "bfloat16", "uint16_t", 2},
};

constexpr std::pair<Fill, const char*> fills[] = {
    {Fill::normal, "normal"},     {Fill::uniform, "uniform"},       {Fill::positive, "positive"},
    {Fill::integers, "integers"}, {Fill::zeros_ones, "zeros_ones"},
};

const DTypeInfo& info(DType dtype) { return dtypes[static_cast<int>(dtype)]; }

}  // namespace

size_t size_of(DType dtype) { return info(dtype).size; }
std::string name_of(DType dtype) { return info(dtype).name; }
std::string c_type(DType dtype) { return info(dtype).c; }
bool is_half(DType dtype) { return dtype == DType::float16 || dtype == DType::bfloat16; }
bool is_floating(DType dtype) { return dtype == DType::float32 || dtype == DType::float64 || is_half(dtype); }
DType computed_in(DType dtype) { return is_half(dtype) ? DType::float32 : dtype; }

std::string dtype_names() {
    std::string text;
    for (const DTypeInfo& entry : dtypes) text += (text.empty() ? "" : ", ") + std::string(entry.name);
    return text;
}

std::optional<DType> parse_dtype(const std::string& name) {
    for (const DTypeInfo& entry : dtypes)
        if (name == entry.name) return entry.dtype;
    return std::nullopt;
}

std::string name_of(Fill fill) { return fills[static_cast<int>(fill)].second; }

std::optional<Fill> parse_fill(const std::string& name) {
    for (const auto& [fill, text] : fills)
        if (name == text) return fill;
    return std::nullopt;
}

std::string describe(const Dimensions& dims) {
    std::string text;
    for (const auto& [name, value] : dims) text += fmt::format("{}{}={}", text.empty() ? "" : ",", name, value);
    return text;
}

Bindings bindings_of(const Problem& problem, const Dimensions& dims) {
    Bindings bindings;
    for (const Parameter& parameter : problem.parameters)
        if (!is_floating(parameter.dtype)) bindings[parameter.name] = static_cast<int64_t>(parameter.value);
    for (const auto& [name, value] : dims) bindings[name] = value;
    return bindings;
}

bool in_sweep(const Problem& problem, const Dimensions& dims) {
    return std::any_of(problem.points.begin(), problem.points.end(),
                       [&](const ShapePoint& point) { return point.dims == dims; });
}

std::vector<int64_t> extents(const Problem& problem, const Tensor& tensor, const Dimensions& dims) {
    Bindings bindings = bindings_of(problem, dims);
    std::vector<int64_t> result;
    for (const Expression& extent : tensor.shape) {
        int64_t value = extent.evaluate_integer(bindings);
        if (value < 0)
            throw UsageError(fmt::format("{}: extent '{}' of '{}' is {} at {}", problem.name, extent.text(),
                                         tensor.name, value, describe(dims)),
                             "extents must not be negative: check the shapes and the range");
        result.push_back(value);
    }
    return result;
}

int64_t element_count(const Problem& problem, const Tensor& tensor, const Dimensions& dims) {
    int64_t count = 1;
    for (int64_t extent : extents(problem, tensor, dims))
        if (__builtin_mul_overflow(count, extent, &count))
            throw UsageError(
                fmt::format("{}: '{}' has too many elements at {}", problem.name, tensor.name, describe(dims)));
    return count;
}

int64_t bytes_of(const Problem& problem, const Tensor& tensor, const Dimensions& dims) {
    int64_t bytes = 0;
    if (__builtin_mul_overflow(element_count(problem, tensor, dims), static_cast<int64_t>(size_of(tensor.dtype)),
                               &bytes))
        throw UsageError(
            fmt::format("{}: '{}' has too many elements at {}", problem.name, tensor.name, describe(dims)));
    return bytes;
}

bool has_halves(const Problem& problem) {
    auto half = [](const Tensor& tensor) { return is_half(tensor.dtype); };
    return std::any_of(problem.inputs.begin(), problem.inputs.end(), half) ||
           std::any_of(problem.outputs.begin(), problem.outputs.end(), half);
}

std::vector<std::string> labels_of(const Problem& problem) {
    std::vector<std::string> labels;
    for (const ShapePoint& point : problem.points) labels.push_back(point.label);
    return labels;
}

void keep_points(Problem& problem, const std::vector<std::string>& labels) {
    if (labels.empty()) return;
    std::erase_if(problem.points, [&](const ShapePoint& point) {
        return std::find(labels.begin(), labels.end(), point.label) == labels.end();
    });
}

bool admits(const Problem& problem, const Dimensions& dims) {
    for (const auto& [name, range] : problem.range) {
        auto found = dims.find(name);
        if (found == dims.end() || found->second < range.low || found->second > range.high) return false;
    }
    Bindings bindings = bindings_of(problem, dims);
    for (const Expression& condition : problem.require)
        if (!truthy(condition.evaluate(bindings))) return false;
    for (const auto* tensors : {&problem.inputs, &problem.outputs})
        for (const Tensor& tensor : *tensors)
            for (const Expression& extent : tensor.shape)
                if (extent.evaluate_integer(bindings) < 0) return false;
    return true;
}

}  // namespace strop
