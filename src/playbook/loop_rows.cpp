// Kernels for pointwise chains and for nests whose last axis is reduced: softmax, norms, row sums, row
// losses.
#include <algorithm>

#include <fmt/format.h>

#include "playbook/halves.h"
#include "playbook/loop_laws.h"
#include "playbook/loop_plans.h"
#include "playbook/loop_text.h"

namespace strop::playbook {

namespace {

bool expensive(const std::string& op) {
    static const std::set<std::string> ops = {
        "exp", "exp_nonpositive", "exp2",  "expm1", "log",   "log2",   "log1p",    "tanh", "erf", "atan", "sin",
        "cos", "sigmoid",         "power", "sqrt",  "rsqrt", "divide", "remainder"};
    return ops.contains(op);
}

}  // namespace

std::vector<int> worth_keeping(const LoopForm& form) {
    std::vector<int> kept;
    for (const Node& node : form.graph.nodes) {
        if (!form.full(node.id) || node.family != Family::pointwise || node.dtype == DType::boolean) continue;
        bool later = false, costly = false;
        for (int user : form.graph.users(node.id)) later |= form.full(user) && form.stage(user) > form.stage(node.id);
        for (int id : cone(form, {node.id}, {kept.begin(), kept.end()}))
            costly |= form.full(id) && form.stage(id) == form.stage(node.id) && expensive(form.graph.at(id).op);
        if (later && costly) kept.push_back(node.id);
    }
    return kept;
}

namespace {

class RowWriter {
public:
    RowWriter(const LoopForm& form, const RowPlan& plan)
        : form_(form),
          plan_(plan),
          values_(form),
          names_(reduction_names(form, "row_")) {
        if (plan.keep) kept_ = worth_keeping(form);
    }

    // The function; `helpers` and `lacks` are complete afterwards.
    std::string body() {
        lines_.pragma(function_head(form_.problem) + " {");
        lines_ = Lines(1, lines_.text());
        lines_.add(fmt::format("const int64_t rows = {}, columns = {};", form_.rows, form_.columns));
        if (plan_.pages) {
            lines_.add("constexpr int64_t PAGE = 4096 / sizeof(float);");
            lines_.add("const bool far = rows * columns * (int64_t)sizeof(float) > FAR_MIN;");
        }
        if (plan_.stream) lines_.add("const bool streamed = rows * columns * (int64_t)sizeof(float) > STREAM_MIN;");
        plan_.split ? open_split() : open_rows();
        row();
        lines_.add("}");
        if (plan_.dynamic) lines_.add("}");
        if (plan_.stream) lines_.add("if (streamed) fence();");
        lines_.add("});");
        lines_.add("}");
        return lines_.text();
    }

    std::set<std::string> helpers() const {
        std::set<std::string> all = values_.helpers;
        all.insert({"load", "store", "load_tail", "store_tail", "select", "splat"});
        if (plan_.stream) all.insert({"stream", "fence"});
        for (const std::pair<const int, std::string>& name : names_) {
            Folding how = folding(form_.graph.at(name.first).op);
            if (how.horizontal != "product") all.insert(how.horizontal);
            if (!how.helper.empty()) all.insert(how.helper);
        }
        for (const Node& node : form_.graph.nodes)
            if (node.dtype == DType::boolean)
                all.insert({"load_mask", "load_mask_tail", "store_mask", "store_mask_tail"});
        return all;
    }

    const std::string& lacks() const { return values_.lacks; }
    bool keeps() const { return !kept_.empty(); }

private:
    void open_rows() {
        bool tiled = plan_.tiles != RowPlan::Tiles::none;
        const std::string count = tiled ? "rows * tiles" : "rows", each = tiled ? "task" : "row";
        if (tiled) lines_.add("const int64_t tiles = (columns + TILE - 1) / TILE;");
        lines_.add(fmt::format("const int threads = {}rows * columns > PARALLEL_MIN ? team::size() : 1;",
                               tiled ? "" : "rows > 1 && "));
        if (plan_.dynamic) lines_.add(fmt::format("team::Queue queue{{{}, CHUNK}};", count));
        lines_.add(fmt::format("team::parallel(threads, [={}](team::Member{}) {{", plan_.dynamic ? ", &queue" : "",
                               plan_.dynamic ? "" : " me"));
        open_kept();
        if (plan_.dynamic) {
            lines_.add("for (int64_t from, to; queue.take(from, to);) {");
            lines_.add(fmt::format("for (int64_t {0} = from; {0} < to; ++{0}) {{", each));
        } else {
            lines_.add(fmt::format("for (int64_t {0} = me.begin({1}); {0} < me.end({1}); ++{0}) {{", each, count));
        }
        if (!tiled) return;
        bool along = plan_.tiles == RowPlan::Tiles::along_rows;
        lines_.add(fmt::format("const int64_t row = task {} {};", along ? "/" : "%", along ? "tiles" : "rows"));
        lines_.add(fmt::format("const int64_t begin = task {} * TILE;", along ? "% tiles" : "/ rows"));
        lines_.add("const int64_t end = columns - begin < TILE ? columns : begin + TILE;");
    }

