// Convolutions of one and of three axes: every kernel, compared with sums in double.
#include <array>
#include <random>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "convolution_fixture.h"

namespace strop::playbook {
namespace {

TEST(Convolution, OneDimensional) {
    if (compiler().empty()) GTEST_SKIP() << "no C++ compiler";
    Case made;
    made.problem.name = made.problem.function = "conv2d";
    Node node;
    node.family = Family::convolution;
    node.operands = {made.input("x", {parse("N"), parse("C"), parse("W")}),
                     made.input("w", {parse("K"), parse("C"), parse("S")})};
    node.shape = {parse("N"), parse("K"), parse("(W + 2 - S)//2 + 1")};
    node.stride = {2};
    node.padding = {1};
    node.dilation = {1};
    Tensor output;
    output.name = "y";
    output.shape = node.shape;
    made.problem.outputs = {output};
    made.problem.dimensions = {"N", "C", "W", "K", "S"};
    made.finish(made.add(node));
    Recipes recipes = emit_convolution(made.problem, made.graph, avx2());
    ASSERT_EQ(recipes.lacks, "");
    EXPECT_EQ(find(recipes, "winograd"), nullptr);
    Size s{2, 1, 1, 1, 3, 5, 1, 40, 7, 1, 4};
    Data data(s);
    std::vector<double> sums;
    for (int64_t n = 0; n < s.N; ++n)
        for (int64_t k = 0; k < s.K; ++k)
            for (int64_t q = 0; q < s.Q(); ++q) {
                double sum = 0;
                for (int64_t c = 0; c < s.C; ++c)
                    for (int64_t t = 0; t < s.S; ++t) {
                        int64_t v = q * 2 + t - 1;
                        if (v < 0 || v >= s.W) continue;
                        sum += double(data.x[static_cast<size_t>((n * s.C + c) * s.W + v) + 1]) *
                               data.w[static_cast<size_t>((k * s.C + c) * s.S + t) + 1];
                    }
                sums.push_back(sum);
            }
    for (const Recipe& recipe : recipes.recipes) {
        if (recipe.condition) continue;
        const CompiledLibrary compiled = compiled_with(recipe, recipe.initial);
        using Line = void(const float*, const float*, float*, int64_t, int64_t, int64_t, int64_t, int64_t);
        Line* kernel = compiled.entry<Line>("conv2d");
        ASSERT_NE(kernel, nullptr) << recipe.source;
        Output y(sums.size());
        kernel(data.x.data() + 1, data.w.data() + 1, y.data(), s.N, s.C, s.W, s.K, s.S);
        y.expect(sums, tolerance_of(s, recipe), recipe.strategy.id);
    }
}

// Depth, height and width differ in every respect, so that none stands for another.
struct Volumes {
    int64_t C, K, groups;
    std::array<int64_t, 3> kernel, stride, padding, dilation;
    static constexpr int64_t N = 2, D = 5, H = 6, W = 21;

    std::array<int64_t, 3> out() const {
        std::array<int64_t, 3> extents{D, H, W};
        for (size_t a = 0; a < 3; ++a)
            extents[a] = (extents[a] + 2 * padding[a] - dilation[a] * (kernel[a] - 1) - 1) / stride[a] + 1;
        return extents;
    }

    Case made() const {
        Case made;
        made.problem.name = made.problem.function = "conv2d";
        const auto all = [](const std::array<int64_t, 3>& values) {
            return std::vector<Expression>(values.begin(), values.end());
        };
        Node node;
        node.family = Family::convolution;
        node.operands = {made.input("x", {parse("N"), C, D, H, parse("W")}),
                         made.input("w", {K, C / groups, kernel[0], kernel[1], kernel[2]})};
        node.shape = {parse("N"), K, out()[0], out()[1],
                      parse(fmt::format("(W + {} - {}) // {} + 1", 2 * padding[2], dilation[2] * (kernel[2] - 1) + 1,
                                        stride[2]))};
        node.stride = all(stride);
        node.padding = all(padding);
        node.dilation = all(dilation);
        node.groups = groups;
        Tensor output;
        output.name = "y";
        output.shape = node.shape;
        made.problem.outputs = {output};
        made.problem.dimensions = {"N", "W"};
        made.finish(made.add(node));
        return made;
    }

