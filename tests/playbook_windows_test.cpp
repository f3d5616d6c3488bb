// Pooling: every strategy is compared with the interpreter of its graph, at windows that lie apart and
// overlap, reach over the borders, are wider than a row, and hold what is no number.
#include <gmock/gmock.h>

#include "fakes/kernel_trial.h"
#include "graph/graph.h"

namespace strop::playbook {
namespace {

struct Pool {
    std::string op = "max";
    std::vector<int64_t> taps, stride, dilation;
    int64_t padding = 0;
    double beyond = -INFINITY;
};

class Windows : public KernelTrial {
protected:
    void check(const Builder& b, const std::vector<Dimensions>& shapes, size_t at_least = 2) {
        KernelTrial::check(emit_windows, b, shapes, at_least);
    }

    // Over the axes behind the first `outer` ones.
    static int pooled(Builder& b, int x, size_t outer, const Pool& pool) {
        const size_t rank = pool.taps.size();
        if (pool.padding > 0) {
            std::vector<std::string> amounts(b.graph.at(x).shape.size(), "0");
            for (size_t k = 0; k < rank; ++k) amounts[outer + k] = std::to_string(pool.padding);
            x = b.pad(x, amounts, amounts, pool.beyond);
        }
        std::vector<int> axes, taps;
        for (size_t k = 0; k < rank; ++k) axes.push_back(static_cast<int>(outer + k));
        const size_t all = b.graph.at(x).shape.size();
        for (size_t k = 0; k < rank; ++k) taps.push_back(static_cast<int>(all + k));
        const std::vector<int64_t> ones(rank, 1);
        const int view = b.windows(x, axes, pool.taps, pool.stride.empty() ? ones : pool.stride,
                                   pool.dilation.empty() ? ones : pool.dilation);
        return b.reduce(pool.op, view, taps, false);
    }

