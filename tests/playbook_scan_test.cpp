// Scans: every strategy is compared with the interpreter, over every axis, from both ends, with what is
// before and after.
#include "fakes/kernel_trial.h"

namespace strop::playbook {
namespace {

class Scans : public KernelTrial {
protected:
    Scans() { tolerance = 2e-5; }
    void check(const Builder& b, const std::vector<Dimensions>& shapes, size_t at_least = 2) {
        KernelTrial::check(emit_scan, b, shapes, at_least);
    }
};

const std::vector<Dimensions> matrices = {{{"M", 3}, {"N", 37}}, {{"M", 1}, {"N", 1}},   {{"M", 9}, {"N", 64}},
                                          {{"M", 17}, {"N", 7}}, {{"M", 2}, {"N", 301}}, {{"M", 0}, {"N", 5}},
                                          {{"M", 2}, {"N", 0}}};
const std::vector<Dimensions> blocks = {
    {{"B", 2}, {"M", 5}, {"N", 37}}, {{"B", 1}, {"M", 60}, {"N", 130}}, {{"B", 3}, {"M", 1}, {"N", 1}}};

Builder scan(const std::string& op, const std::vector<std::string>& shape, int axis, bool backwards) {
    Builder b("scan");
    int x = b.input("x", shape);
    if (op == "prod") x = b.point("add", {b.point("multiply", {x, b.constant(0.05)}), b.constant(1)});
    b.output("y", backwards ? b.reverse(b.scan(op, b.reverse(x, axis), axis), axis) : b.scan(op, x, axis));
    return b;
}

TEST_F(Scans, alongRows) {
    for (bool backwards : {false, true})
        for (const char* op : {"sum", "prod", "max", "min"}) check(scan(op, {"M", "N"}, 1, backwards), matrices);
}

TEST_F(Scans, alongLongRowsThatThreadsShare) {
    tolerance = 1e-4;
    for (bool backwards : {false, true})
        for (const char* op : {"sum", "max"})
            check(scan(op, {"M", "N"}, 1, backwards), {{{"M", 3}, {"N", 20001}}, {{"M", 1}, {"N", 16384}}});
    check(scan("sum", {"N"}, 0, false), {{{"N", 50000}}, {{"N", 3}}});
}

TEST_F(Scans, downColumnsAndAMiddleAxis) {
    for (bool backwards : {false, true})
        for (const char* op : {"sum", "prod", "max", "min"}) check(scan(op, {"B", "M", "N"}, 1, backwards), blocks);
    check(scan("sum", {"M", "N"}, 0, false), matrices);
}

TEST_F(Scans, fuseWhatIsBeforeAndAfter) {
    Builder rows("share");
    int x = rows.input("running", {"B", "N"}), weight = rows.input("carry", {"N"}),
        total = rows.input("total", {"B", "1"});
    int sums = rows.scan("sum", rows.point("square", {rows.point("multiply", {x, weight})}), 1);
    rows.output("y", rows.point("add", {rows.point("multiply", {sums, total}), rows.point("tanh", {x})}));
    check(rows, {{{"B", 3}, {"N", 70}}, {{"B", 1}, {"N", 1}}});
    Builder columns("gap");
    int y = columns.input("x", {"B", "M", "N"});
    int peak = columns.scan("max", columns.point("add", {y, columns.input("down", {"M", "1"})}), 1);
    columns.output("y",
                   columns.point("multiply", {columns.point("subtract", {peak, y}), columns.input("scale", {"N"})}));
    check(columns, blocks);
}

TEST_F(Scans, keepWhatIsNoNumber) {
    special = true;
    for (double value : {-double(INFINITY), double(NAN)}) {
        special_value = value;
        for (const char* op : {"sum", "max", "min"}) {
            check(scan(op, {"M", "N"}, 1, false), {{{"M", 3}, {"N", 70}}});
            check(scan(op, {"M", "N"}, 0, true), {{{"M", 30}, {"N", 9}}});
        }
    }
}

TEST_F(Scans, sayWhatIsMissing) {
    Builder b("ends");
    int x = b.input("x", {"M", "N"});
    b.output("y", b.scan("sum", b.reverse(x, 1), 1));
    EXPECT_EQ(emit_scan(b.problem, b.graph, machine).lacks, "a scan of a reversal that is not reversed again");
}

}  // namespace
}  // namespace strop::playbook
