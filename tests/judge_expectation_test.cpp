// What is expected of outputs, and how exactly.
#include <algorithm>
#include <cfloat>
#include <cmath>
#include <cstring>
#include <numeric>

#include <gtest/gtest.h>

#include "base/file.h"
#include "judge/check.h"
#include "judge/expectation.h"
#include "problem/loader.h"

namespace strop::judge {
namespace {

// A single sum of values around zero may come out as next to nothing; rounding errors do not become smaller with it.
TEST(Expectation, of_a_single_output_has_the_scale_of_others_like_it) {
    const Problem problem = load_problem(STROP_SOURCE_DIR "/problems/row_sum");
    const ShapePoint point{"one", {{"M", 1}, {"N", 1000}}};
    Expectation expectation(problem, 1, Seconds(60));
    bool any_small = false;
    for (uint64_t seed = 1; seed <= 40; ++seed) {
        expectation.reseed(seed);
        Buffers& buffers = expectation.at(point);
        const InputSet& set = buffers.sets().front();
        const double usual = std::sqrt(1000.0), own = std::fabs(buffers.expected(set, 0)[0]);
        any_small = any_small || own < 0.1 * usual;
        EXPECT_GT(set.scale[0], 0.3 * usual) << "seed " << seed;
        EXPECT_GE(set.scale[0], own);
        // The inputs are those that the expected value belongs to.
        const float* x = reinterpret_cast<const float*>(buffers.input(set, 0));
        double sum = 0;
        for (int i = 0; i < 1000; ++i) sum += x[i];
        EXPECT_NEAR(buffers.expected(set, 0)[0], sum, 1e-9);
    }
    EXPECT_TRUE(any_small);  // else this tests nothing
}

TEST(Expectation, of_many_outputs_has_their_own_scale) {
    const Problem problem = load_problem(STROP_SOURCE_DIR "/problems/row_sum");
    Expectation expectation(problem, 1, Seconds(60));
    Buffers& buffers = expectation.at({"many", {{"M", 300}, {"N", 16}}});
    const InputSet& set = buffers.sets().front();
    double squares = 0;
    for (int i = 0; i < 300; ++i) squares += buffers.expected(set, 0)[i] * buffers.expected(set, 0)[i];
    EXPECT_DOUBLE_EQ(set.scale[0], std::sqrt(squares / 300));
}

Problem with_reference(const TemporaryFolder& folder, const std::string& body, const std::string& more = "") {
    write_file(folder.path() / "problem.yaml",
               "name: f\nreference: reference.py\ninputs:\n  x: {dtype: float32, shape: [M, N]}\noutputs:\n"
               "  y: {dtype: float32, shape: [N]}\nshapes:\n  one: {M: 40, N: 50}\n  other: {M: 7, N: 90}\n" +
                   more);
    write_file(folder.path() / "reference.py", "import numpy as np\n\n\ndef f(x):\n    return " + body + "\n");
    return load_problem(folder.path().string());
}

std::map<std::string, int64_t> least_extents(const Problem& problem) {
    Expectation expectation(problem, 1, Seconds(60));
    std::map<std::string, int64_t> least;
    for (const auto& [name, range] : expectation.possible_range()) least[name] = range.low;
    return least;
}

// A deviation of one sample is no number, and some functions refuse what is too short: nobody means such shapes.
TEST(Expectation, begins_where_the_reference_works) {
    using Least = std::map<std::string, int64_t>;
    TemporaryFolder folder;
    EXPECT_EQ(least_extents(with_reference(folder, "x.sum(axis=0)")), (Least{{"M", 1}, {"N", 1}}));
    EXPECT_EQ(least_extents(with_reference(folder, "x.std(axis=0, ddof=1)")), (Least{{"M", 2}, {"N", 1}}));
    EXPECT_EQ(least_extents(with_reference(folder, "np.gradient(x.mean(axis=0))")), (Least{{"M", 1}, {"N", 2}}));
    EXPECT_EQ(least_extents(with_reference(folder, "np.partition(x, 4, axis=0)[4] / (x.size > 9)")),
              (Least{{"M", 5}, {"N", 2}}));
    // Together they are too few where each alone is not.
    Least together = least_extents(with_reference(folder, "np.sqrt(float(x.size - 40)) + x[0]"));
    EXPECT_GE(together["M"] * together["N"], 40);
    EXPECT_LT(together["M"] * together["N"], 400);
    // What a problem declares is a promise, and a reference that fails everywhere has no range.
    EXPECT_EQ(least_extents(with_reference(folder, "x.std(axis=0, ddof=1)", "range: {M: [1, 100]}\n")),
              (Least{{"M", 1}, {"N", 1}}));
    EXPECT_EQ(least_extents(with_reference(folder, "x[0] / 0.0")), (Least{{"M", 1}, {"N", 1}}));
}

// An index that happens to be 0 lies in a tensor of one row, too.
TEST(Expectation, begins_where_all_indexes_lie_inside) {
    TemporaryFolder folder;
    write_file(folder.path() / "problem.yaml",
               "name: f\nreference: reference.py\ninputs:\n  x: {dtype: float32, shape: [M, N]}\n"
               "  i: {dtype: int64, shape: [B], fill: integers, limit: 4}\noutputs:\n"
               "  y: {dtype: float32, shape: [B, N]}\nshapes:\n  one: {M: 50, N: 8, B: 90}\n");
    write_file(folder.path() / "reference.py", "def f(x, i):\n    return x[i]\n");
    const Problem problem = load_problem(folder.path().string());
    for (uint64_t seed = 1; seed <= 12; ++seed) {
        Expectation expectation(problem, seed, Seconds(60));
        EXPECT_EQ(expectation.possible_range().at("M").low, 4) << seed;
    }
}

// Shapes at which an output would have a negative extent say nothing of where the reference works.
TEST(Expectation, begins_where_a_window_fits) {
    TemporaryFolder folder;
    write_file(folder.path() / "problem.yaml",
               "name: f\nreference: reference.py\ninputs:\n  x: {dtype: float32, shape: [M, N]}\noutputs:\n"
               "  y: {dtype: float32, shape: [M, N - 4]}\nshapes:\n  one: {M: 7, N: 131}\n  other: {M: 65, N: 37}\n");
    write_file(folder.path() / "reference.py",
               "import numpy as np\n\n\ndef f(x):\n"
               "    return np.lib.stride_tricks.sliding_window_view(x, 5, axis=1).mean(axis=-1)\n");
    EXPECT_EQ(least_extents(load_problem(folder.path().string())),
              (std::map<std::string, int64_t>{{"M", 1}, {"N", 5}}));
}

// The entropy of one class is 0, however its only share was rounded.
TEST(Expectation, of_outputs_that_vanish_has_the_scale_of_others) {
    TemporaryFolder folder;
    const Problem problem =
        with_reference(folder, "-(np.abs(x) / np.abs(x).sum(0) * np.log(np.abs(x) / np.abs(x).sum(0))).sum(0)");
    Expectation expectation(problem, 1, Seconds(60));
    EXPECT_GT(expectation.at(problem.points[0]).sets().front().scale[0], 0.1);
    Buffers& one = expectation.at({"one class", {{"M", 1}, {"N", 300}}});
    const InputSet& set = one.sets().front();
    EXPECT_GT(set.scale[0], 0.1);
    float* y = reinterpret_cast<float*>(one.output(set, 0));
    std::fill(y, y + 300, 6e-8f);
    EXPECT_EQ(wrong_output(problem, one, set, {}), "");
    y[7] = 1e-2f;
    EXPECT_NE(wrong_output(problem, one, set, {}), "");
}

// Near the antipode a distance on a sphere hardly depends on how its formula goes, whose arc sine near 1 does: float32
// loses half of its digits, on the way, at one element of thousands.
TEST(Expectation, an_element_whose_formula_loses_digits_has_room_of_its_own) {
    TemporaryFolder folder;
    write_file(folder.path() / "problem.yaml",
               "name: distances\nreference: reference.py\ninputs:\n  a: {dtype: float32, shape: [N]}\n"
               "outputs:\n  d: {dtype: float32, shape: [N]}\nshapes:\n  one: {N: 5000}\n");
    write_file(folder.path() / "reference.py",
               "import numpy as np\n\n\ndef distances(a):\n"
               "    return 2 * np.arcsin(np.sqrt(np.clip(np.sin(a / 2) ** 2, 0, 1)))\n");
    const Problem problem = load_problem(folder.path().string());
    Expectation expectation(problem, 1, Seconds(60));
    Buffers& buffers = expectation.at(problem.points[0]);
    const InputSet& set = buffers.sets().front();
    float* a = reinterpret_cast<float*>(buffers.input(set, 0));
    float* d = reinterpret_cast<float*>(buffers.output(set, 0));
    a[7] = 3.138f;
    buffers.expected(set, 0)[7] = a[7];
    for (int i = 0; i < 5000; ++i) d[i] = static_cast<float>(buffers.expected(set, 0)[i]);
    const float half = std::sin(a[7] / 2), near_one = std::nextafter(std::sqrt(half * half), 0.0f);
    d[7] = 2 * std::asin(near_one);
    EXPECT_NE(wrong_output(problem, buffers, set, {}), "");
    const Slack slack = expectation.slack(buffers, set);
    EXPECT_EQ(wrong_output(problem, buffers, set, {}, slack), "");
    EXPECT_LT(slack[0][8], 1e-5);
    EXPECT_GT(slack[0][7], 1e-5);
    EXPECT_LT(slack[0][7], 1e-2);
}

// One row of thousands cancels: whoever adds it up in float32 is off by more than any other row may be.
TEST(Expectation, an_element_whose_inputs_cancel_has_room_of_its_own) {
    const Problem problem = load_problem(STROP_SOURCE_DIR "/problems/row_sum");
    Expectation expectation(problem, 1, Seconds(60));
    Buffers& buffers = expectation.at({"many", {{"M", 4000}, {"N", 16}}});
    const InputSet& set = buffers.sets().front();
    float* row = reinterpret_cast<float*>(buffers.input(set, 0)) + 7 * 16;
    row[0] = 3e6f;
    row[1] = -3e6f;
    double sum = 0;
    for (int i = 0; i < 16; ++i) sum += row[i];
    buffers.expected(set, 0)[7] = sum;
    const Slack slack = expectation.slack(buffers, set);
    EXPECT_GT(slack[0][7], 0.1);
    EXPECT_LT(slack[0][7], 10);
    EXPECT_LT(slack[0][8], 1e-4);

    float* y = reinterpret_cast<float*>(buffers.output(set, 0));
    for (int i = 0; i < 4000; ++i) y[i] = static_cast<float>(buffers.expected(set, 0)[i]);
    y[7] += 0.1f;
    EXPECT_NE(wrong_output(problem, buffers, set, {}), "");
    EXPECT_TRUE(may_be_rounding(problem, buffers, set, {}));
    EXPECT_EQ(wrong_output(problem, buffers, set, {}, slack), "");
    y[8] += 0.1f;  // nothing cancels there
    EXPECT_NE(wrong_output(problem, buffers, set, {}, slack), "");
    for (int i = 0; i < 10; ++i) y[100 + i] += 0.1f;
    EXPECT_FALSE(may_be_rounding(problem, buffers, set, {}));
}

// The same of every tenth row, off by little: rounding, where each row's own inputs say so.
TEST(Expectation, rows_that_lose_digits_have_room_of_their_own) {
    const Problem problem = load_problem(STROP_SOURCE_DIR "/problems/row_sum");
    Expectation expectation(problem, 1, Seconds(60));
    Buffers& buffers = expectation.at({"some", {{"M", 400}, {"N", 16}}});
    const InputSet& set = buffers.sets().front();
    float* y = reinterpret_cast<float*>(buffers.output(set, 0));
    const double allowed = set.tolerance[0] * set.scale[0];
    for (int i = 0; i < 400; ++i) {
        if (i % 10 == 0) {  // changes by some times what is allowed elsewhere when a unit in the last place changes
            float* row = reinterpret_cast<float*>(buffers.input(set, 0)) + i * 16;
            const float large = static_cast<float>(std::exp2(std::ceil(std::log2(allowed)) + 25));
            double sum = 0;
            row[0] = large;
            row[1] = -large;
            for (int k = 0; k < 16; ++k) sum += row[k];
            buffers.expected(set, 0)[i] = sum;
        }
        y[i] = static_cast<float>(buffers.expected(set, 0)[i] + (i % 10 == 0 ? 10 * allowed : 0));
    }
    EXPECT_NE(wrong_output(problem, buffers, set, {}), "");
    EXPECT_TRUE(may_be_rounding(problem, buffers, set, {}));
    EXPECT_EQ(wrong_output(problem, buffers, set, {}, expectation.slack(buffers, set)), "");
    y[5] += static_cast<float>(10 * allowed);
    EXPECT_NE(wrong_output(problem, buffers, set, {}, expectation.slack(buffers, set)), "");
    y[0] += static_cast<float>(1e5 * allowed);
    EXPECT_FALSE(may_be_rounding(problem, buffers, set, {}));
}

// What a mean of rows' logarithms leaves of their number is mostly rounding: where there is one output, that of one
// input may be small by chance, and no other way of writing it is as lucky.
TEST(Expectation, of_a_single_output_has_the_noise_of_others_like_it) {
    const TemporaryFolder folder("strop-test");
    write_file(folder.path() / "problem.yaml",
               "name: excess\ninputs: {x: {dtype: float32, shape: [M, 256], scale: 0.001}}\n"
               "outputs: {y: {dtype: float32, shape: [1]}}\nshapes: {one: {M: 64}}\n");
    write_file(folder.path() / "reference.py",
               "import numpy as np\n\n\ndef excess(x):\n"
               "    rows = np.log(np.sum(np.exp(x), axis=1)) - np.log(x.dtype.type(256))\n"
               "    return np.mean(rows, keepdims=True)\n");
    const Problem problem = load_problem(folder.path().string());
    Expectation expectation(problem, 1, Seconds(60));
    for (uint64_t seed = 1; seed <= 30; ++seed) {
        expectation.reseed(seed);
        Buffers& buffers = expectation.at(problem.points[0]);
        const InputSet& set = buffers.sets().front();
        const float* x = reinterpret_cast<const float*>(buffers.input(set, 0));
        float mean = 0;
        for (int row = 0; row < 64; ++row) {
            float sum = 0;
            for (int i = 0; i < 256; ++i) sum += std::exp(x[row * 256 + i]);
            mean += (std::log(sum) - std::log(256.0f)) / 64;
        }
        const double want = buffers.expected(set, 0)[0];
        EXPECT_LE(std::fabs(mean - want), set.tolerance[0] * (std::fabs(want) + set.scale[0])) << "seed " << seed;
    }
}

// Rows of `n` values, normalized; a mean is a product with 1/n, as many kernels have it.
void normalize(const float* x, const float* g, const float* b, int n, float* y) {
    float sum = 0, squares = 0;
    for (int i = 0; i < n; ++i) sum += x[i];
    const float mean = sum * (1.0f / static_cast<float>(n));
    for (int i = 0; i < n; ++i) squares += (x[i] - mean) * (x[i] - mean);
    const float scale = 1 / std::sqrt(squares * (1.0f / static_cast<float>(n)) + 1e-5f);
    for (int i = 0; i < n; ++i) y[i] = (x[i] - mean) * scale * g[i] + b[i];
}

void add_product(const float* x, const float* w, int n, float* y) {
    std::vector<float> products(static_cast<size_t>(n));
    for (int k = 0; k < n; ++k)
        for (int j = 0; j < n; ++j) products[static_cast<size_t>(j)] += x[k] * w[k * n + j];
    for (int j = 0; j < n; ++j) y[j] += products[static_cast<size_t>(j)];
}

// Layers that normalize and multiply, as in every transformer. Of weights that are nearly all alike their products
// nearly cancel, and rows of equal values have no deviation but what rounding makes.
TEST(Expectation, layers_that_normalize_and_multiply_are_right_in_another_order) {
    const TemporaryFolder folder("strop-test");
    write_file(folder.path() / "problem.yaml",
               "name: layers\ninputs: {x: {dtype: float32, shape: [M, 96]}, g: {dtype: float32, shape: [96]},"
               " b: {dtype: float32, shape: [96]}, w: {dtype: float32, shape: [96, 96], scale: 0.1}}\n"
               "outputs: {y: {dtype: float32, shape: [M, 96]}}\nshapes: {one: {M: 8}}\n");
    write_file(folder.path() / "reference.py",
               "import numpy as np\n\n\ndef normalized(x, g, b):\n"
               "    h = x - x.mean(-1, keepdims=True)\n"
               "    return h / np.sqrt((h * h).mean(-1, keepdims=True) + 1e-5) * g + b\n\n\n"
               "def layers(x, g, b, w):\n"
               "    for _ in range(6):\n        x = x + normalized(x, g, b) @ w\n"
               "    return normalized(x, g, b) @ w\n");
    const Problem problem = load_problem(folder.path().string());
    for (uint64_t seed = 1; seed <= 6; ++seed) {
        Expectation expectation(problem, seed, Seconds(60));
        Buffers& buffers = expectation.at(problem.points[0]);
        for (const InputSet& set : buffers.sets()) {
            auto input = [&](size_t t) { return reinterpret_cast<const float*>(buffers.input(set, t)); };
            float* y = reinterpret_cast<float*>(buffers.output(set, 0));
            for (int m = 0; m < 8; ++m) {
                std::vector<float> state(input(0) + m * 96, input(0) + (m + 1) * 96), normalized(96);
                for (int layer = 0; layer < 6; ++layer) {
                    normalize(state.data(), input(1), input(2), 96, normalized.data());
                    add_product(normalized.data(), input(3), 96, state.data());
                }
                normalize(state.data(), input(1), input(2), 96, normalized.data());
                std::fill_n(y + m * 96, 96, 0.0f);
                add_product(normalized.data(), input(3), 96, y + m * 96);
            }
            EXPECT_EQ(wrong_output(problem, buffers, set, {}), "")
                << "seed " << seed << ", " << name_of(set.distribution);
        }
    }
}

// Reals are rounded to whole numbers: half-way between two, float32 and float64 decide otherwise, and so differs what
// is computed from them. Nowhere else.
TEST(Expectation, what_is_half_way_between_whole_numbers_may_become_either) {
    const TemporaryFolder folder("strop-test");
    write_file(folder.path() / "problem.yaml",
               "name: quantize\ninputs: {x: {dtype: float32, shape: [M, N]}}\n"
               "outputs: {q: {dtype: int8, shape: [M, N]}, most: {dtype: float32, shape: [M]},"
               " sum: {dtype: float32, shape: [M]}}\n"
               "shapes: {one: {M: 3000, N: 128}}\n");
    write_file(folder.path() / "reference.py",
               "import numpy as np\n\n\ndef quantize(x):\n"
               "    most = np.abs(x).max(axis=1)\n"
               "    q = np.round(127 * (x / most[:, None])).astype(np.int8)\n"
               "    return q, most, (q.astype(most.dtype) * (most[:, None] / 127)).sum(axis=1)\n");
    const Problem problem = load_problem(folder.path().string());
    Expectation expectation(problem, 1, Seconds(60));
    int half_way = 0, sums = 0;
    for (uint64_t seed = 1; seed <= 5; ++seed) {
        expectation.reseed(seed);
        Buffers& buffers = expectation.at(problem.points[0]);
        const InputSet& set = buffers.sets().front();
        const float* x = reinterpret_cast<const float*>(buffers.input(set, 0));
        int8_t* q = reinterpret_cast<int8_t*>(buffers.output(set, 0));
        float* most = reinterpret_cast<float*>(buffers.output(set, 1));
        float* sum = reinterpret_cast<float*>(buffers.output(set, 2));
        const double* want_sum = buffers.expected(set, 2);
        const int8_t* want = reinterpret_cast<const int8_t*>(buffers.expected(set, 0));
        for (int row = 0; row < 3000; ++row) {
            most[row] = 0;
            for (int i = 0; i < 128; ++i) most[row] = std::max(most[row], std::fabs(x[row * 128 + i]));
            const float scale = 127 / most[row];
            for (int i = row * 128; i < row * 128 + 128; ++i) {
                q[i] = static_cast<int8_t>(std::nearbyint(x[i] * scale));
                half_way += q[i] != want[i];
            }
            sum[row] = static_cast<float>(std::accumulate(q + row * 128, q + row * 128 + 128, 0)) * (most[row] / 127);
            sums += std::fabs(sum[row] - want_sum[row]) > 100 * set.tolerance[2] * set.scale[2];
        }
        const Slack slack = expectation.slack(buffers, set);
        EXPECT_EQ(wrong_output(problem, buffers, set, {}, slack), "") << "seed " << seed;
        EXPECT_TRUE(may_be_rounding(problem, buffers, set, {}));
        // One that is nowhere near: off by one all the same.
        const int far = static_cast<int>(std::find(slack[0].begin(), slack[0].end(), 0) - slack[0].begin());
        q[far] = static_cast<int8_t>(want[far] + (want[far] < 127 ? 1 : -1));
        EXPECT_NE(wrong_output(problem, buffers, set, {}, slack), "");
        q[far] = want[far];
        const auto certain = std::find_if(slack[2].begin(), slack[2].end(), [](double room) { return room < 1e-3; });
        const size_t row = static_cast<size_t>(certain - slack[2].begin());
        sum[row] += most[row] / 127;  // as if one of its numbers were another
        EXPECT_NE(wrong_output(problem, buffers, set, {}, slack), "");
        EXPECT_LT(std::count_if(slack[0].begin(), slack[0].end(), [](double room) { return room > 0; }),
                  3000 * 128 / 500);
        // Whoever cuts off instead of rounding is wrong at half of them.
        for (int i = 0; i < 3000 * 128; ++i) q[i] = static_cast<int8_t>(x[i] * 127 / most[i / 128]);
        EXPECT_FALSE(may_be_rounding(problem, buffers, set, {}));
    }
    EXPECT_GT(half_way, 0);  // else this tests nothing
    EXPECT_GT(sums, 0);
}

// Whether one element of a float32 output is right where errors of 1e-5 of the value are allowed.
bool right(float got, double want) {
    const Problem problem = load_problem(STROP_SOURCE_DIR "/problems/row_sum");
    InputSet set;
    set.tolerance = {1e-5};
    set.scale = {0};
    char bytes[sizeof got];
    std::memcpy(bytes, &got, sizeof got);
    std::vector<char> expected(sizeof want);
    std::memcpy(expected.data(), &want, sizeof want);
    return wrong_element(problem, set, {{"M", 1}, {"N", 1}}, 0, 0, bytes, expected).empty();
}

TEST(Check, what_is_below_the_types_range_may_be_zero) {
    EXPECT_TRUE(right(0.0f, 4.90086397e-64));
    EXPECT_TRUE(right(-0.0f, 4.90086397e-64));
    EXPECT_TRUE(right(0.0f, -4.90086397e-64));
    EXPECT_FALSE(right(1e-30f, 4.90086397e-64));
    EXPECT_FALSE(right(FLT_MIN, 4.90086397e-64));
    EXPECT_FALSE(right(NAN, 4.90086397e-64));
}

TEST(Check, what_is_not_normal_may_be_flushed_or_rounded_to_the_types_steps) {
    EXPECT_TRUE(right(0.0f, 1e-40));
    EXPECT_TRUE(right(1e-40f, 1e-40));
    EXPECT_TRUE(right(4e-45f, 3e-45));
    EXPECT_TRUE(right(0.0f, 1.1755e-38));  // a little above the smallest normal value, as far as errors reach
    EXPECT_FALSE(right(2e-40f, 1e-40));
    EXPECT_FALSE(right(-1e-40f, 1e-40));
    EXPECT_FALSE(right(0.0f, 1.3e-38));
    EXPECT_FALSE(right(0.0f, 1e-37));
}

// Each of 600 terms is rounded to a step, whoever adds them up.
TEST(Expectation, sums_below_the_types_normal_values_may_be_off_by_more_steps) {
    const Problem problem = load_problem(STROP_SOURCE_DIR "/problems/row_sum");
    Expectation expectation(problem, 1, Seconds(60));
    Buffers& buffers = expectation.at({"rows", {{"M", 300}, {"N", 600}}});
    InputSet set = buffers.sets().front();
    set.tolerance = set.scale = {0};
    float* y = reinterpret_cast<float*>(buffers.output(set, 0));
    for (int i = 0; i < 300; ++i) {
        buffers.expected(set, 0)[i] = 1e-41;
        y[i] = static_cast<float>(1e-41 + 60 * 0x1p-149);
    }
    EXPECT_EQ(wrong_output(problem, buffers, set, {}), "");
    y[7] = static_cast<float>(1e-41 + 200 * 0x1p-149);
    EXPECT_NE(wrong_output(problem, buffers, set, {}), "");
}

bool has_subnormal_inputs(const std::string& body) {
    TemporaryFolder folder;
    const Problem problem = with_reference(folder, body);
    Expectation expectation(problem, 1, Seconds(60));
    const std::vector<InputSet>& sets = expectation.at(problem.points.front()).sets();
    return std::any_of(sets.begin(), sets.end(),
                       [](const InputSet& set) { return set.distribution == Distribution::subnormal; });
}

// Squares of subnormal numbers vanish in float32: the largest is the first then, whoever looks for it.
TEST(Expectation, inputs_that_float32_cannot_tell_apart_are_not_tried) {
    EXPECT_TRUE(has_subnormal_inputs("x.sum(axis=0)"));
    EXPECT_TRUE(has_subnormal_inputs("x[np.argmax(x.sum(axis=1))]"));
    EXPECT_FALSE(has_subnormal_inputs("x[np.argmax((x * x).sum(axis=1))]"));
    EXPECT_FALSE(has_subnormal_inputs("x[np.argsort((x * x).sum(axis=1))[3]]"));
}

TEST(Check, what_is_above_the_types_range_is_infinite) {
    EXPECT_TRUE(right(INFINITY, 1e39));
    EXPECT_TRUE(right(-INFINITY, -1e39));
    EXPECT_TRUE(right(INFINITY, 3.40282e38));  // another order of the same sum is above it
    EXPECT_FALSE(right(-INFINITY, 1e39));
    EXPECT_FALSE(right(FLT_MAX, 1e39));
    EXPECT_FALSE(right(NAN, 1e39));
    EXPECT_FALSE(right(INFINITY, 3.3e38));
}

// Neither the float32 evaluation, which is zero there, nor what no float32 holds makes the tolerance of the rest wide.
TEST(Expectation, of_values_that_the_type_does_not_hold_teaches_nothing) {
    const Problem problem = load_problem(STROP_SOURCE_DIR "/tests/power/row_product");
    Expectation expectation(problem, 1, Seconds(60));
    for (const Dimensions& dims : {Dimensions{{"M", 512}, {"N", 152}}, Dimensions{{"M", 300}, {"N", 256}}}) {
        Buffers& buffers = expectation.at({"", dims});
        EXPECT_LT(buffers.sets().front().tolerance[0], 2e-4) << describe(dims);
    }
}

}  // namespace
}  // namespace strop::judge
