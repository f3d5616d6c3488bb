#include "playbook/place_text.h"

#include <fmt/format.h>

#include "language/contract.h"
#include "playbook/halves.h"
#include "playbook/loop_helpers.h"
#include "playbook/loop_text.h"

namespace strop::playbook {

namespace {

using Kind = PlacePlan::Kind;

const char* const beats_text = R"(
// Whether a takes the place of b: what is no number beats all numbers, and the first of equals stays.
static inline vmask beats(vec a, vec b) { return ~(vmask)(a @not@ b) & (vmask)(b == b); }
static inline bool beats(float a, float b) { return !(a @not@ b) && b == b; }
)";

const char* const places_text = R"(
static inline vmask counted(int32_t from) {
    vmask lane;
#pragma GCC unroll 64
    for (int k = 0; k < VL; ++k) lane[k] = from + k;
    return lane;
}
)";

const char* const store_places_text = R"(
typedef int32_t places_unaligned __attribute__((vector_size(4 * VL), aligned(4), may_alias));

static inline void store_places(int64_t* p, vmask place, int64_t lanes) {
    if (lanes == VL)
        for (int k = 0; k < VL; ++k) p[k] = place[k];
    else
        for (int k = 0; k < lanes; ++k) p[k] = place[k];
}
)";

class Writer {
public:
    Writer(const PlaceForm& form, const PlacePlan& plan) : form_(form), plan_(plan), reader_(form.graph, form.nest) {
        used_ = {"load", "load_tail", "store", "store_tail", "splat", "select"};
    }

    KernelParts write() {
        lines_ = Lines(0);
        if (form_.nest.has_columns() && plan_.kind == Kind::lanes) panel();
        if (!form_.nest.has_columns() && plan_.kind != Kind::lanes) place_in();
        lines_ = Lines(1, lines_.text() + function_head(form_.problem) + " {\n");
        lines_.add(fmt::format("const int64_t rows = {}, depth = {}{};", product(form_.nest.outer).cpp(),
                               form_.nest.depth.cpp(),
                               form_.nest.has_columns() ? ", columns = " + form_.nest.columns.cpp() : ""));
        if (form_.nest.has_columns()) plan_.kind == Kind::lanes ? panels() : tiles();
        else plan_.kind == Kind::lanes ? lanes() : blocks();
        lines_.add("}");
        std::string helpers = for_each_type(form_.problem, tail_helpers()), beats = beats_text;
        for (size_t at; (at = beats.find("@not@")) != std::string::npos;)
            beats.replace(at, 5, form_.largest ? "<=" : ">=");
        helpers += beats;
        if (counted_) helpers += places_text;
        if (form_.nest.has_columns()) helpers += store_places_text;
        if (walks_) helpers += walkers();
        if (plan_.kind == Kind::tiles) helpers += group_helpers();
        used_.merge(reader_.used);
        return {lines_.text(), helpers, used_, reader_.lacks};
    }

private:
    std::string start() const { return form_.largest ? "-__builtin_inff()" : "__builtin_inff()"; }
    std::string extremum_op() const { return form_.largest ? "max" : "min"; }

    void open_team(const std::string& tasks) {
        lines_.add(fmt::format("const bool large = {} > 1 && rows * depth{} > PARALLEL_MIN;", tasks,
                               form_.nest.has_columns() ? " * columns" : ""));
        lines_.add("team::parallel(large ? team::size() : 1, [=](team::Member me) {");
    }

    void open_row() { reader_.open_row({&form_.value}, lines_); }

    // Not more than its last operand's name: a value that is computed gets one.
    std::string value(const std::string& i, const std::string& j, const std::string& lanes) {
        const std::string text = reader_.value(form_.value, i, j, lanes, {}, lines_);
        if (text == "value") return text;
        lines_.add(fmt::format("const vec value = {};", text));
        return "value";
    }

    // ---- columns, in registers

