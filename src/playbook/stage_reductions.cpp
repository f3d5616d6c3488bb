// Reductions over the same axes of one shape, with what is computed before, between and after them; and
// scans.
#include <algorithm>

#include <fmt/format.h>

#include "graph/rewrite.h"
#include "playbook/launch_builder.h"
#include "playbook/stage_parts.h"

namespace strop::playbook {

using namespace schedule;

namespace {

Expression symbol(const std::string& name) { return Expression::symbol(name); }

std::vector<int> nodes_of(const Graph& graph, Family family) {
    std::vector<int> result;
    for (const Node& node : graph.nodes)
        if (node.family == family) result.push_back(node.id);
    return result;
}

// The stage as rows: all reductions run over the same axes of one shape.
struct Rows {
    Shape full;                 // of what is reduced
    std::vector<char> reduced;  // one per axis
    std::vector<std::vector<int>> passes;
    bool fits = false;

    Rows(const Graph& graph) {
        const std::vector<int> reductions = nodes_of(graph, Family::reduction);
        if (reductions.empty()) return;
        const Node& first = graph.at(reductions[0]);
        full = graph.at(first.operands[0]).shape;
        reduced.assign(full.size(), 0);
        for (int axis : first.axes) reduced[static_cast<size_t>(axis)] = 1;
        for (int id : reductions) {
            const Node& node = graph.at(id);
            std::vector<int> axes = node.axes, wanted = first.axes;
            std::sort(axes.begin(), axes.end());
            std::sort(wanted.begin(), wanted.end());
            if (axes != wanted || graph.at(node.operands[0]).shape != full) return;
        }
        fits = true;
        std::vector<size_t> level(graph.nodes.size(), 0);  // reductions that have to be known before
        for (const Node& node : graph.nodes) {
            for (int operand : node.operands) {
                const bool reduces = graph.at(operand).family == Family::reduction;
                level[static_cast<size_t>(node.id)] =
                    std::max(level[static_cast<size_t>(node.id)], level[static_cast<size_t>(operand)] + reduces);
            }
            if (node.family != Family::reduction) continue;
            passes.resize(std::max(passes.size(), level[static_cast<size_t>(node.id)] + 1));
            passes[level[static_cast<size_t>(node.id)]].push_back(node.id);
        }
    }

    bool innermost() const {  // whether the axis along memory is reduced
        for (size_t a = full.size(); a-- > 0;)
            if (!full[a].is_literal(1)) return reduced[a];
        return true;
    }
    // Of a value that does not vary along what is reduced.
    Shape shape_of_result(bool keepdims) const {
        Shape shape;
        for (size_t a = 0; a < full.size(); ++a)
            if (!reduced[a]) shape.push_back(full[a]);
            else if (keepdims) shape.push_back(1);
        return shape;
    }
    Shape extents(bool of_reduced) const {
        Shape result;
        for (size_t a = 0; a < full.size(); ++a)
            if (static_cast<bool>(reduced[a]) == of_reduced) result.push_back(full[a]);
        return result;
    }
};

// Which pass over the row computes what.
enum class Passes {
    again,  // each pass loads the row
    kept,   // the row stays in the block's memory
    once,   // a maximum and the sum of exponentials in one pass
};

class RowsLaunch {
public:
    RowsLaunch(const Problem& problem, const Graph& graph, const Rows& rows, const std::string& name, Share share)
        : graph_(graph),
          rows_(rows),
          builder_(problem, graph, name, share) {
        const std::vector<Axis> axes = builder_.axes(rows.full, index_);
        for (size_t a = 0, next = 0; a < rows.full.size(); ++a) {
            if (rows.full[a].is_literal(1)) continue;
            (rows.reduced[a] ? inner_ : builder_.launch.grid).push_back(axes[next]);
            if (rows.reduced[a]) place_ = place_ * rows.full[a] + index_[a];
            ++next;
        }
    }

    std::optional<Launch> build(Passes passes) {
        if (passes == Passes::kept) keep_rows();
        size_t first = 0;
        if (passes == Passes::once) {
            if (!fold_normalizer()) return std::nullopt;
            first = 2;
        }
        for (size_t pass = first; pass < rows_.passes.size(); ++pass) {
            FoldStep step;
            for (int id : rows_.passes[pass]) {
                const Node& node = graph_.at(id);
                step.folds.push_back(builder_.fold(node, builder_.element(node, index_, place_)));
            }
            for (size_t k = 0; k < step.folds.size(); ++k)
                know(rows_.passes[pass][k], LaunchBuilder::result_of(graph_.at(rows_.passes[pass][k]), step.folds[k]));
            builder_.step(inner_, std::move(step));
        }
        if (!store_outputs() || !builder_.terms.lacks().empty()) return std::nullopt;
        return std::move(builder_.launch);
    }

private:
    Index kept_index(bool keepdims) const {
        Index kept;
        for (size_t a = 0; a < index_.size(); ++a)
            if (!rows_.reduced[a]) kept.push_back(index_[a]);
            else if (keepdims) kept.push_back(0);
        return kept;
    }
    void know(int id, const std::string& name) { builder_.terms.know(id, kept_index(graph_.at(id).keepdims), name); }