    // Every thread has its share of the columns; what it found becomes visible to the others at a barrier.
    // Two sets of slots in turn: a fast thread may be one row ahead.
    void open_split() {
        int slots = static_cast<int>(names_.size());
        lines_.add("// Two sets of slots in turn: a fast thread may be one row ahead of the others.");
        lines_.add(fmt::format("float partial[2][{}][team::most_threads];", slots));
        lines_.add("const int threads = columns * rows > PARALLEL_MIN ? team::size() : 1;");
        lines_.add("team::parallel(threads, [=, &partial](team::Member me) {");
        lines_.add("const int64_t begin = me.begin(columns / 16) * 16;");
        lines_.add("const int64_t end = me.thread + 1 == me.threads ? columns : me.end(columns / 16) * 16;");
        lines_.add("for (int64_t row = 0; row < rows; ++row) {");
    }

    void row() {
        pointers();
        shared(0);
        int pass = 0;
        if (plan_.online) {
            online();
            pass = 2;
            shared(1);
            shared(2);
        }
        for (; pass <= form_.passes; ++pass) {
            bool last = pass == form_.passes;
            std::vector<int> outputs = outputs_of_stage(form_, pass);
            if (!last || !outputs.empty()) this->pass(pass, outputs);
            if (!last) shared(pass + 1);
        }
        reduced_outputs();
    }

    static std::string place(const std::string& name, const std::string& index) {
        return index == "0" ? name : fmt::format("{} + {} * columns", name, index);
    }

    std::vector<int> inputs(bool full) const {
        std::vector<int> ids;
        for (const Node& node : form_.graph.nodes)
            if (node.family == Family::input && form_.full(node.id) == full) ids.push_back(node.id);
        return ids;
    }

    void pointers() {
        for (int id : inputs(true)) {
            const Node& node = form_.graph.at(id);
            const std::string& index = form_.span(id).outer_index;
            if (index != "0")
                lines_.add(fmt::format("const {}* {}_row = {};", element_type(form_.problem, node.op), node.op,
                                       place(node.op, index)));
        }
        for (int k : form_.full_outputs()) {
            const Tensor& output = form_.problem.outputs[static_cast<size_t>(k)];
            lines_.add(
                fmt::format("{}* {}_row = {};", element_type(output.dtype), output.name, place(output.name, "row")));
        }
        for (int id : inputs(false)) {
            const Node& node = form_.graph.at(id);
            lines_.add(fmt::format("const {} {}_value = {}[{}];", c_type(node.dtype), node.op, node.op,
                                   form_.span(id).outer_index));
            know_scalar(id, node.op + "_value");
        }
    }

    // Scratch rows of this thread, for the values that are kept.
    void open_kept() {
        for (size_t k = 0; k < kept_.size(); ++k) {
            std::string start =
                kept_.size() == 1 ? "scratch(columns)" : fmt::format("scratch({} * columns)", kept_.size());
            kept_names_[kept_[k]] = "kept_" + std::to_string(k + 1);
            lines_.add(fmt::format("float* {} = {};", kept_names_[kept_[k]],
                                   k == 0 ? start : fmt::format("kept_1 + {} * columns", k)));
        }
    }

    void know_scalar(int id, const std::string& name) {
        known_[id] = name;
        uniform_.insert(id);
    }

    // Values of the whole row that the following passes use.
    void shared(int stage) {
        std::vector<int> ids = shared_values(form_, stage);
        std::erase_if(ids, [&](int id) { return known_.contains(id); });
        Values values = values_.write(ids, known_, {}, "row_", true);
        lines_.add(values.statements);
        for (int id : ids) know_scalar(id, values.of[id]);
    }

