// Kernels that keep one lane a column: reductions over a leading or middle axis, and short rows, whose
// elements are then strided.
#include <algorithm>

#include <fmt/format.h>

#include "language/contract.h"
#include "playbook/halves.h"
#include "playbook/loop_plans.h"
#include "playbook/loop_text.h"

namespace strop::playbook {

namespace {

using Kind = ColumnPlan::Kind;

class ColumnWriter {
public:
    ColumnWriter(const LoopForm& form, const ColumnPlan& plan)
        : form_(form),
          plan_(plan),
          values_(form),
          names_(reduction_names(form, plan.kind == Kind::lanes ? "row_" : "column_")) {
        in_registers_ = plan.kind == Kind::panels || plan.kind == Kind::lanes;
    }

    std::string body() {
        if (in_registers_) panel_function();
        lines_ = Lines(1, lines_.text() + function_head(form_.problem) + " {\n");
        extents();
        if (plan_.stream)
            lines_.add("const bool streamed = rows * depth * columns * (int64_t)sizeof(float) > STREAM_MIN;");
        if (in_registers_) panel_calls();
        else if (plan_.kind == Kind::blocked) blocked();
        else split();
        lines_.add("}");
        return lines_.text();
    }

    std::set<std::string> helpers() const {
        std::set<std::string> all = values_.helpers;
        all.insert({"load", "store", "load_tail", "store_tail", "splat"});
        if (plan_.stream) all.insert({"stream", "fence"});
        for (const std::pair<const int, std::string>& name : names_)
            if (std::string helper = folding(form_.graph.at(name.first).op).helper; !helper.empty()) all.insert(helper);
        return all;
    }

    const std::string& lacks() const { return values_.lacks; }

private:
    bool lanes_are_rows() const { return plan_.kind == Kind::lanes; }

    void extents() {
        std::string rows = lanes_are_rows() ? "1" : form_.rows;
        std::string depth = lanes_are_rows() ? form_.columns : form_.depth;
        std::string columns = lanes_are_rows() ? form_.rows : form_.columns;
        lines_.add(fmt::format("const int64_t rows = {}, depth = {}, columns = {};", rows, depth, columns));
    }

    std::string index(const std::string& outer, const std::string& down) const {
        if (outer == "0") return down;
        return fmt::format("({} * depth + {})", outer, down);
    }

    // The element of a tensor at (row, down, j) as an address, and whether neighbouring lanes are neighbours
    // there.
    std::string load_text(int id, const std::string& down) {
        const Node& node = form_.graph.at(id);
        const Span& span = form_.span(id);
        const std::string& name = node.op;
        if (lanes_are_rows()) {
            if (!span.any_outer) return fmt::format("splat({}[{}])", name, span.reduced ? down : "0");
            if (!span.reduced) return fmt::format("load_part({} + j, lanes)", name);
            return fmt::format("load_strided({} + j * depth + {}, depth, lanes)", name, down);
        }
        std::string at = span.reduced ? index(span.outer_index, down) : span.outer_index;
        if (!span.inner) return fmt::format("splat({}[{}])", name, at);
        return at == "0" ? fmt::format("load_part({} + j, lanes)", name)
                         : fmt::format("load_part({} + {} * columns + j, lanes)", name, at);
    }

    void store_full(int k, const std::string& value, const std::string& down) {
        const std::string& name = form_.problem.outputs[static_cast<size_t>(k)].name;
        if (lanes_are_rows())
            lines_.add(fmt::format("store_strided({} + j * depth + {}, {}, depth, lanes);", name, down, value));
        else
            lines_.add(fmt::format("{}({} + {} * columns + j, {}, lanes{});", plan_.stream ? "put" : "store_part", name,
                                   index("row", down), value, plan_.stream ? ", streamed" : ""));
    }

