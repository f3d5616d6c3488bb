// Kernels of an emitter on trial: every recipe and variant is compiled and compared with the interpreter of its graph
// in double precision, between guards, with tensors that are aligned to their element only.
#pragma once

#include <cmath>
#include <cstdlib>
#include <random>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "core/half.h"
#include "fakes/compiled_library.h"
#include "fakes/graph_builder.h"
#include "fakes/long_tests.h"
#include "graph/interpreter.h"
#include "playbook/recipe.h"

namespace strop::playbook {

using Builder = GraphBuilder;

inline std::vector<Array> interpret(const Builder& b, const std::vector<Array>& inputs, const Dimensions& dims) {
    Arguments arguments{{}, bindings_of(b.problem, dims)};
    for (const Parameter& parameter : b.problem.parameters) arguments.bindings[parameter.name] = parameter.value;
    for (size_t k = 0; k < inputs.size(); ++k) arguments.inputs[b.problem.inputs[k].name] = inputs[k];
    return interpret(b.graph, arguments);
}

// A wrapper with one signature for all kernels: tensors, parameters and dimensions as arrays.
inline std::string wrapper(const Problem& problem) {
    std::string text = fmt::format(
        "\nextern \"C\" void call_{}(void** t, const float* f, const int64_t* n) {{\n"
        "    (void)f;\n    {}(",
        problem.name, problem.name);
    std::vector<std::string> arguments;
    size_t t = 0;
    for (const Tensor& input : problem.inputs)
        arguments.push_back(fmt::format("(const {}*)t[{}]", c_type(input.dtype), t++));
    for (const Tensor& output : problem.outputs)
        arguments.push_back(fmt::format("({}*)t[{}]", c_type(output.dtype), t++));
    for (size_t k = 0; k < problem.parameters.size(); ++k) arguments.push_back(fmt::format("f[{}]", k));
    for (size_t k = 0; k < problem.dimensions.size(); ++k) arguments.push_back(fmt::format("n[{}]", k));
    for (size_t k = 0; k < arguments.size(); ++k) text += (k ? ", " : "") + arguments[k];
    return text + ");\n}\n";
}

// The last warning: clang 19 says so of any source on processors with AVX10.
inline std::string trial_flags(const Configuration& configuration) {
    std::string flags = std::string(kernel_optimization()) +
                        " -Wall -Wextra -Wno-unknown-pragmas -Wno-unused-function -Wno-unused-parameter "
                        "-Wno-invalid-feature-combination" +
                        defines(configuration);
    // An index outside an array of the kernel's own ends the tests, and so does a pointer made from no array.
    if (is_clang(compiler()))
        flags += " -fsanitize=array-bounds,pointer-overflow -fsanitize-trap=array-bounds,pointer-overflow";
    const char* more = std::getenv("STROP_TEST_KERNEL_FLAGS");
    return more ? flags + " " + more : flags;
}

using TrialEntry = void(void** tensors, const float* parameters, const int64_t* dimensions);

// An element at data[i].
inline void put(char* data, int64_t i, DType dtype, double value) {
    const float narrow = static_cast<float>(value);
    if (dtype == DType::boolean) reinterpret_cast<bool*>(data)[i] = value != 0;
    else if (dtype == DType::int64) reinterpret_cast<int64_t*>(data)[i] = static_cast<int64_t>(value);
    else if (is_half(dtype)) reinterpret_cast<uint16_t*>(data)[i] = narrowed(narrow, dtype);
    else reinterpret_cast<float*>(data)[i] = narrow;
}
inline double get(const char* data, size_t i, DType dtype) {
    if (dtype == DType::boolean) return reinterpret_cast<const bool*>(data)[i];
    if (dtype == DType::int64) return static_cast<double>(reinterpret_cast<const int64_t*>(data)[i]);
    if (is_half(dtype)) return double{widened(reinterpret_cast<const uint16_t*>(data)[i], dtype)};
    return double{reinterpret_cast<const float*>(data)[i]};
}
// Half a unit in the last place.
inline double rounding_of(DType dtype) {
    return dtype == DType::bfloat16 ? 0x1p-8 : dtype == DType::float16 ? 0x1p-11 : 0;
}

class KernelTrial : public ::testing::Test {
protected:
    KernelTrial() {
        machine.vector_bytes = 32;
        machine.cores = 2;
        machine.caches = {{1, 32 << 10}, {2, 512 << 10}, {3, 32 << 20}};
        // STROP_TEST_STORED=bfloat16: every trial with such tensors.
        if (const char* type = std::getenv("STROP_TEST_STORED")) stored = parse_dtype(type).value();
    }

