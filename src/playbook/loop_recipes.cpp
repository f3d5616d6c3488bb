// Which strategies a loop nest gets, with their tunables, first guesses and variants.
#include "playbook/loop_recipes.h"

#include <algorithm>
#include <utility>

#include "playbook/kernel_source.h"
#include "playbook/loop_helpers.h"
#include "playbook/loop_laws.h"
#include "playbook/loop_plans.h"
#include "playbook/vector_code.h"

namespace strop::playbook {

namespace {

class Collector {
public:
    Collector(const LoopForm& form, const Machine& machine) : form_(form), machine_(machine) {
        for (const Node& node : form.graph.nodes) {
            masks_ |= node.dtype == DType::boolean && (node.family == Family::input || form.full(node.id));
            products_ |= node.family == Family::reduction && node.op == "prod";
        }
    }

    template <class Plan>
    void add(const std::string& id, const std::string& hypothesis, const std::string& bottleneck, const Plan& plan,
             double confidence, const std::vector<std::pair<std::string, Plan>>& variants) {
        Recipe recipe = make(plan, hypothesis);
        Strategy& strategy = recipe.strategy;
        strategy.id = id;
        strategy.family = form_.nest == Nest::pointwise ? "pointwise"
                          : form_.nest == Nest::rows    ? "row_reduction"
                                                        : "column_reduction";
        strategy.proposer = "playbook";
        strategy.hypothesis = hypothesis;
        strategy.bottleneck = bottleneck;
        strategy.confidence = confidence;
        for (const std::pair<std::string, Plan>& variant : variants) {
            Recipe one = make(variant.second, hypothesis);
            if (one.source == recipe.source) continue;
            one.strategy = strategy;
            one.suffix = variant.first;
            recipe.variants.push_back(std::move(one));
        }
        recipes.push_back(std::move(recipe));
    }

    void restrict_last(const Expression& condition) {
        recipes.back().condition = condition;
        for (Recipe& variant : recipes.back().variants) variant.condition = condition;
    }

    std::vector<Recipe> recipes;
    std::string lacks;

private:
    KernelSource source(const std::string& hypothesis, bool pages = false) {
        KernelSource source(form_.problem, hypothesis);
        if (pages) source.tune_narrow_vectors(machine_, only_loads());
        else source.tune_vectors(machine_, form_.nest == Nest::pointwise);
        source.late("PARALLEL_MIN", {32768, 4096, 8192, 16384, 131072}, machine_.cores > 1 ? 16384 : 131072);
        return source;
    }

    // A row is read once, and nothing is written but what it comes to.
    bool only_loads() const { return form_.nest == Nest::rows && form_.passes == 1 && form_.full_outputs().empty(); }

    Recipe make(const RowPlan& plan, const std::string& hypothesis) {
        LoopKernel kernel = write_rows(form_, plan);
        if (lacks.empty()) lacks = kernel.lacks;
        std::string helpers;
        helpers += for_each_type(form_.problem, tail_helpers());
        if (masks_) helpers += mask_helpers();
        if (products_) helpers += product_helper();
        if (kernel.uses_scratch) helpers += scratch_helper();
        helpers += walkers();
        if (plan.stream) helpers += for_each_type(form_.problem, aligned_walkers());
        if (plan.stream && form_.full_outputs().size() > 1) helpers += for_each_type(form_.problem, put_helper());

        KernelSource text = source(hypothesis, plan.pages);
        text.tune("UNROLL", {4, 1, 2, 8}, form_.nest == Nest::pointwise ? 2 : plan.pages && only_loads() ? 8 : 4);
        if (plan.stream) text.tune_size("STREAM_MIN", machine_);
        if (plan.pages) {
            text.tune_size("FAR_MIN", machine_);
            text.late("AHEAD", {32768, 8192, 2048, 131072}, 32768);
        }
        if (plan.online) text.late("BLOCK", {1024, 256, 512, 2048, 4096}, 1024);
        if (plan.next_row) text.tune("LOCALITY", {3, 2, 1}, 3);
        if (plan.dynamic) text.late("CHUNK", {8, 1, 2, 32, 128}, 8);
        if (plan.tiles != RowPlan::Tiles::none) text.late("TILE", {4096, 256, 1024, 16384, 65536}, 4096);
        return finish(text, kernel, helpers);
    }