    // Values along the depth: loads, intermediates, then folds and stores. `suffix` is where a column's
    // values are.
    void step(const std::vector<int>& reductions, const std::vector<int>& outputs, std::map<int, std::string> known,
              const std::string& down, const std::string& suffix, bool prefetch) {
        std::vector<int> targets;
        for (int id : reductions) targets.push_back(form_.graph.at(id).operands[0]);
        for (int k : outputs) targets.push_back(form_.graph.outputs[static_cast<size_t>(k)]);
        std::set<int> stop;
        for (const std::pair<const int, std::string>& entry : known) stop.insert(entry.first);
        for (int id : cone(form_, targets, stop)) {
            const Node& node = form_.graph.at(id);
            if (known.contains(id) || node.family != Family::input) continue;
            if (prefetch && form_.span(id).inner && form_.full(id))
                lines_.add(fmt::format("__builtin_prefetch({} + {} * columns + j);", node.op,
                                       index(form_.span(id).outer_index, "(" + down + " + AHEAD)")));
            known[id] = node.op + "_j";
            lines_.add(fmt::format("const vec {} = {};", known[id], load_text(id, down)));
        }
        Values values = values_.write(targets, known, {}, "", false);
        lines_.add(values.statements);
        for (int id : reductions) {
            const Node& node = form_.graph.at(id);
            std::string part = names_[id] + suffix;
            lines_.add(fmt::format("{} = {};", part, fold(node.op, part, values.of[node.operands[0]])));
        }
        for (int k : outputs) store_full(k, values.of[form_.graph.outputs[static_cast<size_t>(k)]], down);
    }

    // Values of a column that later passes need, of one stage: ids, without inputs.
    std::vector<int> column_values(int stage) const {
        std::vector<int> ids = shared_values(form_, stage);
        std::erase_if(ids, [&](int id) { return known_.contains(id); });
        return ids;
    }

    // Inputs that do not vary along the depth are loaded where a column's values are computed.
    std::map<int, std::string> with_column_inputs(const std::vector<int>& targets, std::map<int, std::string> known) {
        std::set<int> stop;
        for (const std::pair<const int, std::string>& entry : known) stop.insert(entry.first);
        for (int id : cone(form_, targets, stop)) {
            const Node& node = form_.graph.at(id);
            if (known.contains(id) || node.family != Family::input) continue;
            known[id] = node.op + "_j";
            lines_.add(fmt::format("const vec {} = {};", known[id], load_text(id, "0")));
        }
        return known;
    }

    // ---- accumulators in registers

    void panel_function() {
        lines_ = Lines(0, lines_.text());
        const std::string what = lanes_are_rows() ? "rows, a lane each" : "neighbouring columns, from top to bottom";
        lines_.add("// VECTORS vectors of " + what + "; `lanes` is VL but in the last vector.");
        lines_.add("template <int VECTORS>");
        std::string row = lanes_are_rows() ? "" : "int64_t row, ";
        std::string streamed = plan_.stream ? ", bool streamed" : "";
        lines_.add(fmt::format("static inline void panel_of({},", typed_parameters(form_.problem)));
        lines_.add(fmt::format("                            {}int64_t begin, int64_t lanes{}) {{", row, streamed));
        size_t depth = lines_.mark();
        lines_.add(fmt::format("const int64_t depth = {};", lanes_are_rows() ? form_.columns : form_.depth));
        size_t columns = lines_.mark();
        lines_.add(fmt::format("const int64_t columns = {};", lanes_are_rows() ? form_.rows : form_.columns));
        panel_values(0);
        for (int pass = 0; pass <= form_.passes; ++pass) {
            std::vector<int> reductions = form_.reductions(pass), outputs = outputs_of_stage(form_, pass);
            if (!reductions.empty() || !outputs.empty()) panel_pass(pass, reductions, outputs);
            if (pass < form_.passes) panel_values(pass + 1);
        }
        panel_results();
        lines_.add("}");
        lines_.add("");
        lines_.drop_unused(columns, "columns");
        lines_.drop_unused(depth, "depth");
    }

    void open_vectors() {
        lines_.pragma("#pragma GCC unroll 16");
        lines_.add("for (int u = 0; u < VECTORS; ++u) {");
        vector_mark_ = lines_.mark();
        lines_.add("const int64_t j = begin + u * VL;");
    }

    void close_vectors() {
        lines_.add("}");
        lines_.drop_unused(vector_mark_, "j");
    }

    void panel_pass(int pass, const std::vector<int>& reductions, const std::vector<int>& outputs) {
        lines_.add("");
        for (int id : reductions) {
            lines_.add(fmt::format("vec {}[VECTORS];", names_[id]));
            lines_.add(fmt::format("for (vec& part : {}) part = splat({});", names_[id],
                                   folding(form_.graph.at(id).op).start));
        }
        lines_.add("for (int64_t i = 0; i < depth; ++i) {");
        open_vectors();
        step(reductions, outputs, known_, "i", "[u]", plan_.prefetch && pass == 0);
        close_vectors();
        lines_.add("}");
        for (int id : reductions) known_[id] = names_[id] + "[u]";
    }

