// The text of NAME_test.cpp.
#include <cmath>
#include <set>

#include <fmt/format.h>

#include "base/strings.h"
#include "core/half.h"
#include "run/result_texts.h"

namespace strop::result {

namespace {

constexpr size_t max_columns = 110;

const char* const form =
    R"text(// Compares @name@ with values that its reference computed in double precision. One line a
// case; the exit code is 1 when one failed.
@include@

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <type_traits>
#include <vector>

namespace {
@types@
// Memory for `count` elements between guards, `shift` elements past a multiple of 64 bytes: a kernel may
// count on the alignment of an element and on no more.
template <typename T>
class Buffer {
public:
    using Element = std::conditional_t<std::is_same<T, bool>::value, unsigned char, T>;

    Buffer(size_t count, size_t shift, unsigned char poison)
        : count_(count), poison_(poison), bytes_((count + shift) * sizeof(T) + 64 + 2 * guard, poison) {
        size_t misaligned = reinterpret_cast<uintptr_t>(bytes_.data()) % 64;
        offset_ = guard + (64 - misaligned) % 64 + shift * sizeof(T);
    }

    T* data() { return reinterpret_cast<T*>(bytes_.data() + offset_); }
    size_t size() const { return count_; }

    Element operator[](size_t i) const {
        Element element;
        std::memcpy(&element, bytes_.data() + offset_ + i * sizeof(T), sizeof(T));
        return element;
    }

    bool guards_intact() const {
        for (size_t i = 0; i < bytes_.size(); ++i)
            if ((i < offset_ || i >= offset_ + count_ * sizeof(T)) && bytes_[i] != poison_) return false;
        return true;
    }

private:
    static constexpr size_t guard = 64;
    size_t count_, offset_;
    unsigned char poison_;
    std::vector<unsigned char> bytes_;
};

template <typename T>
Buffer<T> input(const T* values, size_t count, size_t shift) {
    Buffer<T> buffer(count, shift, 0);
    if (count > 0) std::memcpy(buffer.data(), values, count * sizeof(T));
    return buffer;
}

// Two poisons, so that no element that was left alone passes for a result by chance.
template <typename T>
Buffer<T> output(size_t count, size_t shift) {
    return Buffer<T>(count, shift, shift == 0 ? 0xff : 0xa5);
}

template <typename T>
bool unchanged(const char* name, Buffer<T>& buffer, const T* values) {
    bool same = buffer.size() == 0 || std::memcmp(buffer.data(), values, buffer.size() * sizeof(T)) == 0;
    if (!same || !buffer.guards_intact()) std::printf("    %s is an input and was written to\n", name);
    return same && buffer.guards_intact();
}

template <typename T, typename E>
bool close(T actual, E expected, double absolute, double relative) {
    if (actual == expected) return true;
    const double a = static_cast<double>(actual), e = static_cast<double>(expected);
    if (std::isnan(e)) return std::isnan(a);
    const double allowed = absolute + relative * std::fabs(e), error = std::fabs(a - e);
    return allowed > 0 && std::isfinite(error) && error <= allowed;
}

template <typename T, typename E>
bool matches(const char* name, const Buffer<T>& buffer, const E* expected, double absolute, double relative) {
    size_t wrong = 0;
    for (size_t i = 0; i < buffer.size(); ++i) {
        if (close(buffer[i], expected[i], absolute, relative)) continue;
        if (++wrong <= 3)
            std::printf("    %s[%zu] is %.9g, expected %.9g\n", name, i, static_cast<double>(buffer[i]),
                        static_cast<double>(expected[i]));
    }
    if (wrong > 3) std::printf("    %s: %zu of %zu elements are wrong\n", name, wrong, buffer.size());
    if (!buffer.guards_intact()) std::printf("    %s was written to outside its bounds\n", name);
    return wrong == 0 && buffer.guards_intact();
}

int passed = 0, failed = 0;

void count(const char* name, bool right) {
    std::printf("%s  %s\n", right ? "ok    " : "FAILED", name);
    ++(right ? passed : failed);
}
@cases@
}  // namespace

int main() {
@calls@    std::printf("%d passed, %d failed\n", passed, failed);
    return failed > 0 ? 1 : 0;
}
)text";

std::string literal(DType dtype, double value) {
    if (is_half(dtype)) return fmt::format("{{{:#06x}}}", narrowed(static_cast<float>(value), dtype));
    if (is_floating(dtype)) {
        if (std::isnan(value)) return "NAN";
        if (std::isinf(value)) return value > 0 ? "INFINITY" : "-INFINITY";
        return value_text(dtype, value) + (dtype == DType::float32 ? "f" : "");
    }
    // The smallest integer is no literal of its own type.
    if (dtype == DType::int64 && value <= -9223372036854775808.0) return "INT64_MIN";
    return value_text(dtype, value);
}

// `const T name[] = {...};` in lines of at most max_columns.
std::string array(const std::string& type, DType dtype, const std::string& name, const std::vector<double>& values) {
    if (values.empty()) return fmt::format("const {}* const {} = nullptr;\n", type, name);
    std::string text = fmt::format("const {} {}[] = {{", type, name);
    size_t column = text.size();
    for (size_t i = 0; i < values.size(); ++i) {
        std::string element = literal(dtype, values[i]) + (i + 1 < values.size() ? "," : "};\n");
        if (column + 1 + element.size() > max_columns) {
            text += "\n    " + element;
            column = 4 + element.size();
            continue;
        }
        text += (i == 0 ? "" : " ") + element;
        column += (i == 0 ? 0 : 1) + element.size();
    }
    return text;
}

std::string call(const Problem& problem, const TestVector& vector) {
    std::vector<std::string> arguments;
    auto data = [](const char* kind, const Tensor& tensor) {
        const std::string memory = fmt::format("{}_{}.data()", kind, tensor.name);
        return is_half(tensor.dtype) ? fmt::format("reinterpret_cast<uint16_t*>({})", memory) : memory;
    };
    for (const Tensor& tensor : problem.inputs) arguments.push_back(data("in", tensor));
    for (const Tensor& tensor : problem.outputs) arguments.push_back(data("out", tensor));
    for (const Parameter& parameter : problem.parameters)
        arguments.push_back(literal(parameter.dtype, parameter.value));
    for (const std::string& dimension : problem.dimensions)
        arguments.push_back(fmt::format("{}", vector.point.dims.at(dimension)));
    std::string text = fmt::format("        ::{}(", problem.name);
    size_t column = text.size();
    for (size_t i = 0; i < arguments.size(); ++i) {
        std::string part = arguments[i] + (i + 1 < arguments.size() ? "," : ");\n");
        bool breaks = i > 0 && column + 1 + part.size() > max_columns;
        if (breaks) column = 12;
        text += breaks ? "\n            " : i > 0 ? " " : "";
        text += part;
        column += part.size() + 1;
    }
    return text;
}

const char* const bfloat16_text = R"text(
// The upper half of a float.
struct Bfloat16 {
    uint16_t bits;
    operator double() const {
        const uint32_t wide = static_cast<uint32_t>(bits) << 16;
        float value;
        std::memcpy(&value, &wide, sizeof value);
        return static_cast<double>(value);
    }
};
)text";