    std::string input_address(int id) const {
        const std::string& name = form_.graph.at(id).op;
        return form_.span(id).outer_index == "0" ? name : name + "_row";
    }

    // What a step reads: inputs, and values kept by an earlier pass.
    std::map<int, std::string> load(const std::vector<int>& targets, int pass, Lines& lines) {
        std::map<int, std::string> known = known_;
        std::set<int> stop;
        for (const std::pair<const int, std::string>& entry : known_) stop.insert(entry.first);
        for (int id : kept_)
            if (form_.stage(id) < pass) stop.insert(id);
        for (int id : cone(form_, targets, stop)) {
            const Node& node = form_.graph.at(id);
            if (known.contains(id)) continue;
            bool input = node.family == Family::input, kept = kept_names_.contains(id) && stop.contains(id);
            if (!input && !kept) continue;
            bool mask = node.dtype == DType::boolean;
            std::string from = input ? input_address(id) : kept_names_[id];
            known[id] = (input ? node.op : kept_names_[id]) + "_j";
            lines.add(fmt::format("const {} {} = {}({} + j, lanes);", mask ? "vmask" : "vec", known[id],
                                  mask ? "load_mask_part" : "load_part", from));
            masks_ |= mask;
        }
        return known;
    }

    void start(const std::vector<int>& reductions) {
        for (int id : reductions) {
            lines_.add(fmt::format("vec {}_part[UNROLL];", names_[id]));
            lines_.add(fmt::format("for (vec& part : {}_part) part = splat({});", names_[id],
                                   folding(form_.graph.at(id).op).start));
        }
    }

    void finish(const std::vector<int>& reductions) {
        for (int id : reductions) {
            const std::string& op = form_.graph.at(id).op;
            std::string part = names_[id] + "_part";
            lines_.add(fmt::format("for (int u = 1; u < UNROLL; ++u) {0}[0] = {1};", part,
                                   fold(op, part + "[0]", part + "[u]")));
            std::string whole = fmt::format("{}({}[0])", folding(op).horizontal, part);
            if (!plan_.split) lines_.add(fmt::format("const float {} = {};", names_[id], whole));
            else lines_.add(fmt::format("partial[row & 1][{}][me.thread] = {};", slot(id), whole));
        }
        if (plan_.split && !reductions.empty()) {
            lines_.add("me.barrier();");
            for (int id : reductions) {
                const std::string& op = form_.graph.at(id).op;
                std::string of_thread = fmt::format("partial[row & 1][{}][t]", slot(id));
                lines_.add(fmt::format("float {} = {};", names_[id], folding(op).start));
                lines_.add(fmt::format("for (int t = 0; t < me.threads; ++t) {} = {};", names_[id],
                                       fold(op, names_[id], of_thread)));
            }
        }
        for (int id : reductions) know_scalar(id, names_[id]);
    }

    int slot(int id) const { return static_cast<int>(std::distance(names_.begin(), names_.find(id))); }

    // One walk over [from, to): reductions into `part` accumulators, values kept, outputs written.
    void walk(int pass, const std::vector<int>& reductions, const std::vector<int>& outputs, const std::string& from,
              const std::string& to) {
        std::vector<int> targets, keep;
        for (int id : reductions) targets.push_back(form_.graph.at(id).operands[0]);
        for (int k : outputs) targets.push_back(form_.graph.outputs[static_cast<size_t>(k)]);
        for (int id : kept_)
            if (form_.stage(id) == pass) keep.push_back(id);
        targets.insert(targets.end(), keep.begin(), keep.end());
        if (plan_.pages && pass == 0) ask_for_pages(from, to);
        std::string walker = "each_vector", aligned;
        for (int k : outputs) {
            const Tensor& output = form_.problem.outputs[static_cast<size_t>(k)];
            if (!plan_.stream || output.dtype == DType::boolean || !aligned.empty()) continue;
            walker = "each_aligned";  // to the first of them; the others stream where they are aligned too
            aligned = fmt::format("{}_row, streamed, ", output.name);
            aligned_output_ = k;
        }
        lines_.add(fmt::format("{}({}{}, {}, [&](int{}, int64_t j, int64_t lanes{}) __attribute__((always_inline)) {{",
                               walker, aligned, from, to, reductions.empty() ? "" : " u",
                               aligned.empty() ? "" : ", bool past_caches"));
        if (plan_.next_row && pass == (plan_.online ? 2 : 1)) add_prefetch();
        std::map<int, std::string> known = load(targets, pass, lines_);
        Values values = values_.write(targets, known, uniform_, "", false);
        lines_.add(values.statements);
        for (int id : keep) lines_.add(fmt::format("store_part({} + j, {}, lanes);", kept_names_[id], values.of[id]));
        for (int id : reductions) {
            const Node& node = form_.graph.at(id);
            std::string part = names_[id] + "_part[u]";
            std::string value =
                fmt::format("first({}, lanes, {})", values.of[node.operands[0]], folding(node.op).start);
            lines_.add(fmt::format("{} = {};", part, fold(node.op, part, value)));
        }
        for (int k : outputs) put(k, values.of[form_.graph.outputs[static_cast<size_t>(k)]]);
        lines_.add("});");
    }