    void panel_values(int stage) {
        std::vector<int> ids = column_values(stage);
        if (ids.empty()) return;
        std::map<int, std::string> arrays;
        for (int id : ids) arrays[id] = value_name(id);
        for (int id : ids) lines_.add(fmt::format("vec {}[VECTORS];", arrays[id]));
        open_vectors();
        Values values = values_.write(ids, with_column_inputs(ids, known_), {}, "at_", false);
        lines_.add(values.statements);
        for (int id : ids) lines_.add(fmt::format("{}[u] = {};", arrays[id], values.of[id]));
        close_vectors();
        for (int id : ids) known_[id] = arrays[id] + "[u]";
    }

    std::string value_name(int id) {
        std::string base = (lanes_are_rows() ? "row_" : "column_") + value_word(form_.graph, form_.graph.at(id));
        std::string name = base;
        for (int i = 2; !value_names_taken_.insert(name).second; ++i) name = base + "_" + std::to_string(i);
        return name;
    }

    void panel_results() {
        std::vector<int> ids;
        for (int k : form_.reduced_outputs()) ids.push_back(form_.graph.outputs[static_cast<size_t>(k)]);
        if (ids.empty()) return;
        open_vectors();
        results(ids, known_, "j", "lanes");
        close_vectors();
    }

    void results(const std::vector<int>& ids, const std::map<int, std::string>& known, const std::string& j,
                 const std::string& lanes) {
        Values values = values_.write(ids, with_column_inputs(ids, known), {}, "at_", false);
        lines_.add(values.statements);
        for (int k : form_.reduced_outputs())
            lines_.add(fmt::format("store_part({} + {}{}, {}, {});", form_.problem.outputs[static_cast<size_t>(k)].name,
                                   lanes_are_rows() ? "" : "row * columns + ", j,
                                   values.of[form_.graph.outputs[static_cast<size_t>(k)]], lanes));
    }

    void open_team(const std::string& units) {
        lines_.add(fmt::format("const bool large = rows * {} > 1 && rows * depth * columns > PARALLEL_MIN;", units));
        lines_.add("team::parallel(large ? team::size() : 1, [=](team::Member me) {");
    }

    void close_team() {
        if (plan_.stream) lines_.add("if (streamed) fence();");
        lines_.add("});");
    }

    void panel_calls() {
        std::string arguments = argument_list(form_.problem) + (lanes_are_rows() ? ", " : ", row, ");
        std::string streamed = plan_.stream ? ", streamed" : "";
        lines_.add("const int64_t wide = PANEL * VL, panels = (columns + wide - 1) / wide;");
        open_team("panels");
        lines_.add("for (int64_t task = me.begin(rows * panels); task < me.end(rows * panels); ++task) {");
        if (!lanes_are_rows()) lines_.add("const int64_t row = task / panels;");
        lines_.add("const int64_t begin = task % panels * wide;");
        lines_.add("const int64_t end = columns - begin < wide ? columns : begin + wide;");
        lines_.add(fmt::format("if (end - begin == wide) panel_of<PANEL>({}begin, VL{});", arguments, streamed));
        lines_.add("else for (int64_t j = begin; j < end; j += VL)");
        lines_.add(fmt::format("    panel_of<1>({}j, end - j < VL ? end - j : VL{});", arguments, streamed));
        lines_.add("}");
        close_team();
    }

    // ---- accumulators in memory

    std::vector<int> all_values() const {
        std::vector<int> ids;
        for (int stage = 0; stage <= form_.passes; ++stage)
            for (int id : shared_values(form_, stage)) ids.push_back(id);
        return ids;
    }

    void blocked() {
        lines_.add("const int64_t tiles = (columns + TILE - 1) / TILE;");
        open_team("tiles");
        for (const std::pair<const int, std::string>& name : names_)
            lines_.add(fmt::format("alignas(64) float {}[TILE + VL];", name.second));
        name_values(
            [&](const std::string& name) { lines_.add(fmt::format("alignas(64) float {}[TILE + VL];", name)); });
        lines_.add("for (int64_t task = me.begin(rows * tiles); task < me.end(rows * tiles); ++task) {");
        lines_.add("const int64_t row = task / tiles, begin = task % tiles * TILE;");
        lines_.add("const int64_t end = columns - begin < TILE ? columns : begin + TILE;");
        column_phase(0, "begin", "end");
        for (int pass = 0; pass <= form_.passes; ++pass) {
            std::vector<int> reductions = form_.reductions(pass), outputs = outputs_of_stage(form_, pass);
            if (!reductions.empty() || !outputs.empty()) sweep(pass, reductions, outputs, "0", "depth", "begin", "end");
            if (pass < form_.passes) column_phase(pass + 1, "begin", "end");
        }
        memory_results("begin", "end");
        lines_.add("}");
        close_team();
    }

