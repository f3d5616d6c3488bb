#include "playbook/scan_text.h"

#include <fmt/format.h>

#include "base/strings.h"
#include "language/contract.h"
#include "playbook/halves.h"
#include "playbook/loop_helpers.h"
#include "playbook/loop_text.h"

namespace strop::playbook {

namespace {

using Kind = ScanPlan::Kind;

const char* const prefix_text = R"(
// Lane k gets lane k @minus@ width; what has none gets what changes nothing.
static inline vec shifted(vec v, int width) {
    vec r;
#pragma GCC unroll 64
    for (int k = 0; k < VL; ++k) r[k] = @inside@ ? v[(k @minus@ width) & (VL - 1)] : @start@;
    return r;
}
// Each lane with all @before@ it, in as many steps as VL has digits.
static inline vec prefix(vec v) {
#pragma GCC unroll 8
    for (int width = 1; width < VL; width *= 2) v = @fold@;
    return v;
}
)";

const char* const backwards_text = R"(
// step(0, j, lanes) for every vector of [begin, end), the last one first.
template <class Step>
__attribute__((always_inline)) static inline void each_from_end(int64_t begin, int64_t end, Step step) {
    int64_t j = end;
    for (; j - VL >= begin; j -= VL) step(0, j - VL, VL);
    if (j > begin) step(0, begin, j - begin);
}
)";

class Writer {
public:
    Writer(const ScanForm& form, const ScanPlan& plan) : form_(form), plan_(plan), reader_(form.graph, form.nest) {
        used_ = {"load", "load_tail", "store", "store_tail", "splat"};
        if (!folding(form.op).helper.empty()) used_.insert(folding(form.op).helper);
        if (plan.stream) used_.insert({"stream", "fence"});
    }

    KernelParts write() {
        lines_ = Lines(0);
        if (plan_.kind == Kind::panels) panel();
        lines_ = Lines(1, lines_.text() + function_head(form_.problem) + " {\n");
        lines_.add(fmt::format("const int64_t rows = {}, depth = {}{};", product(form_.nest.outer).cpp(),
                               form_.nest.depth.cpp(),
                               form_.nest.has_columns() ? ", columns = " + form_.nest.columns.cpp() : ""));
        if (plan_.stream)
            lines_.add(fmt::format("const bool streamed = rows * depth{} * (int64_t)sizeof(float) > STREAM_MIN;",
                                   form_.nest.has_columns() ? " * columns" : ""));
        switch (plan_.kind) {
            case Kind::prefix: rows(); break;
            case Kind::split: split(); break;
            case Kind::panels: panels(); break;
            case Kind::tiles: tiles(); break;
        }
        lines_.add("}");
        return {lines_.text(), helpers(), all_used(), reader_.lacks};
    }

private:
    std::string start() const { return folding(form_.op).start; }
    // Sums are carried along a row in double: few of them are one after the other, and long rows keep their
    // digits.
    bool in_double() const { return form_.op == "sum"; }

    std::string helpers() const {
        std::string text = for_each_type(form_.problem, tail_helpers());
        if (plan_.stream && form_.nest.has_columns()) text += for_each_type(form_.problem, put_helper());
        if (plan_.kind == Kind::tiles) text += group_helpers();
        if (form_.nest.has_columns()) return text;
        std::string prefix = prefix_text;
        auto put = [&](const std::string& name, const std::string& with) {
            for (size_t at; (at = prefix.find(name)) != std::string::npos;) prefix.replace(at, name.size(), with);
        };
        put("@minus@", form_.backwards ? "+" : "-");
        put("@inside@", form_.backwards ? "k + width < VL" : "k >= width");
        put("@before@", form_.backwards ? "behind" : "before");
        put("@start@", start());
        put("@fold@", fold(form_.op, "v", "shifted(v, width)"));
        text += walkers();
        if (plan_.stream) text += for_each_type(form_.problem, aligned_walkers());
        text += prefix;
        if (form_.backwards) text += backwards_text;
        if (plan_.kind == Kind::split && form_.op == "prod") text += product_helper();
        return text;
    }

    std::set<std::string> all_used() {
        if (!form_.nest.has_columns()) used_.insert("select");
        if (plan_.kind == Kind::split && form_.op != "prod") used_.insert(folding(form_.op).horizontal);
        used_.merge(reader_.used);
        return used_;
    }

    void open_team(const std::string& tasks) {
        lines_.add(fmt::format("const bool large = {} > 1 && rows * depth{} > PARALLEL_MIN;", tasks,
                               form_.nest.has_columns() ? " * columns" : ""));
        lines_.add("team::parallel(large ? team::size() : 1, [=](team::Member me) {");
    }
    void close_team() {
        if (plan_.stream) lines_.add("if (streamed) fence();");
        lines_.add("});");
    }
    void open_row() { reader_.open_row({&form_.before, &form_.after}, lines_); }