    std::vector<double> expected(const std::vector<float>& x, const std::vector<float>& w) const {
        const auto [Z, P, Q] = out();
        const auto [T, R, S] = kernel;
        std::vector<double> sums;
        for (int64_t i = 0; i < N * K * Z * P * Q; ++i) {
            const int64_t q = i % Q, p = i / Q % P, z = i / Q / P % Z, k = i / Q / P / Z % K, n = i / Q / P / Z / K;
            double sum = 0;
            for (int64_t j = 0; j < C / groups * T * R * S; ++j) {
                const int64_t tap = j % (T * R * S), c = k / (K / groups) * (C / groups) + j / (T * R * S);
                const int64_t d = z * stride[0] + tap / S / R * dilation[0] - padding[0];
                const int64_t h = p * stride[1] + tap / S % R * dilation[1] - padding[1];
                const int64_t v = q * stride[2] + tap % S * dilation[2] - padding[2];
                if (d < 0 || d >= D || h < 0 || h >= H || v < 0 || v >= W) continue;
                sum += double(x[static_cast<size_t>((((n * C + c) * D + d) * H + h) * W + v)]) *
                       w[static_cast<size_t>(k * (C / groups) * T * R * S + j)];
            }
            sums.push_back(sum);
        }
        return sums;
    }
};

TEST(Convolution, Volumes) {
    if (compiler().empty()) GTEST_SKIP() << "no C++ compiler";
    const Volumes cases[] = {{3, 5, 1, {3, 2, 3}, {1, 1, 1}, {1, 0, 1}, {1, 1, 1}},
                             {4, 6, 2, {2, 3, 1}, {2, 1, 3}, {1, 2, 0}, {1, 2, 1}},
                             {2, 18, 1, {1, 1, 1}, {1, 2, 1}, {0, 0, 0}, {1, 1, 1}},
                             {11, 22, 11, {3, 2, 3}, {1, 2, 1}, {2, 0, 1}, {2, 1, 1}},
                             {17, 17, 17, {2, 3, 3}, {1, 1, 2}, {0, 1, 1}, {1, 1, 2}}};
    for (const Volumes& volumes : cases) {
        const Case made = volumes.made();
        const Recipes recipes = emit_convolution(made.problem, made.graph, avx2());
        ASSERT_EQ(recipes.lacks, "");
        std::mt19937 random(7);
        const auto drawn = [&](int64_t count) {
            std::vector<float> values(static_cast<size_t>(count));
            for (float& value : values) value = std::normal_distribution<float>()(random);
            return values;
        };
        const auto [T, R, S] = volumes.kernel;
        const std::vector<float> x = drawn(Volumes::N * volumes.C * Volumes::D * Volumes::H * Volumes::W);
        const std::vector<float> w = drawn(volumes.K * (volumes.C / volumes.groups) * T * R * S);
        const std::vector<double> expected = volumes.expected(x, w);
        ASSERT_GE(recipes.recipes.size(), 2u);
        for (const Recipe& recipe : with_variants(recipes)) {
            if (recipe.condition) continue;
            const CompiledLibrary compiled = compiled_with(recipe, recipe.initial);
            auto* kernel = compiled.entry<void(const float*, const float*, float*, int64_t, int64_t)>("conv2d");
            ASSERT_NE(kernel, nullptr) << recipe.source;
            Output y(expected.size());
            kernel(x.data(), w.data(), y.data(), Volumes::N, Volumes::W);
            y.expect(expected, 2e-5, recipe.strategy.id + recipe.suffix);
        }
    }
}

}  // namespace
}  // namespace strop::playbook