    // Tensors lie one element past an alignment, with guards around the outputs.
    void compare(const Builder& b, TrialEntry* kernel, const Dimensions& dims, const std::string& what) {
        std::mt19937 generator(7);
        std::normal_distribution<double> normal(shift, scale);
        std::vector<Array> inputs;
        std::vector<std::vector<char>> memory;
        std::vector<void*> pointers;
        Problem problem = b.problem;
        auto allocate = [&](const Tensor& tensor, int64_t count) {
            memory.emplace_back(static_cast<size_t>(count + 32) * size_of(tensor.dtype) + 64, char(0x5a));
            return memory.back().data() + 8 * size_of(tensor.dtype);
        };
        for (const Tensor& tensor : problem.inputs) {
            Array array{extents(problem, tensor, dims), {}};
            char* data = allocate(tensor, element_count(array.shape));
            for (int64_t i = 0; i < element_count(array.shape); ++i) {
                double value = tensor.dtype == DType::boolean ? generator() % 2 : float(normal(generator));
                if (tensor.dtype == DType::int64) value = static_cast<double>(generator() % 3);
                if (whole) value = std::round(60 * value);
                if (special && computed_in(tensor.dtype) == DType::float32 && i % 23 == 7) value = special_value;
                put(data, i, tensor.dtype, value);
                array.values.push_back(get(data, static_cast<size_t>(i), tensor.dtype));
            }
            inputs.push_back(array);
            pointers.push_back(data);
        }
        std::vector<Array> expected = interpret(b, inputs, dims);
        for (size_t k = 0; k < problem.outputs.size(); ++k)
            pointers.push_back(allocate(problem.outputs[k], element_count(expected[k].shape)));
        std::vector<std::vector<char>> before = memory;
        std::vector<float> parameters;
        for (const Parameter& parameter : problem.parameters) parameters.push_back(static_cast<float>(parameter.value));
        std::vector<int64_t> extents_in_order;
        for (const std::string& name : problem.dimensions) extents_in_order.push_back(dims.at(name));
        kernel(pointers.data(), parameters.data(), extents_in_order.data());

        for (size_t k = 0; k < inputs.size(); ++k) EXPECT_EQ(memory[k], before[k]) << what << " changed input " << k;
        for (size_t k = 0; k < expected.size(); ++k) {
            size_t size = size_of(problem.outputs[k].dtype), m = inputs.size() + k;
            const char* data = static_cast<const char*>(pointers[m]);
            size_t begin = static_cast<size_t>(data - memory[m].data()), end = begin + expected[k].values.size() * size;
            for (size_t i = 0; i < memory[m].size(); ++i)
                if (i < begin || i >= end) {
                    ASSERT_EQ(memory[m][i], char(0x5a)) << what << " wrote outside at " << i;
                }
            for (size_t i = 0; i < expected[k].values.size(); ++i) {
                double want = expected[k].values[i];
                const DType dtype = problem.outputs[k].dtype;
                const double got = get(data, i, dtype), rounding = rounding_of(dtype);
                const bool overflows = dtype == DType::float16 && std::abs(want) > 65000;
                if (overflows && std::isinf(got) && (got > 0) == (want > 0)) continue;
                if (std::isnan(want) || std::isinf(want)) {
                    ASSERT_EQ(fmt::format("{}", float(std::isnan(want) ? NAN : want)),
                              fmt::format("{}", std::isnan(got) ? NAN : float(got)))
                        << what << " at " << i;
                    continue;
                }
                ASSERT_NEAR(got, want, (tolerance + rounding) * (1 + std::abs(want)))
                    << what << " output " << k << " at " << i;
            }
        }
    }

    // All recipes and variants, with the initial configuration, one that takes the threaded and streamed paths,
    // and one that takes pieces of rows without streaming them.
    using Emitter = Recipes (*)(const Problem&, const Graph&, const Machine&);
    void check(Emitter emit, const Builder& as_computed, const std::vector<Dimensions>& shapes, size_t at_least) {
        const Builder b = kept(as_computed);
        Recipes recipes = emit(b.problem, b.graph, machine);
        ASSERT_EQ(recipes.lacks, "");
        ASSERT_GE(recipes.recipes.size(), at_least);
        for (const Recipe& recipe : recipes.recipes) {
            check_one(b, recipe, shapes);
            for (const Recipe& variant : recipe.variants) {
                EXPECT_NE(variant.source, recipe.source);
                EXPECT_NE(variant.suffix, "");
                check_one(b, variant, shapes);
            }
        }
    }

    void check_one(const Builder& b, const Recipe& recipe, const std::vector<Dimensions>& shapes) {
        Configuration threaded = recipe.initial;
        for (std::pair<const std::string, Value>& tunable : threaded) {
            for (const char* least : {"PARALLEL_MIN", "STREAM_MIN", "FAR_MIN"})
                if (tunable.first == least) tunable.second = int64_t{0};
            if (tunable.first == "BLOCK" || tunable.first == "TILE") tunable.second = int64_t{48};
            if (tunable.first == "UNROLL") tunable.second = int64_t{2};
        }
        std::vector<Configuration> configurations = {threaded};
        if (recipe.suffix.empty()) configurations.push_back(recipe.initial);
        if (threaded.contains("TILE") && threaded.contains("STREAM_MIN")) {
            configurations.push_back(threaded);
            configurations.back()["STREAM_MIN"] = recipe.initial.at("STREAM_MIN");
        }
        for (const Configuration& configuration : configurations) {
            std::string what = recipe.strategy.id + "+" + recipe.suffix + " " + strop::describe(configuration);
            const CompiledLibrary library(recipe.source + wrapper(b.problem), trial_flags(configuration));
            TrialEntry* const kernel = library.entry<TrialEntry>("call_" + b.problem.name);
            ASSERT_NE(kernel, nullptr) << what << "\n" << library.errors << recipe.source;
            EXPECT_EQ(library.errors, "") << what;
            for (const Dimensions& dims : shapes) {
                compare(b, kernel, dims, what + " " + strop::describe(dims));
                if (HasFatalFailure()) return;
            }
        }
    }

    // With the float32 tensors kept in `stored`.
    Builder kept(Builder b) const {
        for (auto* tensors : {&b.problem.inputs, &b.problem.outputs})
            for (Tensor& tensor : *tensors)
                if (tensor.dtype == DType::float32) tensor.dtype = stored;
        return b;
    }

    Machine machine;
    DType stored = DType::float32;
    double shift = 0, scale = 1, tolerance = 2e-6;
    bool special = false;
    double special_value = 0;
    bool whole = false;  // inputs are whole numbers
};

}  // namespace strop::playbook