    // The output at (row, i, j), from `running`.
    // `aligned`: in a walk that is aligned to it.
    void put(const std::string& i, const std::string& j, bool aligned) {
        const std::string result = reader_.value(form_.after, i, j, "lanes", {{form_.scanned, "running"}}, lines_);
        const std::string store = !plan_.stream ? "store_part" : aligned ? "put_aligned" : "put";
        const std::string streamed = !plan_.stream ? "" : aligned ? ", past_caches" : ", streamed";
        lines_.add(fmt::format("{}({} + {}, {}, lanes{});", store, form_.y, reader_.place(i, j), result, streamed));
    }

    // "to = ...;" of the value to be scanned at (row, i, j). What it needs has a scope of its own, as `after`
    // may need the same.
    template <class Text>
    void assign(std::string to, const std::string& i, const std::string& j, Text text) {
        Lines needed(0);
        const std::string value = reader_.value(form_.before, i, j, "lanes", {}, needed);
        if (needed.text().empty()) return lines_.add(fmt::format("{} = {};", to, text(value)));
        if (to.starts_with("const ")) {
            to = to.substr(6);
            lines_.add(to + ";");
            to = to.substr(to.find(' ') + 1);
        }
        lines_.add("{");
        lines_.add(strop::split(trim(needed.text()), '\n'));
        lines_.add(fmt::format("{} = {};", to, text(value)));
        lines_.add("}");
    }

    // ---- rows

    // Scans [begin, end) of a row, with what came before in `carry`.
    void along(const std::string& begin, const std::string& end) {
        const std::string range = fmt::format("{}, {}", begin, end);
        std::string walker =
            form_.backwards ? fmt::format("each_from_end({}", range) : fmt::format("each_vector({}", range);
        if (plan_.stream) walker = fmt::format("each_aligned({} + row * depth, streamed, {}", form_.y, range);
        lines_.add(fmt::format("{}, [&](int, int64_t j, int64_t lanes{}) __attribute__((always_inline)) {{", walker,
                               plan_.stream ? ", bool past_caches" : ""));
        assign("const vec part", "j", "",
               [&](const std::string& value) { return fmt::format("prefix(first({}, lanes, {}))", value, start()); });
        const std::string carried = in_double() ? "splat((float)carry)" : "splat(carry)";
        lines_.add(fmt::format("const vec running = {};", fold(form_.op, carried, "part")));
        const std::string last = form_.backwards ? "part[0]" : "part[VL - 1]";
        lines_.add(fmt::format("carry = {};", fold(form_.op, "carry", last)));
        put("j", "", true);
        lines_.add("});");
    }

    void open_carry(const std::string& start) {
        lines_.add(fmt::format("{} carry = {};", in_double() ? "double" : "float",
                               in_double() && start == "0.0f" ? "0" : start));
    }

    void rows() {
        open_team("rows");
        lines_.add("for (int64_t row = me.begin(rows); row < me.end(rows); ++row) {");
        open_row();
        open_carry(start());
        along("0", "depth");
        lines_.add("}");
        close_team();
    }

    void split() {
        lines_.add(
            "// What each thread's share of a row comes to; two sets in turn, as a fast thread may be one "
            "row ahead.");
        lines_.add(fmt::format("{} shares[2][team::most_threads];", in_double() ? "double" : "float"));
        lines_.add("const int threads = rows * depth > PARALLEL_MIN ? team::size() : 1;");
        lines_.add("team::parallel(threads, [=, &shares](team::Member me) {");
        lines_.add("const int64_t begin = me.begin(depth / 16) * 16;");
        lines_.add("const int64_t end = me.thread + 1 == me.threads ? depth : me.end(depth / 16) * 16;");
        lines_.add("for (int64_t row = 0; row < rows; ++row) {");
        open_row();
        lines_.add("vec all[UNROLL];");
        lines_.add(fmt::format("for (vec& one : all) one = splat({});", start()));
        lines_.add("each_vector(begin, end, [&](int u, int64_t j, int64_t lanes) __attribute__((always_inline)) {");
        const std::string value = reader_.value(form_.before, "j", "", "lanes", {}, lines_);
        lines_.add(
            fmt::format("all[u] = {};", fold(form_.op, "all[u]", fmt::format("first({}, lanes, {})", value, start()))));
        lines_.add("});");
        lines_.add(fmt::format("for (int u = 1; u < UNROLL; ++u) all[0] = {};", fold(form_.op, "all[0]", "all[u]")));
        lines_.add(fmt::format("shares[row & 1][me.thread] = {}(all[0]);", folding(form_.op).horizontal));
        lines_.add("me.barrier();");
        open_carry(start());
        lines_.add(form_.backwards ? "for (int t = me.threads - 1; t > me.thread; --t)"
                                   : "for (int t = 0; t < me.thread; ++t)");
        lines_.add(fmt::format("    carry = {};", fold(form_.op, "carry", "shares[row & 1][t]")));
        along("begin", "end");
        lines_.add("}");
        close_team();
    }