    template <class Declare>
    void name_values(Declare declare) {
        for (int id : all_values()) {
            if (value_names_.contains(id)) continue;
            value_names_[id] = value_name(id);
            declare(value_names_[id]);
        }
    }

    // The difference first: an array of one tile has no element j.
    std::string at(const std::string& base) const {
        return plan_.kind == Kind::blocked ? base + " + (j - begin)" : base + " + j";
    }

    // What is known of a column at this point, as loads.
    std::map<int, std::string> column_known(int stage, const std::vector<int>& targets) {
        std::map<int, std::string> known;
        std::set<int> stop;
        auto have = [&](int id) {
            return (names_.contains(id) && form_.stage(id) <= stage) ||
                   (value_names_.contains(id) && ready_.contains(id));
        };
        for (const Node& node : form_.graph.nodes)
            if (have(node.id)) stop.insert(node.id);
        for (int id : cone(form_, targets, stop)) {
            if (!have(id)) continue;
            std::string base = names_.contains(id) ? names_[id] : value_names_[id];
            known[id] = base + "_j";
            lines_.add(fmt::format("const vec {}_j = load({});", base, at(base)));
        }
        return known;
    }

    void open_columns(const std::string& from, const std::string& to) {
        lines_.add(fmt::format("for (int64_t j = {}; j < {}; j += VL) {{", from, to));
        vector_mark_ = lines_.mark();
        lines_.add(fmt::format("const int64_t lanes = {0} - j < VL ? {0} - j : VL;", to));
    }

    void close_columns() {
        lines_.add("}");
        lines_.drop_unused(vector_mark_, "lanes");
    }

    void column_phase(int stage, const std::string& from, const std::string& to) {
        std::vector<int> ids = shared_values(form_, stage);
        if (ids.empty()) return;
        open_columns(from, to);
        std::map<int, std::string> known = with_column_inputs(ids, column_known(stage, ids));
        Values values = values_.write(ids, known, {}, "at_", false);
        lines_.add(values.statements);
        for (int id : ids) lines_.add(fmt::format("store({}, {});", at(value_names_[id]), values.of[id]));
        close_columns();
        ready_.insert(ids.begin(), ids.end());
    }

    std::string own(int id) const { return names_.at(id) + (plan_.kind == Kind::split ? "_own" : ""); }

    // Rows [top, bottom) of columns [from, to): ROWS of them between a load and a store of the accumulators.
    void sweep(int pass, const std::vector<int>& reductions, const std::vector<int>& outputs, const std::string& top,
               const std::string& bottom, const std::string& from, const std::string& to) {
        for (int id : reductions) {
            lines_.add(fmt::format("for (int64_t j = {}; j < {}; j += VL) store({}, splat({}));", from, to, at(own(id)),
                                   folding(form_.graph.at(id).op).start));
        }
        lines_.add(
            fmt::format("each_row_group({}, {}, {}, {}, [&](int64_t i, int count, int64_t j, int64_t lanes) "
                        "__attribute__((always_inline)) {{",
                        top, bottom, from, to));
        std::vector<int> targets;
        for (int id : reductions) targets.push_back(form_.graph.at(id).operands[0]);
        for (int k : outputs) targets.push_back(form_.graph.outputs[static_cast<size_t>(k)]);
        std::map<int, std::string> known = column_known(pass, targets);
        for (int id : reductions) lines_.add(fmt::format("vec {}_part = load({});", names_[id], at(own(id))));
        lines_.pragma("#pragma GCC unroll 16");
        lines_.add("for (int r = 0; r < count; ++r) {");
        step(reductions, outputs, known, "(i + r)", "_part", plan_.prefetch && pass == 0);
        lines_.add("}");
        for (int id : reductions) lines_.add(fmt::format("store({}, {}_part);", at(own(id)), names_[id]));
        lines_.add("});");
    }

