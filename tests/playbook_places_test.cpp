// Searches for the place of an extremum: every strategy is compared with the interpreter, where many elements
// are equal, where some are no numbers, and over every axis.
#include "fakes/kernel_trial.h"

namespace strop::playbook {
namespace {

class Places : public KernelTrial {
protected:
    void check(const Builder& b, const std::vector<Dimensions>& shapes, size_t at_least = 2) {
        KernelTrial::check(emit_places, b, shapes, at_least);
    }
};

const std::vector<Dimensions> matrices = {{{"M", 3}, {"N", 37}}, {{"M", 1}, {"N", 1}},   {{"M", 9}, {"N", 64}},
                                          {{"M", 17}, {"N", 7}}, {{"M", 2}, {"N", 301}}, {{"M", 0}, {"N", 5}}};
const std::vector<Dimensions> blocks = {
    {{"B", 2}, {"M", 5}, {"N", 37}}, {{"B", 1}, {"M", 60}, {"N", 130}}, {{"B", 3}, {"M", 1}, {"N", 1}}};

Builder search(const std::string& op, const std::vector<std::string>& shape, int axis, bool coarse) {
    Builder b("search");
    int x = b.input("x", shape);
    if (coarse) x = b.point("floor", {x});  // many are equal
    b.output("place", b.reduce(op, x, {axis}, false));
    return b;
}

TEST_F(Places, alongRows) {
    for (const char* op : {"argmax", "argmin"})
        for (bool coarse : {false, true}) check(search(op, {"M", "N"}, 1, coarse), matrices, 3);
}

TEST_F(Places, alongLongRowsThatThreadsShare) {
    check(search("argmax", {"M", "N"}, 1, true), {{{"M", 2}, {"N", 20000}}, {{"M", 1}, {"N", 16385}}}, 3);
    check(search("argmin", {"N"}, 0, false), {{{"N", 40001}}, {{"N", 3}}}, 3);
}

TEST_F(Places, downColumnsAndAMiddleAxis) {
    for (const char* op : {"argmax", "argmin"})
        for (bool coarse : {false, true}) check(search(op, {"B", "M", "N"}, 1, coarse), blocks);
    check(search("argmax", {"M", "N"}, 0, true),
          {{{"M", 3}, {"N", 37}}, {{"M", 170}, {"N", 7}}, {{"M", 2}, {"N", 301}}});
    check(search("argmin", {"A", "B", "M", "N"}, 1, true), {{{"A", 2}, {"B", 3}, {"M", 4}, {"N", 9}}});
}

TEST_F(Places, withTheExtremumAndWhatIsBefore) {
    Builder rows("both"), columns("both");
    int x = rows.point("multiply", {rows.input("x", {"B", "M"}), rows.input("scale", {"M"})});
    x = rows.point("add", {x, rows.input("row", {"B", "1"})});
    rows.output("best", rows.reduce("max", x, {1}, false));
    rows.output("place", rows.reduce("argmax", x, {1}, false));
    check(rows, {{{"B", 3}, {"M", 70}}, {{"B", 1}, {"M", 1}}}, 3);
    int y = columns.point("add", {columns.input("x", {"B", "M", "N"}), columns.input("down", {"M", "1"})});
    y = columns.point("multiply", {y, columns.input("scale", {"N"})});
    columns.output("place", columns.reduce("argmin", y, {1}, true));
    columns.output("least", columns.reduce("min", y, {1}, true));
    check(columns, blocks);
}

TEST_F(Places, ofWhatIsNoNumberIsTheFirst) {
    special = true;
    for (double value : {-double(INFINITY), double(INFINITY), double(NAN)}) {
        special_value = value;
        for (const char* op : {"argmax", "argmin"}) {
            check(search(op, {"M", "N"}, 1, false), {{{"M", 3}, {"N", 200}}, {{"M", 9}, {"N", 5}}}, 3);
            check(search(op, {"B", "M", "N"}, 1, false), {{{"B", 2}, {"M", 50}, {"N", 37}}});
        }
    }
    Builder none("none");  // all are infinite, or none is a number
    int x = none.input("x", {"M", "N"});
    none.output("place",
                none.reduce("argmax", none.point("log", {none.point("multiply", {x, none.constant(0)})}), {1}, false));
    check(none, {{{"M", 3}, {"N", 70}}}, 3);
}

TEST_F(Places, sayWhatIsMissing) {
    Builder b("most");
    b.output("y", b.reduce("max", b.input("x", {"M", "N"}), {1}, false));
    EXPECT_EQ(emit_places(b.problem, b.graph, machine).lacks, "the place of an extremum along one axis");
    Builder mixed("mixed");
    int x = mixed.input("x", {"M", "N"});
    mixed.output("a", mixed.reduce("argmax", x, {1}, false));
    mixed.output("b", mixed.reduce("min", x, {1}, false));
    EXPECT_EQ(emit_places(mixed.problem, mixed.graph, machine).lacks, "reduction 'min' beside a search");
}

}  // namespace
}  // namespace strop::playbook