    // Inputs of the full shape: what every pass would load again.
    void keep_rows() {
        KeepStep step;
        for (const Node& node : graph_.nodes)
            if (node.family == Family::input && node.shape == rows_.full)
                step.values.push_back({builder_.fresh("kept_" + node.op), builder_.terms.at(node.id, index_)});
        size_t next = 0;
        for (const Node& node : graph_.nodes)
            if (node.family == Family::input && node.shape == rows_.full)
                builder_.terms.know(node.id, index_, step.values[next++].name);
        builder_.step(inner_, std::move(step));
    }

    // max(x) and then sum(exp(x - max(x))).
    bool fold_normalizer() {
        if (rows_.passes.size() < 2 || rows_.passes[0].size() != 1 || rows_.passes[1].size() != 1) return false;
        const Node& largest = graph_.at(rows_.passes[0][0]);
        const Node& sum = graph_.at(rows_.passes[1][0]);
        if (largest.op != "max" || sum.op != "sum" || !is_floating(sum.dtype)) return false;
        const Node& exponential = graph_.at(sum.operands[0]);
        if (exponential.op != "exp") return false;
        const Node& difference = graph_.at(exponential.operands[0]);
        if (difference.op != "subtract" || difference.operands[0] != largest.operands[0]) return false;
        int subtracted = difference.operands[1];
        while (graph_.at(subtracted).family == Family::layout) subtracted = graph_.at(subtracted).operands[0];
        if (subtracted != largest.id) return false;
        Fold fold{{builder_.fresh("largest"), builder_.fresh("sum")}, normalizer_law(sum.dtype), {}};
        fold.terms = {builder_.terms.at(largest.operands[0], index_), builder_.terms.number(1, sum.dtype)};
        know(largest.id, fold.names[0]);
        know(sum.id, fold.names[1]);
        builder_.step(inner_, FoldStep{{std::move(fold)}});
        return true;
    }

    bool store_outputs() {
        StoreStep rows, results;
        for (size_t k = 0; k < graph_.outputs.size(); ++k) {
            const Shape& shape = graph_.at(graph_.outputs[k]).shape;
            const Index with = kept_index(true), without = kept_index(false);
            if (shape == rows_.full && !inner_.empty()) rows.stores.push_back(builder_.output(k, index_));
            else if (shape == rows_.shape_of_result(true)) results.stores.push_back(builder_.output(k, with));
            else if (shape == rows_.shape_of_result(false)) results.stores.push_back(builder_.output(k, without));
            else return false;
        }
        if (!rows.stores.empty()) builder_.step(inner_, std::move(rows));
        if (!results.stores.empty()) builder_.step({}, std::move(results));
        return true;
    }

    const Graph& graph_;
    const Rows& rows_;
    LaunchBuilder builder_;
    Index index_;
    std::vector<Axis> inner_;
    Expression place_ = 0;
};

// Reductions of one pass whose rows are shared out in parts: one launch for partial results, one that merges
// them.
class PartsSchedule {
public:
    PartsSchedule(const Problem& problem, const Graph& graph, const Rows& rows, const std::string& prefix)
        : problem_(problem),
          graph_(graph),
          rows_(rows),
          prefix_(prefix) {}

    std::optional<StageSchedule> build() {
        if (rows_.passes.size() != 1) return std::nullopt;
        StageSchedule result;
        result.space.tunables = {{parts, {int64_t{32}, int64_t{8}, int64_t{128}}, Tunable::Kind::constant}};
        if (!partial_results(result) || !merged(result)) return std::nullopt;
        return result;
    }

private:
    static constexpr const char* parts = "PARTS";