    void ask_for_pages(const std::string& from, const std::string& to) {
        std::vector<std::string> requests;
        for (int id : inputs(true))
            if (form_.span(id).any_outer)
                requests.push_back(fmt::format("__builtin_prefetch({} + j + AHEAD);", input_address(id)));
        if (requests.empty()) return;
        lines_.add("// Pages that are read soon: finding a small one takes as long as reading half of it.");
        lines_.add(fmt::format("for (int64_t j = {}; far && j < {}; j += PAGE) {{", from, to));
        lines_.add(requests);
        lines_.add("}");
    }

    // The same place of every row's input in its next row, one cache line each.
    void add_prefetch() {
        for (int id : inputs(true))
            if (form_.span(id).any_outer)
                lines_.add(
                    fmt::format("for (int64_t line = 0; line < VL; line += 16) "
                                "__builtin_prefetch({} + columns + j + line, 0, LOCALITY);",
                                input_address(id)));
    }

    void put(int k, const std::string& value) {
        const Tensor& output = form_.problem.outputs[static_cast<size_t>(k)];
        if (output.dtype == DType::boolean)
            lines_.add(fmt::format("store_mask_part({}_row + j, {}, lanes);", output.name, value));
        else if (plan_.stream && k == aligned_output_)
            lines_.add(fmt::format("put_aligned({}_row + j, {}, lanes, past_caches);", output.name, value));
        else if (plan_.stream) lines_.add(fmt::format("put({}_row + j, {}, lanes, past_caches);", output.name, value));
        else lines_.add(fmt::format("store_part({}_row + j, {}, lanes);", output.name, value));
    }

    void pass(int pass, const std::vector<int>& outputs) {
        std::vector<int> reductions = form_.reductions(pass);
        lines_.add("");
        start(reductions);
        bool piece = plan_.split || plan_.tiles != RowPlan::Tiles::none;
        walk(pass, reductions, outputs, piece ? "begin" : "0", piece ? "end" : "columns");
        finish(reductions);
    }

    // Both passes over one block while it is in the first cache, then what the block found is merged into the
    // row.
    void online() {
        std::vector<MergeLaw> laws = *merge_laws(form_);
        std::vector<int> first = form_.reductions(0), second = form_.reductions(1);
        for (const std::vector<int>& ids : {first, second})
            for (int id : ids)
                lines_.add(fmt::format("float {} = {};", names_[id], folding(form_.graph.at(id).op).start));
        lines_.add("for (int64_t begin = 0; begin < columns; begin += BLOCK) {");
        lines_.add("const int64_t end = columns - begin < BLOCK ? columns : begin + BLOCK;");
        std::map<int, std::string> outside = known_;
        std::set<int> outside_uniform = uniform_;
        merge_first(first, laws);
        merge_second(second, laws);
        lines_.add("}");
        known_ = outside;
        uniform_ = outside_uniform;
        for (const std::vector<int>& ids : {first, second})
            for (int id : ids) know_scalar(id, names_[id]);
    }

    std::string in_block(int id) const { return "block_" + names_.at(id).substr(4); }

    void block_results(const std::vector<int>& reductions) {
        for (int id : reductions) {
            const std::string& op = form_.graph.at(id).op;
            std::string part = names_[id] + "_part";
            lines_.add(fmt::format("for (int u = 1; u < UNROLL; ++u) {0}[0] = {1};", part,
                                   fold(op, part + "[0]", part + "[u]")));
            lines_.add(fmt::format("const float {} = {}({}[0]);", in_block(id), folding(op).horizontal, part));
        }
    }