    Recipe make(const ColumnPlan& plan, const std::string& hypothesis) {
        LoopKernel kernel = write_columns(form_, plan);
        if (lacks.empty()) lacks = kernel.lacks;
        bool lanes = plan.kind == ColumnPlan::Kind::lanes;
        bool registers = lanes || plan.kind == ColumnPlan::Kind::panels;
        std::string helpers;
        helpers += for_each_type(form_.problem, tail_helpers());
        if (plan.stream) helpers += for_each_type(form_.problem, put_helper());
        if (kernel.uses_scratch) helpers += scratch_helper();
        if (lanes) helpers += for_each_type(form_.problem, strided_helpers());
        if (!registers) helpers += group_helpers();

        KernelSource text = source(hypothesis);
        if (registers) {
            text.tune("PANEL", {4, 1, 2, 8, 16}, lanes ? 2 : 8);
        } else {
            text.tune("TILE", {1024, 256, 512, 2048}, 1024);
            text.tune("ROWS", {4, 1, 2, 8}, 4);
        }
        if (plan.stream) text.tune_size("STREAM_MIN", machine_);
        if (plan.prefetch) text.late("AHEAD", {8, 2, 4, 16, 32}, 8);
        return finish(text, kernel, helpers);
    }

    static Recipe finish(const KernelSource& text, const LoopKernel& kernel, const std::string& helpers) {
        Recipe recipe;
        recipe.source = text.text(kernel.helpers, helpers, kernel.body);
        recipe.initial = text.initial;
        return recipe;
    }