    bool partial_results(StageSchedule& result) {
        LaunchBuilder builder(problem_, graph_, prefix_ + "_parts", rows_.innermost() ? Share::blocks : Share::threads);
        const Axis part = builder.axis("part", symbol(parts));
        const Axis kept = builder.axis("i", product_of(rows_.extents(false)));
        const Expression count = product_of(rows_.extents(true));
        const Axis step = builder.axis("j", Expression::parse(fmt::format("ceildiv({}, {})", count.text(), parts)));
        const Expression place = symbol(step.name) * symbol(parts) + symbol(part.name);
        builder.launch.grid = {part, kept};
        const Index index =
            full_index(unflattened(symbol(kept.name), rows_.extents(false)), unflattened(place, rows_.extents(true)));
        const Expression inside = Expression::parse(fmt::format("({}) < ({})", place.text(), count.text()));
        FoldStep fold;
        StoreStep stores;
        for (int id : rows_.passes[0]) {
            const Node& node = graph_.at(id);
            std::vector<int> elements = builder.element(node, index, place);
            const Law law = law_of(graph_, node);
            for (size_t k = 0; k < elements.size(); ++k)
                elements[k] = builder.terms.guarded(inside, elements[k],
                                                    builder.terms.number(law.parts[k].start, law.parts[k].dtype));
            fold.folds.push_back(builder.fold(node, std::move(elements)));
            buffers_.emplace_back();
            for (size_t k = 0; k < law.parts.size(); ++k) {
                const std::string name = builder.fresh(fmt::format("{}_{}_{}", prefix_, law.parts[k].name, "parts"));
                buffers_.back().push_back(name);
                result.buffers.push_back({name, law.parts[k].dtype, {symbol(parts), kept.extent}});
                stores.stores.push_back({name, {symbol(part.name), symbol(kept.name)}, -1});
            }
        }
        size_t next = 0;
        for (const Fold& one : fold.folds)
            for (size_t k = 0; k < one.names.size(); ++k)
                stores.stores[next++].term = builder.terms.result(one.names[k], one.law.parts[k].dtype);
        builder.step({step}, std::move(fold));
        builder.step({}, std::move(stores));
        result.launches.push_back(std::move(builder.launch));
        return builder.terms.lacks().empty();
    }

    bool merged(StageSchedule& result) {
        LaunchBuilder builder(problem_, graph_, prefix_ + "_merge", Share::threads);
        const Shape kept_shape = rows_.extents(false);
        const Axis kept = builder.axis("i", product_of(kept_shape)), part = builder.axis("part", symbol(parts));
        builder.launch.grid = {kept};
        const Index index = unflattened(symbol(kept.name), kept_shape);
        FoldStep fold;
        for (size_t k = 0; k < buffers_.size(); ++k) {
            const Node& node = graph_.at(rows_.passes[0][k]);
            const Law law = law_of(graph_, node);
            std::vector<int> elements;
            for (size_t p = 0; p < law.parts.size(); ++p)
                elements.push_back(
                    builder.terms.load(buffers_[k][p], law.parts[p].dtype, {symbol(part.name), symbol(kept.name)}));
            fold.folds.push_back(builder.fold(node, std::move(elements)));
            builder.terms.know(node.id, with_reduced(index, node.keepdims),
                               LaunchBuilder::result_of(node, fold.folds.back()));
        }
        builder.step({part}, std::move(fold));
        StoreStep stores;
        for (size_t k = 0; k < graph_.outputs.size(); ++k) {
            const Shape& shape = graph_.at(graph_.outputs[k]).shape;
            const bool keepdims = shape == rows_.shape_of_result(true);
            if (!keepdims && shape != kept_shape) return false;  // it varies along the row
            stores.stores.push_back(builder.output(k, with_reduced(index, keepdims)));
        }
        builder.step({}, std::move(stores));
        result.launches.push_back(std::move(builder.launch));
        return builder.terms.lacks().empty();
    }

    Index full_index(const Index& kept, const Index& reduced) const {
        Index index;
        size_t next_kept = 0, next_reduced = 0;
        for (char is_reduced : rows_.reduced) index.push_back(is_reduced ? reduced[next_reduced++] : kept[next_kept++]);
        return index;
    }
    Index with_reduced(const Index& kept, bool keepdims) const {
        if (!keepdims) return kept;
        return full_index(kept, Index(rows_.extents(true).size(), Expression(0)));
    }