    void merge_first(const std::vector<int>& first, const std::vector<MergeLaw>& laws) {
        start(first);
        walk(0, first, {}, "begin", "end");
        block_results(first);
        for (int id : first) {
            const std::string& op = form_.graph.at(id).op;
            bool scale = false;
            for (const MergeLaw& law : laws) scale |= law.kind == MergeLaw::Kind::exponential && law.reference == id;
            if (scale) lines_.add(fmt::format("const float old_{} = {};", names_[id].substr(4), names_[id]));
            for (const MergeLaw& law : laws)
                if (law.kind == MergeLaw::Kind::squares && law.sum == id) deviations(law, id);
            lines_.add(fmt::format("{} = {};", names_[id], fold(op, names_[id], in_block(id))));
            know_scalar(id, names_[id]);
        }
    }

    // Chan, Golub and LeVeque: squares about two means are merged through the distance of the means.
    void deviations(const MergeLaw& law, int sum) {
        std::string number = block_means_.empty() ? "" : "_" + std::to_string(block_means_.size() + 1);
        std::string mean = "block_mean" + number, delta = "delta" + number;
        lines_.add(fmt::format("const float {} = {} / (float)(end - begin);", mean, in_block(sum)));
        lines_.add(
            fmt::format("const float {} = begin == 0 ? 0.0f : {} - {} / (float)begin;", delta, mean, names_[sum]));
        block_means_[law.reduction] = mean;
        deltas_[law.reduction] = delta;
    }

    void merge_second(const std::vector<int>& second, const std::vector<MergeLaw>& laws) {
        for (const MergeLaw& law : laws)
            know_scalar(law.reference,
                        law.kind == MergeLaw::Kind::squares ? block_means_[law.reduction] : names_[law.reference]);
        start(second);
        walk(1, second, {}, "begin", "end");
        block_results(second);
        for (const MergeLaw& law : laws) {
            const std::string& name = names_[law.reduction];
            if (law.kind == MergeLaw::Kind::exponential) {
                const std::string& largest = names_[law.reference];
                std::string old = "old_" + largest.substr(4);
                values_.helpers.insert("vexp");
                lines_.add(fmt::format("if ({0} < {1})", old, largest));
                lines_.add(fmt::format("    {2} = {0} == -__builtin_inff() ? 0.0f : {2} * vexp({0} - {1});", old,
                                       largest, name));
                lines_.add(fmt::format("{} += {};", name, in_block(law.reduction)));
            } else {
                lines_.add(fmt::format("{0} += {1} + {2} * {2} * ((float)begin * (float)(end - begin) / (float)end);",
                                       name, in_block(law.reduction), deltas_[law.reduction]));
            }
        }
    }

    void reduced_outputs() {
        std::vector<int> ids;
        for (int k : form_.reduced_outputs()) ids.push_back(form_.graph.outputs[static_cast<size_t>(k)]);
        if (ids.empty()) return;
        Values values = values_.write(ids, known_, {}, "result_", true);
        if (plan_.split) lines_.add("if (me.thread == 0) {");
        lines_.add(values.statements);
        for (int k : form_.reduced_outputs())
            lines_.add(fmt::format("{}[row] = {};", form_.problem.outputs[static_cast<size_t>(k)].name,
                                   values.of[form_.graph.outputs[static_cast<size_t>(k)]]));
        if (plan_.split) lines_.add("}");
    }

    const LoopForm& form_;
    RowPlan plan_;
    ValueWriter values_;
    std::map<int, std::string> names_;  // of reductions
    std::vector<int> kept_;
    std::map<int, std::string> kept_names_, block_means_, deltas_;
    std::map<int, std::string> known_;  // values of the whole row, by node
    std::set<int> uniform_;
    int aligned_output_ = -1;  // the one that the walk is aligned to
    bool masks_ = false;
    Lines lines_;
};

}  // namespace

LoopKernel write_rows(const LoopForm& form, const RowPlan& plan) {
    RowWriter writer(form, plan);
    LoopKernel kernel;
    kernel.body = writer.body();
    kernel.helpers = writer.helpers();
    kernel.lacks = writer.lacks();
    kernel.uses_scratch = writer.keeps();
    return kernel;
}

}  // namespace strop::playbook