const char* const float16_text = R"text(
// A sign, five bits of exponent, ten of fraction.
struct Float16 {
    uint16_t bits;
    operator double() const {
        const int exponent = bits >> 10 & 31, fraction = bits & 1023;
        const double sign = bits >> 15 ? -1 : 1;
        if (exponent == 31) return fraction ? NAN : sign * static_cast<double>(INFINITY);
        return sign * (exponent ? std::ldexp(1024 + fraction, exponent - 25) : std::ldexp(fraction, -24));
    }
};
)text";

std::string element_type(DType dtype) {
    return dtype == DType::bfloat16 ? "Bfloat16" : dtype == DType::float16 ? "Float16" : c_type(dtype);
}

std::string types_text(const Problem& problem) {
    std::set<DType> used;
    for (const auto* tensors : {&problem.inputs, &problem.outputs})
        for (const Tensor& tensor : *tensors) used.insert(tensor.dtype);
    return std::string(used.contains(DType::bfloat16) ? bfloat16_text : "") +
           (used.contains(DType::float16) ? float16_text : "");
}

std::string expected_type(const Tensor& tensor) { return is_floating(tensor.dtype) ? "double" : c_type(tensor.dtype); }

std::string case_text(const Problem& problem, const TestVector& vector, const std::string& scope) {
    std::string arrays, buffers, checks;
    for (size_t i = 0; i < problem.inputs.size(); ++i) {
        const Tensor& tensor = problem.inputs[i];
        arrays += array(element_type(tensor.dtype), tensor.dtype, tensor.name, vector.inputs.at(i));
        buffers += fmt::format("        auto in_{0} = input<{1}>({2}::{0}, {3}, shift);\n", tensor.name,
                               element_type(tensor.dtype), scope, vector.inputs.at(i).size());
        checks += fmt::format("        right &= unchanged(\"{0}\", in_{0}, {1}::{0});\n", tensor.name, scope);
    }
    for (size_t i = 0; i < problem.outputs.size(); ++i) {
        const Tensor& tensor = problem.outputs[i];
        DType dtype = is_floating(tensor.dtype) ? DType::float64 : tensor.dtype;
        arrays += array(expected_type(tensor), dtype, tensor.name, vector.expected.at(i));
        buffers += fmt::format("        auto out_{} = output<{}>({}, shift);\n", tensor.name,
                               element_type(tensor.dtype), vector.expected.at(i).size());
        checks += fmt::format("        right &= matches(\"{0}\", out_{0}, {1}::{0}, {2:.3g}, {3:.3g});\n", tensor.name,
                              scope, vector.absolute.at(i), vector.relative.at(i));
    }
    const std::string title = replace_all(describe(vector.point.dims), ",", ", ");
    return fmt::format(
        "\nnamespace {0} {{\n{1}}}  // namespace {0}\n\nvoid run_{0}() {{\n    bool right = true;\n"
        "    for (size_t shift = 0; shift < 2; ++shift) {{\n{2}{3}{4}    }}\n"
        "    count(\"{5}\", right);\n}}\n",
        scope, arrays, buffers, call(problem, vector), checks, title);
}

}  // namespace

std::string test_text(const Problem& problem, const std::vector<TestVector>& vectors) {
    std::string cases, calls;
    for (size_t i = 0; i < vectors.size(); ++i) {
        const std::string scope = fmt::format("case_{}", i + 1);
        cases += case_text(problem, vectors[i], scope);
        calls += fmt::format("    run_{}();\n", scope);
    }
    if (vectors.empty()) calls = "    std::puts(\"no case: every shape is too large for this file\");\n";
    return filled(form, {{"include", "#include \"@name@.h\""},
                         {"types", types_text(problem)},
                         {"cases", cases},
                         {"calls", calls},
                         {"name", problem.name}});
}

}  // namespace strop::result