    static Builder images(const Pool& pool) {
        Builder b("pool");
        b.output("y", pooled(b, b.input("x", {"N", "H", "W"}), 1, pool));
        return b;
    }
};

Dimensions nhw(int64_t n, int64_t h, int64_t w) { return {{"N", n}, {"H", h}, {"W", w}}; }

// Wide, ragged, narrower than a vector, of one window, with nothing in them.
const std::vector<Dimensions> planes = {nhw(2, 9, 41), nhw(3, 12, 64), nhw(1, 6, 7),
                                        nhw(2, 5, 5),  nhw(0, 8, 8),   nhw(1, 7, 200)};

TEST_F(Windows, ofImagesThatOverlapLieApartAndReachOverTheBorder) {
    check(images({.taps = {3, 3}, .stride = {2, 2}, .padding = 1}), planes);
    check(images({.taps = {2, 2}, .stride = {2, 2}}), planes);
    check(images({.taps = {3, 3}}), planes);
    check(images({.taps = {2, 3}, .stride = {3, 4}}), planes);
    check(images({.op = "min", .taps = {3, 2}, .stride = {1, 3}, .dilation = {2, 2}, .padding = 2, .beyond = INFINITY}),
          planes);
    check(images({.taps = {1, 5}, .stride = {1, 1}}), planes, 3);
    check(images({.taps = {5, 1}, .stride = {2, 1}}), planes, 1);
    check(images({.taps = {2, 2}, .stride = {7, 6}}), {nhw(2, 9, 41), nhw(1, 2, 2)}, 1);
}

TEST_F(Windows, areAveraged) {
    tolerance = 2e-5;
    for (int64_t padding : {0, 1}) {
        Builder b("average");
        int x = b.input("x", {"N", "H", "W"});
        int y = pooled(b, x, 1, {.op = "sum", .taps = {3, 3}, .stride = {2, 2}, .padding = padding, .beyond = 0});
        b.output("y", b.point("multiply", {y, b.constant(1.0 / 9)}));
        check(b, planes);
    }
}

TEST_F(Windows, widerThanARowAndPaddedByMoreThanAWindow) {
    check(images({.taps = {9, 9}, .padding = 4}), {nhw(2, 3, 3), nhw(1, 1, 1), nhw(1, 20, 33)}, 3);
    check(images({.taps = {2, 2}, .stride = {1, 1}, .padding = 5}), {nhw(2, 3, 3), nhw(1, 1, 1), nhw(1, 2, 30)});
    check(images({.taps = {33, 40}, .padding = 20}), {nhw(1, 5, 90), nhw(1, 40, 3)}, 2);
}

TEST_F(Windows, ofPaddingThatIsAValue) {
    check(images({.taps = {3, 3}, .stride = {2, 2}, .padding = 1, .beyond = 0.25}), planes);
    check(images({.taps = {3, 3}, .stride = {1, 1}, .padding = 3, .beyond = 0}), planes);
    Builder sums = images({.op = "sum", .taps = {3, 3}, .padding = 1, .beyond = 1});
    EXPECT_EQ(emit_windows(sums.problem, sums.graph, machine).lacks, "sums over windows of padding that counts");
}

TEST_F(Windows, overOneAndThreeAxes) {
    Builder line("line");
    line.output("y", pooled(line, line.input("x", {"N", "W"}), 1, {.taps = {3}, .stride = {2}, .padding = 1}));
    const std::vector<Dimensions> lines = {{{"N", 3}, {"W", 101}}, {{"N", 1}, {"W", 2}}, {{"N", 2}, {"W", 16}}};
    check(line, lines);
    Builder volume("volume");
    int x = volume.input("x", {"N", "D", "H", "W"});
    volume.output("y", pooled(volume, x, 1, {.taps = {2, 3, 3}, .stride = {2, 2, 2}, .padding = 1}));
    check(volume, {{{"N", 2}, {"D", 5}, {"H", 7}, {"W", 37}}, {{"N", 1}, {"D", 1}, {"H", 1}, {"W", 1}}});
    Builder flat("flat");
    flat.output("y", pooled(flat, flat.input("x", {"W"}), 0, {.taps = {16}}));
    check(flat, {{{"W", 16}}, {{"W", 300}}}, 3);
}

TEST_F(Windows, withElementsBehindThem) {
    for (int64_t padding : {0, 1}) {
        Builder b("pool");
        int x = b.input("x", {"N", "H", "W", "C"}), bias = b.input("bias", {"C"});
        b.output("y", b.point("add", {pooled(b, x, 1, {.taps = {3, 3}, .stride = {2, 2}, .padding = padding}), bias}));
        check(b, {{{"N", 2}, {"H", 7}, {"W", 9}, {"C", 37}},
                  {{"N", 1}, {"H", 4}, {"W", 5}, {"C", 1}},
                  {{"N", 1}, {"H", 3}, {"W", 3}, {"C", 8}}});
        Builder wide("wide");
        wide.output("y",
                    pooled(wide, wide.input("x", {"N", "H", "W", "C"}), 1, {.taps = {5, 6}, .padding = 2 * padding}));
        check(wide, {{{"N", 2}, {"H", 7}, {"W", 9}, {"C", 5}}}, 3);
    }
    Builder down("down");
    down.output("y", pooled(down, down.input("x", {"N", "H", "W"}), 1, {.taps = {3}, .stride = {2}}));
    check(down, planes, 1);
}

TEST_F(Windows, areAxesThatAReshapeSplits) {
    Builder b("split");
    int x = b.input("x", {"N", "2*H", "4*W"});
    b.output("y", b.reduce("max", b.reshape(x, {"N", "H", "2", "W", "4"}), {2, 4}, false));
    check(b, planes);
}

TEST_F(Windows, fuseWhatIsBeforeAndAfter) {
    tolerance = 2e-5;
    Builder b("fused");
    int x = b.input("j", {"N", "C", "H", "W"}), bias = b.reshape(b.input("bias", {"C"}), {"C", "1", "1"});
    int before = b.point("maximum", {b.point("add", {x, bias}), b.constant(0)});
    int y = pooled(b, before, 2, {.op = "max", .taps = {3, 3}, .stride = {2, 2}, .padding = 1});
    y = b.point("add",
                {b.point("multiply", {y, b.parameter("lanes", 0.5)}), b.input("row", {"(H + 1)//2", "(W + 1)//2"})});
    b.output("y", b.point("tanh", {b.point("add", {y, b.reshape(b.input("c", {"N"}), {"N", "1", "1", "1"})})}));
    check(b, {{{"N", 2}, {"C", 3}, {"H", 9}, {"W", 41}}, {{"N", 1}, {"C", 1}, {"H", 2}, {"W", 3}}});
}

TEST_F(Windows, keepWhatIsNoNumber) {
    for (double value : {-double(INFINITY), double(NAN)}) {
        special = true;
        special_value = value;
        check(images({.taps = {3, 3}, .stride = {2, 2}, .padding = 1}), {nhw(2, 9, 41)});
        check(images({.taps = {4, 6}}), {nhw(2, 9, 41)}, 3);
        check(images({.op = "sum", .taps = {2, 2}, .stride = {2, 2}}), {nhw(2, 9, 41)});
    }
}

TEST_F(Windows, sayWhatIsMissing) {
    auto lacks = [&](const Builder& b) { return emit_windows(b.problem, b.graph, machine).lacks; };
    EXPECT_EQ(lacks(images({.op = "prod", .taps = {2, 2}})), "reduction 'prod' over windows");
    Builder whole("whole");
    whole.output("y", whole.reduce("max", whole.input("x", {"M", "N"}), {1}, false));
    EXPECT_EQ(lacks(whole), "windows as long as an axis");
    Builder twice("twice");
    int once = pooled(twice, twice.input("x", {"H", "W"}), 0, {.taps = {2, 2}});
    twice.output("y", pooled(twice, once, 0, {.taps = {2, 2}}));
    EXPECT_EQ(lacks(twice), "several reductions over windows");
}

}  // namespace
}  // namespace strop::playbook
