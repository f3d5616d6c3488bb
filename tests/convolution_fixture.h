// Convolutions for tests of their emitter: problems, data with sums in double, outputs with guards.
#pragma once

#include <cmath>
#include <random>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "fakes/compiled_library.h"
#include "fakes/long_tests.h"
#include "language/contract.h"
#include "playbook/recipe.h"

namespace strop::playbook {

inline Expression parse(const std::string& text) { return Expression::parse(text); }

// A problem conv2d(x, w, [further inputs], y, [stride, padding, dilation, groups,] N, C, H, W, K, R, S).
struct Case {
    Problem problem;
    Graph graph;

    int add(Node node) {
        node.id = static_cast<int>(graph.nodes.size());
        graph.nodes.push_back(std::move(node));
        return graph.nodes.back().id;
    }
    int input(const std::string& name, std::vector<Expression> shape) {
        Tensor tensor;
        tensor.name = name;
        tensor.shape = shape;
        problem.inputs.push_back(tensor);
        Node node;
        node.op = name;
        node.shape = std::move(shape);
        return add(node);
    }
    int reshape(int from, std::vector<Expression> shape) {
        Node node;
        node.family = Family::layout;
        node.op = "reshape";
        node.operands = {from};
        node.shape = std::move(shape);
        return add(node);
    }
    int constant(double value) {
        Node node;
        node.family = Family::constant;
        node.value = value;
        return add(node);
    }
    int pointwise(const std::string& op, std::vector<int> operands, std::vector<Expression> shape = {}) {
        Node node;
        node.family = Family::pointwise;
        node.op = op;
        node.operands = std::move(operands);
        node.shape = shape.empty() ? problem.outputs[0].shape : std::move(shape);
        return add(node);
    }
    void finish(int result) { graph.outputs = {result}; }

    int convolution = 0;
};

inline Machine machine_of(int vector_bytes, int registers) {
    Machine machine;
    machine.vector_bytes = vector_bytes;
    machine.vector_registers = registers;
    machine.cores = 2;
    return machine;
}

inline Machine avx2() { return machine_of(32, 16); }

inline CompiledLibrary compiled_with(const Recipe& recipe, const Configuration& configuration,
                                     const std::string& with = compiler()) {
    return {recipe.source, kernel_optimization() + defines(configuration), with};
}

struct Size {
    int64_t stride, padding, dilation, groups, N, C, H, W, K, R, S;
    int64_t P() const { return (H + 2 * padding - dilation * (R - 1) - 1) / stride + 1; }
    int64_t Q() const { return (W + 2 * padding - dilation * (S - 1) - 1) / stride + 1; }
    Bindings bindings() const {
        return {{"stride", stride},
                {"padding", padding},
                {"dilation", dilation},
                {"groups", groups},
                {"N", N},
                {"C", C},
                {"H", H},
                {"W", W},
                {"K", K},
                {"R", R},
                {"S", S}};
    }
    std::string text() const {
        return fmt::format("stride {} padding {} dilation {} groups {} x {}x{}x{}x{} w {}x{}x{}", stride, padding,
                           dilation, groups, N, C, H, W, K, R, S);
    }
};

struct Data {
    explicit Data(const Size& size) : generator(1) {
        x = normal(size.N * size.C * size.H * size.W);
        w = normal(size.K * size.C / size.groups * size.R * size.S);
        expected = sums(size);
    }
    // One element in front, so that data() + 1 is aligned to floats only.
    std::vector<float> normal(int64_t count) {
        std::normal_distribution<float> distribution;
        std::vector<float> values(static_cast<size_t>(count) + 1);
        for (float& value : values) value = distribution(generator);
        return values;
    }
    std::vector<double> sums(const Size& s) const {
        std::vector<double> y;
        int64_t channels = s.C / s.groups, filters = s.K / s.groups;
        for (int64_t n = 0; n < s.N; ++n)
            for (int64_t k = 0; k < s.K; ++k)
                for (int64_t p = 0; p < s.P(); ++p)
                    for (int64_t q = 0; q < s.Q(); ++q) {
                        double sum = 0;
                        for (int64_t c = 0; c < channels; ++c)
                            for (int64_t r = 0; r < s.R; ++r)
                                for (int64_t t = 0; t < s.S; ++t) {
                                    int64_t h = p * s.stride + r * s.dilation - s.padding;
                                    int64_t v = q * s.stride + t * s.dilation - s.padding;
                                    if (h < 0 || h >= s.H || v < 0 || v >= s.W) continue;
                                    int64_t from = ((n * s.C + k / filters * channels + c) * s.H + h) * s.W + v;
                                    int64_t with = ((k * channels + c) * s.R + r) * s.S + t;
                                    sum += double(x[static_cast<size_t>(from) + 1]) * w[static_cast<size_t>(with) + 1];
                                }
                        y.push_back(sum);
                    }
        return y;
    }

    std::mt19937 generator;
    std::vector<float> x, w;
    std::vector<double> expected;
};

// Output with poison inside and guards around.
struct Output {
    explicit Output(size_t count) : values(count + 2, std::nanf("")) { values.front() = values.back() = 77.0f; }
    float* data() { return values.data() + 1; }
    void expect(const std::vector<double>& expected, double tolerance, const std::string& where) {
        ASSERT_EQ(values.size(), expected.size() + 2);
        EXPECT_EQ(values.front(), 77.0f) << where;
        EXPECT_EQ(values.back(), 77.0f) << where;
        for (size_t i = 0; i < expected.size(); ++i) {
            double error = std::abs(data()[i] - expected[i]);
            ASSERT_TRUE(error <= tolerance) << where << " element " << i << ": " << data()[i] << " for " << expected[i];
        }
    }
    std::vector<float> values;
};

// A share of the largest value that a sum of |x w| over the depth would have; F(4×4) loses a digit more.
inline double tolerance_of(const Size& size, const Recipe& recipe) {
    double depth = double(size.C) / double(size.groups) * double(size.R * size.S);
    return (recipe.suffix == "tiles_of_4" ? 2e-5 : 2e-6) * (std::sqrt(depth) * 4 + 1);
}

inline std::vector<Recipe> with_variants(const Recipes& recipes) {
    std::vector<Recipe> all;
    for (const Recipe& recipe : recipes.recipes) {
        all.push_back(recipe);
        all.insert(all.end(), recipe.variants.begin(), recipe.variants.end());
    }
    return all;
}

inline const Recipe* find(const Recipes& recipes, const std::string& id) {
    for (const Recipe& recipe : recipes.recipes)
        if (recipe.strategy.id == id) return &recipe;
    return nullptr;
}

}  // namespace strop::playbook