    void memory_results(const std::string& from, const std::string& to) {
        std::vector<int> ids;
        for (int k : form_.reduced_outputs()) ids.push_back(form_.graph.outputs[static_cast<size_t>(k)]);
        if (ids.empty()) return;
        open_columns(from, to);
        std::map<int, std::string> known = column_known(form_.passes, ids);
        results(ids, known, "j", "lanes");
        lines_.add("}");
    }

    void split() {
        size_t count = names_.size();
        lines_.add(
            "// Threads share the columns in whole vectors; a row of partial results has room for the last one.");
        lines_.add("constexpr int64_t share = VL < 16 ? 16 : VL;");
        lines_.add("const int64_t padded = (columns + share - 1) / share * share;");
        lines_.add("const int threads = rows * depth * columns > PARALLEL_MIN ? team::size() : 1;");
        name_values([](const std::string&) {});
        lines_.add(
            fmt::format("float* memory = scratch(({} * threads + {}) * padded);", count, count + value_names_.size()));
        lines_.add("team::parallel(threads, [=](team::Member me) {");
        lines_.add("const int64_t top = me.begin(depth), bottom = me.end(depth);");
        lines_.add("const int64_t left = me.begin(columns / share) * share;");
        lines_.add("const int64_t right = me.thread + 1 == me.threads ? columns : me.end(columns / share) * share;");
        size_t k = 0;
        for (const std::pair<const int, std::string>& name : names_) {
            lines_.add(fmt::format("float* {}_all = memory + {} * threads * padded;", name.second, k));
            lines_.add(fmt::format("float* {0}_own = {0}_all + me.thread * padded;", name.second));
            lines_.add(fmt::format("float* {} = memory + ({} * threads + {}) * padded;", name.second, count, k++));
        }
        for (const std::pair<const int, std::string>& name : value_names_)
            lines_.add(fmt::format("float* {} = memory + ({} * threads + {}) * padded;", name.second, count, k++));
        lines_.add("for (int64_t row = 0; row < rows; ++row) {");
        split_row();
        lines_.add("}");
        close_team();
    }

    void split_row() {
        column_phase(0, "left", "right");
        if (!shared_values(form_, 0).empty()) lines_.add("me.barrier();");
        for (int pass = 0; pass <= form_.passes; ++pass) {
            std::vector<int> reductions = form_.reductions(pass), outputs = outputs_of_stage(form_, pass);
            if (!reductions.empty() || !outputs.empty()) {
                lines_.add("for (int64_t begin = 0; begin < columns; begin += TILE) {");
                lines_.add("const int64_t end = columns - begin < TILE ? columns : begin + TILE;");
                sweep(pass, reductions, outputs, "top", "bottom", "begin", "end");
                lines_.add("}");
            }
            if (pass == form_.passes) break;
            lines_.add("me.barrier();");
            combine(reductions);
            column_phase(pass + 1, "left", "right");
            if (pass + 1 < form_.passes || !outputs_of_stage(form_, pass + 1).empty() || form_.rows != "1")
                lines_.add("me.barrier();");
        }
        memory_results("left", "right");
    }

    void combine(const std::vector<int>& reductions) {
        lines_.add("for (int64_t j = left; j < right; j += VL) {");
        for (int id : reductions) {
            lines_.add(fmt::format("vec {0}_part = load({0}_all + j);", names_[id]));
            lines_.add("for (int t = 1; t < me.threads; ++t)");
            lines_.add(fmt::format("    {0}_part = {1};", names_[id],
                                   fold(form_.graph.at(id).op, names_[id] + "_part",
                                        fmt::format("load({}_all + t * padded + j)", names_[id]))));
            lines_.add(fmt::format("store({0} + j, {0}_part);", names_[id]));
        }
        lines_.add("}");
    }

    const LoopForm& form_;
    ColumnPlan plan_;
    ValueWriter values_;
    bool in_registers_ = true;
    std::map<int, std::string> names_;        // of reductions
    std::map<int, std::string> known_;        // accumulators in registers
    std::map<int, std::string> value_names_;  // of column values in memory
    std::set<int> ready_;                     // those already computed
    std::set<std::string> value_names_taken_;
    size_t vector_mark_ = 0;
    Lines lines_;
};

}  // namespace

LoopKernel write_columns(const LoopForm& form, const ColumnPlan& plan) {
    ColumnWriter writer(form, plan);
    LoopKernel kernel;
    kernel.body = writer.body();
    kernel.helpers = writer.helpers();
    kernel.lacks = writer.lacks();
    kernel.uses_scratch = plan.kind == Kind::split;
    return kernel;
}

}  // namespace strop::playbook