    void panel() {
        lines_.add(
            "// VECTORS vectors of neighbouring columns, from top to bottom; `lanes` is VL but in the last "
            "vector.");
        lines_.add("template <int VECTORS>");
        lines_.add(fmt::format("static inline void panel_of({},", typed_parameters(form_.problem)));
        lines_.add("                            int64_t row, int64_t begin, int64_t lanes) {");
        lines_.add(
            fmt::format("const int64_t depth = {}, columns = {};", form_.nest.depth.cpp(), form_.nest.columns.cpp()));
        open_row();
        lines_.add("vec best[VECTORS];");
        lines_.add("vmask place[VECTORS] = {};");
        lines_.add(fmt::format("for (vec& one : best) one = splat({});", start()));
        lines_.add("for (int64_t i = 0; i < depth; ++i) {");
        lines_.pragma("#pragma GCC unroll 16");
        lines_.add("for (int u = 0; u < VECTORS; ++u) {");
        lines_.add("const int64_t j = begin + u * VL;");
        value("i", "j", "lanes");
        lines_.add("const vmask better = beats(value, best[u]);");
        lines_.add("best[u] = select(better, value, best[u]);");
        lines_.add("place[u] = better ? vmask{} + (int32_t)i : place[u];");
        lines_.add("}");
        lines_.add("}");
        lines_.pragma("#pragma GCC unroll 16");
        lines_.add("for (int u = 0; u < VECTORS; ++u) {");
        lines_.add("const int64_t j = begin + u * VL;");
        results("place[u]", "best[u]");
        lines_.add("}");
        lines_.add("}");
        lines_.add("");
    }

    void results(const std::string& place, const std::string& best) {
        lines_.add(fmt::format("store_places({} + row * columns + j, {}, lanes);", form_.place, place));
        if (!form_.extremum.empty())
            lines_.add(fmt::format("store_part({} + row * columns + j, {}, lanes);", form_.extremum, best));
    }

    void panels() {
        lines_.add("const int64_t wide = PANEL * VL, panels = (columns + wide - 1) / wide;");
        open_team("rows * panels");
        lines_.add("for (int64_t task = me.begin(rows * panels); task < me.end(rows * panels); ++task) {");
        lines_.add("const int64_t row = task / panels, begin = task % panels * wide;");
        lines_.add("const int64_t end = columns - begin < wide ? columns : begin + wide;");
        const std::string arguments = argument_list(form_.problem);
        lines_.add(fmt::format("if (end - begin == wide) panel_of<PANEL>({}, row, begin, VL);", arguments));
        lines_.add("else for (int64_t j = begin; j < end; j += VL)");
        lines_.add(fmt::format("    panel_of<1>({}, row, j, end - j < VL ? end - j : VL);", arguments));
        lines_.add("}");
        lines_.add("});");
    }

    // ---- columns, in the first cache

    void tiles() {
        lines_.add("const int64_t tiles = (columns + TILE - 1) / TILE;");
        open_team("rows * tiles");
        lines_.add("alignas(64) float best[TILE + VL];");
        lines_.add("alignas(64) int32_t places[TILE + VL];");
        lines_.add("for (int64_t task = me.begin(rows * tiles); task < me.end(rows * tiles); ++task) {");
        lines_.add("const int64_t row = task / tiles, begin = task % tiles * TILE;");
        lines_.add("const int64_t end = columns - begin < TILE ? columns : begin + TILE;");
        open_row();
        lines_.add("for (int64_t j = begin; j < end; j += VL) {");
        lines_.add(fmt::format("store(best + (j - begin), splat({}));", start()));
        lines_.add("*(places_unaligned*)(places + (j - begin)) = vmask{};");
        lines_.add("}");
        lines_.add(
            "each_row_group(0, depth, begin, end, [&](int64_t i, int count, int64_t j, int64_t lanes) "
            "__attribute__((always_inline)) {");
        lines_.add("vec known = load(best + (j - begin));");
        lines_.add("vmask place = *(const places_unaligned*)(places + (j - begin));");
        lines_.pragma("#pragma GCC unroll 16");
        lines_.add("for (int r = 0; r < count; ++r) {");
        value("(i + r)", "j", "lanes");
        lines_.add("const vmask better = beats(value, known);");
        lines_.add("known = select(better, value, known);");
        lines_.add("place = better ? vmask{} + (int32_t)(i + r) : place;");
        lines_.add("}");
        lines_.add("store(best + (j - begin), known);");
        lines_.add("*(places_unaligned*)(places + (j - begin)) = place;");
        lines_.add("});");
        lines_.add("for (int64_t j = begin; j < end; j += VL) {");
        lines_.add("const int64_t lanes = end - j < VL ? end - j : VL;");
        results("*(const places_unaligned*)(places + (j - begin))", "load(best + (j - begin))");
        lines_.add("}");
        lines_.add("}");
        lines_.add("});");
    }