    // ---- columns

    std::string down() const {
        return form_.backwards ? "for (int64_t i = depth - 1; i >= 0; --i) {" : "for (int64_t i = 0; i < depth; ++i) {";
    }

    void panel() {
        lines_.add(
            fmt::format("// VECTORS vectors of neighbouring columns, from {}; `lanes` is VL but in the last vector.",
                        form_.backwards ? "bottom to top" : "top to bottom"));
        lines_.add("template <int VECTORS>");
        lines_.add(fmt::format("static inline void panel_of({},", typed_parameters(form_.problem)));
        lines_.add(fmt::format("                            int64_t row, int64_t begin, int64_t lanes{}) {{",
                               plan_.stream ? ", bool streamed" : ""));
        lines_.add(
            fmt::format("const int64_t depth = {}, columns = {};", form_.nest.depth.cpp(), form_.nest.columns.cpp()));
        open_row();
        lines_.add("vec scanned[VECTORS];");
        lines_.add(fmt::format("for (vec& one : scanned) one = splat({});", start()));
        lines_.add(down());
        lines_.pragma("#pragma GCC unroll 16");
        lines_.add("for (int u = 0; u < VECTORS; ++u) {");
        lines_.add("const int64_t j = begin + u * VL;");
        one_more("scanned[u]", "i");
        lines_.add("}");
        lines_.add("}");
        lines_.add("}");
        lines_.add("");
    }

    // Element (row, i, j) goes into what was scanned so far.
    void one_more(const std::string& scanned, const std::string& i) {
        assign(scanned, i, "j", [&](const std::string& value) { return fold(form_.op, scanned, value); });
        lines_.add(fmt::format("const vec running = {};", scanned));
        put(i, "j", false);
    }

    void panels() {
        const std::string arguments = argument_list(form_.problem), streamed = plan_.stream ? ", streamed" : "";
        lines_.add("const int64_t wide = PANEL * VL, panels = (columns + wide - 1) / wide;");
        open_team("rows * panels");
        lines_.add("for (int64_t task = me.begin(rows * panels); task < me.end(rows * panels); ++task) {");
        lines_.add("const int64_t row = task / panels, begin = task % panels * wide;");
        lines_.add("const int64_t end = columns - begin < wide ? columns : begin + wide;");
        lines_.add(fmt::format("if (end - begin == wide) panel_of<PANEL>({}, row, begin, VL{});", arguments, streamed));
        lines_.add("else for (int64_t j = begin; j < end; j += VL)");
        lines_.add(fmt::format("    panel_of<1>({}, row, j, end - j < VL ? end - j : VL{});", arguments, streamed));
        lines_.add("}");
        close_team();
    }

    void tiles() {
        lines_.add("const int64_t tiles = (columns + TILE - 1) / TILE;");
        open_team("rows * tiles");
        lines_.add("alignas(64) float scanned[TILE + VL];");
        lines_.add("for (int64_t task = me.begin(rows * tiles); task < me.end(rows * tiles); ++task) {");
        lines_.add("const int64_t row = task / tiles, begin = task % tiles * TILE;");
        lines_.add("const int64_t end = columns - begin < TILE ? columns : begin + TILE;");
        open_row();
        lines_.add(
            fmt::format("for (int64_t j = begin; j < end; j += VL) store(scanned + (j - begin), splat({}));", start()));
        lines_.add(
            "each_row_group(0, depth, begin, end, [&](int64_t k, int count, int64_t j, int64_t lanes) "
            "__attribute__((always_inline)) {");
        lines_.add("vec part = load(scanned + (j - begin));");
        lines_.pragma("#pragma GCC unroll 16");
        lines_.add("for (int r = 0; r < count; ++r) {");
        lines_.add(form_.backwards ? "const int64_t i = depth - 1 - (k + r);" : "const int64_t i = k + r;");
        one_more("part", "i");
        lines_.add("}");
        lines_.add("store(scanned + (j - begin), part);");
        lines_.add("});");
        lines_.add("}");
        close_team();
    }

    const ScanForm& form_;
    const ScanPlan plan_;
    AxisReader reader_;
    std::set<std::string> used_;
    Lines lines_;
};

}  // namespace

KernelParts write_scan(const ScanForm& form, const ScanPlan& plan) { return Writer(form, plan).write(); }

}  // namespace strop::playbook