    const Problem& problem_;
    const Graph& graph_;
    const Rows& rows_;
    const std::string prefix_;
    std::vector<std::vector<std::string>> buffers_;  // one list per reduction, one buffer per part of its law
};

}  // namespace

namespace {

// Elements of a row that a block can keep, of all inputs that have the shape of what is reduced.
int64_t most_kept_of(const Graph& graph, const Rows& rows, int64_t kept_bytes) {
    int64_t bytes = 0;
    for (const Node& node : graph.nodes)
        if (node.family == Family::input && node.shape == rows.full) bytes += static_cast<int64_t>(size_of(node.dtype));
    return kept_bytes == 0 || bytes == 0 ? most_kept : kept_bytes / bytes;
}

}  // namespace

std::vector<StageSchedule> schedule_reductions(const Problem& problem, const Graph& graph, const std::string& prefix,
                                               int64_t kept_bytes) {
    const Rows rows(graph);
    if (!rows.fits) return {};
    std::vector<StageSchedule> result;
    auto add = [&](StageSchedule schedule, Share share, Passes passes) {
        if (std::optional<Launch> launch = RowsLaunch(problem, graph, rows, prefix, share).build(passes)) {
            schedule.launches = {std::move(*launch)};
            result.push_back(std::move(schedule));
        }
    };
    const bool innermost = rows.innermost();
    const bool reads_again =
        rows.passes.size() > 1 || std::any_of(graph.outputs.begin(), graph.outputs.end(),
                                              [&](int id) { return graph.at(id).shape == rows.full; });
    StageSchedule blocks{
        "block_per_row", "the threads of a block share a row and meet in its memory", "memory", 0.6, {}, {}, {}, {}};
    StageSchedule kept{"block_keeps_row",
                       "a block keeps its row in its own memory, so that it is loaded once",
                       "memory",
                       0.65,
                       {},
                       {},
                       {},
                       {}};
    StageSchedule once{"block_once_over_row",
                       "the maximum and the sum of exponentials come out of one pass",
                       "compute",
                       0.55,
                       {},
                       {},
                       {},
                       {}};
    StageSchedule threads{"thread_per_row",
                          "each thread takes a row, so that nobody waits for others",
                          "parallelism",
                          innermost ? 0.3 : 0.6,
                          {},
                          {},
                          {},
                          {}};
    const Expression length = product_of(rows.extents(true));
    kept.condition = Expression::parse(fmt::format("{} <= {}", length.text(), most_kept_of(graph, rows, kept_bytes)));
    if (innermost) add(blocks, Share::blocks, Passes::again);
    add(threads, Share::threads, Passes::again);
    if (innermost && reads_again) add(kept, Share::blocks, Passes::kept);
    if (innermost) add(once, Share::blocks, Passes::once);
    if (std::optional<StageSchedule> parts = PartsSchedule(problem, graph, rows, prefix).build()) {
        parts->id = "rows_in_parts";
        parts->hypothesis = "many threads share each row; their partial results are merged by a second launch";
        parts->bottleneck = "memory";
        parts->confidence = 0.5;
        result.push_back(std::move(*parts));
    }
    return result;
}

std::vector<StageSchedule> schedule_scan(const Problem& problem, const Graph& graph, const std::string& prefix) {
    const std::vector<int> scans = nodes_of(graph, Family::scan);
    if (scans.size() != 1 || !nodes_of(graph, Family::reduction).empty()) return {};
    const Node& scan = graph.at(scans[0]);
    std::vector<StageSchedule> result;
    auto add = [&](Share share, StageSchedule schedule) {
        LaunchBuilder builder(problem, graph, prefix, share);
        Index index;
        const std::vector<Axis> axes = builder.axes(scan.shape, index);
        std::vector<Axis> along;
        for (const Axis& axis : axes)
            (index[static_cast<size_t>(scan.axes[0])] == symbol(axis.name) ? along : builder.launch.grid)
                .push_back(axis);
        if (along.empty()) return;
        ScanStep step{
            builder.fresh("running"), fold_law(scan.op, scan.dtype), builder.terms.at(scan.operands[0], index), {}};
        builder.terms.know(scan.id, index, step.name);
        for (size_t k = 0; k < graph.outputs.size(); ++k) {
            if (graph.at(graph.outputs[k]).shape != scan.shape) return;
            step.stores.push_back(builder.output(k, index));
        }
        builder.step(along, std::move(step));
        if (!builder.terms.lacks().empty()) return;
        schedule.launches = {std::move(builder.launch)};
        result.push_back(std::move(schedule));
    };
    const bool innermost = scan.axes[0] + 1 == static_cast<int>(scan.shape.size());
    const StageSchedule blocks{"block_scans",
                               "the threads of a block find the prefix of a piece of a row together",
                               "memory",
                               innermost ? 0.6 : 0.3,
                               {},
                               {},
                               {},
                               {}};
    const StageSchedule threads{
        "thread_scans", "each thread runs along a row of its own", "latency", innermost ? 0.4 : 0.6, {}, {}, {}, {}};
    if (innermost) add(Share::blocks, blocks);
    add(Share::threads, threads);
    return result;
}

}  // namespace strop::playbook