    // ---- rows

    // In blocks, so that places fit into lanes of 32 bits.
    void lanes() {
        counted_ = walks_ = true;
        open_team("rows");
        lines_.add("for (int64_t row = me.begin(rows); row < me.end(rows); ++row) {");
        open_row();
        lines_.add(fmt::format("float best = {};", start()));
        lines_.add("int64_t place = 0;");
        lines_.add("for (int64_t begin = 0; begin < depth; begin += BLOCK) {");
        lines_.add("const int64_t end = depth - begin < BLOCK ? depth : begin + BLOCK;");
        lines_.add("vec lane_best[UNROLL];");
        lines_.add("vmask lane_place[UNROLL] = {};");
        lines_.add(fmt::format("for (vec& one : lane_best) one = splat({});", start()));
        lines_.add("each_vector(begin, end, [&](int u, int64_t j, int64_t lanes) __attribute__((always_inline)) {");
        value("j", "", "lanes");
        lines_.add("vmask better = beats(value, lane_best[u]);");
        lines_.add("if (lanes < VL) better &= (vmask)(counted(0) < (int32_t)lanes);");
        lines_.add("lane_best[u] = select(better, value, lane_best[u]);");
        lines_.add("lane_place[u] = better ? counted((int32_t)(j - begin)) : lane_place[u];");
        lines_.add("});");
        lines_.add("// The lane with the extremum; of several the one that met it first.");
        lines_.add(fmt::format("float block_best = {};", start()));
        lines_.add("int32_t block_place = 0;");
        lines_.add("for (int u = 0; u < UNROLL; ++u)");
        lines_.add("for (int k = 0; k < VL; ++k) {");
        lines_.add("const float one = lane_best[u][k];");
        lines_.add("const bool equal = !beats(one, block_best) && !beats(block_best, one);");
        lines_.add("if (equal ? lane_place[u][k] >= block_place : !beats(one, block_best)) continue;");
        lines_.add("block_best = one;");
        lines_.add("block_place = lane_place[u][k];");
        lines_.add("}");
        lines_.add("if (!beats(block_best, best)) continue;");
        lines_.add("best = block_best;");
        lines_.add("place = begin + block_place;");
        lines_.add("}");
        row_results();
        lines_.add("}");
        lines_.add("});");
    }

    void row_results() {
        lines_.add(fmt::format("{}[row] = place;", form_.place));
        if (!form_.extremum.empty()) lines_.add(fmt::format("{}[row] = best;", form_.extremum));
    }

    // The first element of [begin, end) that is `best`.
    void place_in() {
        lines_.add(
            "// The first place in [begin, end) of a row at which its value is `best`, or no number as "
            "`best` is.");
        lines_.add(fmt::format("static inline int64_t place_in({},", typed_parameters(form_.problem)));
        lines_.add("                               int64_t row, int64_t begin, int64_t end, float best) {");
        const size_t mark = lines_.mark();
        lines_.add(fmt::format("const int64_t depth = {};", form_.nest.depth.cpp()));
        open_row();
        lines_.add("int64_t place = begin;");
        lines_.add("for (; place < end; place += VL) {");
        lines_.add("const int64_t lanes = end - place < VL ? end - place : VL;");
        value("place", "", "lanes");
        lines_.add(
            "const vmask found = (vmask)(value == best) | ((vmask)(value != value) & -(int32_t)(best != "
            "best));");
        lines_.add("for (int k = 0; k < lanes; ++k)");
        lines_.add("    if (found[k]) return place + k;");
        lines_.add("}");
        lines_.add("return begin;");
        lines_.add("}");
        lines_.add("");
        lines_.drop_unused(mark, "depth");
    }