    const LoopForm& form_;
    const Machine& machine_;
    bool masks_ = false, products_ = false;
};

template <class Plan, class Change>
std::pair<std::string, Plan> changed(const std::string& suffix, Plan plan, Change change) {
    change(plan);
    return {suffix, plan};
}

bool any_truth(const LoopForm& form) {
    for (const Node& node : form.graph.nodes) {
        bool number = node.family == Family::constant || node.family == Family::parameter;
        bool output =
            std::find(form.graph.outputs.begin(), form.graph.outputs.end(), node.id) != form.graph.outputs.end();
        if (!number && node.dtype == DType::boolean && (node.family == Family::input || output || !form.full(node.id)))
            return true;
    }
    return false;
}

// The variant that asks for pages of inputs which come row by row, where there are any.
std::vector<std::pair<std::string, RowPlan>> with_pages(const LoopForm& form, const RowPlan& plan) {
    for (const Node& node : form.graph.nodes)
        if (node.family == Family::input && form.full(node.id) && form.span(node.id).any_outer)
            return {changed("pages", plan, [](RowPlan& p) { p.pages = true; })};
    return {};
}

std::pair<std::string, ColumnPlan> prefetching(const ColumnPlan& plan) {
    return changed("prefetch", plan, [](ColumnPlan& p) { p.prefetch = true; });
}

}  // namespace

std::vector<Recipe> row_recipes(const LoopForm& form, const Machine& machine, std::string& lacks) {
    Collector all(form, machine);
    auto dynamic = [](RowPlan& plan) { plan.dynamic = true; };
    auto next_row = [](RowPlan& plan) { plan.next_row = true; };
    bool writes = !form.full_outputs().empty();
    auto with = [](std::vector<std::pair<std::string, RowPlan>> list,
                   const std::vector<std::pair<std::string, RowPlan>>& more) {
        list.insert(list.end(), more.begin(), more.end());
        return list;
    };
    // The row that follows can come from memory while a later pass works on one that is in the cache.
    auto variants = [&](const RowPlan& plan, int reading_passes) {
        std::vector<std::pair<std::string, RowPlan>> list;
        if (form.passes > reading_passes || (form.passes == reading_passes && writes))
            list.push_back(changed("next_row", plan, next_row));
        return with(list, with_pages(form, plan));
    };

    RowPlan passes;
    all.add("resident_passes", "a row stays in the cache, so each pass reads it again and recomputes what it needs",
            "compute", passes, 0.6, with(variants(passes, 1), {changed("dynamic", passes, dynamic)}));
    if (writes) {
        RowPlan kept;
        kept.stream = kept.keep = true;
        bool keeps = !worth_keeping(form).empty();
        all.add(keeps ? "kept_and_streamed" : "streamed",
                keeps ? "costly values are computed once and kept in a row of scratch; large outputs go past "
                        "the caches"
                      : "large outputs go past the caches, which saves reading them before they are written",
                "memory", kept, 0.7,
                with(variants(kept, 1), {changed("plain", kept, [](RowPlan& p) { p.stream = false; }),
                                         changed("recompute", kept, [](RowPlan& p) { p.keep = false; })}));
    }
    if (merge_laws(form)) {
        RowPlan online;
        online.online = true;
        online.stream = writes;
        all.add("online_single_read",
                "partial results of blocks are merged algebraically, so the reductions read a row from "
                "memory once",
                "memory", online, 0.5, variants(online, 2));
    }
    RowPlan split;
    split.split = true;
    split.stream = writes;
    all.add("split_rows", "few long rows: the threads share each row and exchange partial results at barriers",
            "parallelism", split, 0.3, with_pages(form, split));
    // A barrier costs as much as some ten thousand elements.
    all.restrict_last(Expression::parse("(" + form.last_extent.text() + ") >= 16384"));
    lacks = all.lacks;
    return all.recipes;
}

std::vector<Recipe> pointwise_recipes(const LoopForm& form, const Machine& machine, std::string& lacks) {
    Collector all(form, machine);
    RowPlan flat;
    flat.tiles = RowPlan::Tiles::along_rows;
    all.add("fused_loop", "one fused loop reads every operand once and writes the results with ordinary stores",
            "memory", flat, 0.6, with_pages(form, flat));
    RowPlan streamed = flat;
    streamed.stream = true;
    all.add("fused_streaming", "large outputs go past the caches, which saves reading them before they are written",
            "memory", streamed, 0.6, with_pages(form, streamed));
    RowPlan down = flat;
    down.tiles = RowPlan::Tiles::down_columns;
    all.add("column_tiles", "a tile of columns walks down all rows, so that operands shared by the rows stay in L1",
            "compute", down, 0.4, {changed("streaming", down, [](RowPlan& p) { p.stream = true; })});
    lacks = all.lacks;
    return all.recipes;
}

std::vector<Recipe> lane_recipes(const LoopForm& form, const Machine& machine, std::string& lacks) {
    if (any_truth(form)) return {};
    for (const Node& node : form.graph.nodes) {
        const Span& span = form.span(node.id);
        if (node.family == Family::input && span.any_outer && !span.all_outer) return {};
    }
    Collector all(form, machine);
    ColumnPlan plan;
    plan.kind = ColumnPlan::Kind::lanes;
    all.add("rows_across_lanes", "short rows: every lane has a row of its own, so that no reduction crosses lanes",
            "latency", plan, 0.3, {});
    // Beyond that, strided loads cost more than horizontal reductions, and long sums in one lane lose
    // accuracy.
    all.recipes.back().condition = Expression::parse("(" + form.last_extent.text() + ") <= 64");
    if (lacks.empty()) lacks = all.lacks;
    return all.recipes;
}

std::vector<Recipe> column_recipes(const LoopForm& form, const Machine& machine, std::string& lacks) {
    if (any_truth(form)) {
        lacks = "truth values in a reduction over a leading axis";
        return {};
    }
    Collector all(form, machine);
    bool writes = !form.full_outputs().empty();
    ColumnPlan panels;
    all.add("column_panels", "accumulators of a panel of columns stay in registers from the first row to the last",
            "memory", panels, 0.5, {prefetching(panels)});
    ColumnPlan blocked;
    blocked.kind = ColumnPlan::Kind::blocked;
    blocked.stream = writes;
    all.add("blocked_rows", "a tile's accumulators stay in L1 while several rows at a time stream past in order",
            "memory", blocked, 0.6, {prefetching(blocked)});
    ColumnPlan split;
    split.kind = ColumnPlan::Kind::split;
    split.stream = writes;
    all.add("split_depth", "the threads share the reduced axis, each with partial results that are combined at the end",
            "parallelism", split, 0.5, {prefetching(split)});
    lacks = all.lacks;
    return all.recipes;
}

}  // namespace strop::playbook