    void blocks() {
        walks_ = true;
        const bool split = plan_.kind == Kind::split;
        const std::string op = extremum_op(), vector_op = form_.largest ? "vmax" : "vmin",
                          whole = form_.largest ? "maximum" : "minimum";
        used_.insert({vector_op, whole});
        if (split) {
            lines_.add(
                "// What each thread found; two sets in turn, as a fast thread may be one row ahead of the "
                "others.");
            lines_.add("struct Found { float best; int64_t place; } found[2][team::most_threads];");
            lines_.add("const int threads = rows * depth > PARALLEL_MIN ? team::size() : 1;");
            lines_.add("team::parallel(threads, [=, &found](team::Member me) {");
            lines_.add("const int64_t all = (depth + BLOCK - 1) / BLOCK;");
            lines_.add("for (int64_t row = 0; row < rows; ++row) {");
        } else {
            open_team("rows");
            lines_.add("for (int64_t row = me.begin(rows); row < me.end(rows); ++row) {");
        }
        open_row();
        lines_.add(fmt::format("float best = {};", start()));
        lines_.add(fmt::format("int64_t block = {};", split ? "me.begin(all) * BLOCK" : "0"));
        lines_.add(split ? "const int64_t right = me.end(all) * BLOCK < depth ? me.end(all) * BLOCK : depth;"
                         : "const int64_t right = depth;");
        lines_.add("for (int64_t begin = block; begin < right; begin += BLOCK) {");
        lines_.add("const int64_t end = right - begin < BLOCK ? right : begin + BLOCK;");
        lines_.add("vec part[UNROLL];");
        lines_.add(fmt::format("for (vec& one : part) one = splat({});", start()));
        lines_.add("each_vector(begin, end, [&](int u, int64_t j, int64_t lanes) __attribute__((always_inline)) {");
        value("j", "", "lanes");
        lines_.add(fmt::format("part[u] = {}(part[u], first(value, lanes, {}));", vector_op, start()));
        lines_.add("});");
        lines_.add(fmt::format("for (int u = 1; u < UNROLL; ++u) part[0] = {}(part[0], part[u]);", vector_op));
        lines_.add(fmt::format("const float in_block = {}(part[0]);", whole));
        lines_.add("if (!beats(in_block, best)) continue;");
        lines_.add("best = in_block;");
        lines_.add("block = begin;");
        lines_.add("}");
        lines_.add("const int64_t last = right - block < BLOCK ? right : block + BLOCK;");
        const std::string place = fmt::format("place_in({}, row, block, last, best)", argument_list(form_.problem));
        if (!split) {
            lines_.add(fmt::format("const int64_t place = {};", place));
            row_results();
        } else {
            lines_.add(fmt::format("found[row & 1][me.thread] = {{best, {}}};", place));
            lines_.add("me.barrier();");
            lines_.add("if (me.thread > 0) continue;");
            lines_.add("Found all_found = found[row & 1][0];");
            lines_.add("for (int t = 1; t < me.threads; ++t)");
            lines_.add("    if (beats(found[row & 1][t].best, all_found.best)) all_found = found[row & 1][t];");
            lines_.add(fmt::format("{}[row] = all_found.place;", form_.place));
            if (!form_.extremum.empty()) lines_.add(fmt::format("{}[row] = all_found.best;", form_.extremum));
        }
        lines_.add("}");
        lines_.add("});");
    }

    const PlaceForm& form_;
    const PlacePlan plan_;
    AxisReader reader_;
    bool counted_ = false, walks_ = false;
    std::set<std::string> used_;
    Lines lines_;
};

}  // namespace

KernelParts write_places(const PlaceForm& form, const PlacePlan& plan) { return Writer(form, plan).write(); }

}  // namespace strop::playbook
