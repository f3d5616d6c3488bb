#include "playbook/loop_laws.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "base/error.h"
#include "playbook/loop_text.h"

namespace strop::playbook {

namespace {

// Whether the constant is one over the number of columns (or that number, for `inverse` false).
bool is_count(const LoopForm& form, const Node& node, bool inverse) {
    if (node.op == "reciprocal") return is_count(form, form.graph.at(node.operands[0]), !inverse);
    if (node.family != Family::constant) return false;
    // Each symbol has a value of its own, so that 1/(H*H) is not taken for one over H*W.
    for (int64_t first : {6, 10, 14}) {
        Bindings bindings;
        try {
            const Expression& columns = form.column_count;
            for (const std::string& name : columns.symbols())
                bindings[name] = first + 35 * static_cast<int64_t>(bindings.size());
            if (node.dim)
                for (const std::string& name : node.dim->symbols())
                    if (!bindings.contains(name)) return false;
            double count = to_double(columns.evaluate(bindings));
            double value = node.dim ? to_double(node.dim->evaluate(bindings)) : node.value;
            if (std::abs(value * (inverse ? count : 1 / count) - 1) > 1e-6) return false;
        } catch (const UsageError&) {
            return false;
        }
    }
    return true;
}

// The sum whose mean this node is, or -1.
int sum_behind_mean(const LoopForm& form, const Node& node) {
    if (node.op != "multiply" && node.op != "divide") return -1;
    for (size_t k = 0; k < 2; ++k) {
        const Node& sum = form.graph.at(node.operands[k]);
        const Node& count = form.graph.at(node.operands[1 - k]);
        if (node.op == "divide" && k == 1) break;
        if (sum.family == Family::reduction && sum.op == "sum" && is_count(form, count, node.op == "multiply"))
            return sum.id;
    }
    return -1;
}

bool is_exponential(const Node& node) { return node.op == "exp" || node.op == "exp_nonpositive"; }

std::optional<MergeLaw> exponential_law(const LoopForm& form, const Node& reduction, const Node& value) {
    if (value.op == "multiply")
        for (int operand : value.operands) {
            const Node& factor = form.graph.at(operand);
            if (is_exponential(factor)) return exponential_law(form, reduction, factor);
        }
    if (!is_exponential(value)) return std::nullopt;
    const Node& difference = form.graph.at(value.operands[0]);
    if (difference.op != "subtract") return std::nullopt;
    const Node& largest = form.graph.at(difference.operands[1]);
    bool maximum = largest.op == "max" || largest.op == "max_number";
    if (largest.family != Family::reduction || !maximum) return std::nullopt;
    return MergeLaw{MergeLaw::Kind::exponential, reduction.id, largest.id};
}

std::optional<MergeLaw> squares_law(const LoopForm& form, const Node& reduction, const Node& value) {
    if (value.op != "square") return std::nullopt;
    const Node& difference = form.graph.at(value.operands[0]);
    if (difference.op != "subtract") return std::nullopt;
    const Node& mean = form.graph.at(difference.operands[1]);
    int sum = sum_behind_mean(form, mean);
    if (sum < 0 || form.graph.at(sum).operands[0] != difference.operands[0]) return std::nullopt;
    return MergeLaw{MergeLaw::Kind::squares, reduction.id, mean.id, sum};
}

std::optional<MergeLaw> law_of(const LoopForm& form, const Node& reduction) {
    const Node& value = form.graph.at(reduction.operands[0]);
    if (reduction.op != "sum" || value.family != Family::pointwise) return std::nullopt;
    std::optional<MergeLaw> law = exponential_law(form, reduction, value);
    return law ? law : squares_law(form, reduction, value);
}

}  // namespace

std::optional<std::vector<MergeLaw>> merge_laws(const LoopForm& form) {
    if (form.passes != 2) return std::nullopt;
    for (int k : form.full_outputs())
        if (form.stage(form.graph.outputs[static_cast<size_t>(k)]) != 2) return std::nullopt;
    std::vector<MergeLaw> laws;
    for (int id : form.reductions(1)) {
        std::optional<MergeLaw> law = law_of(form, form.graph.at(id));
        if (!law) return std::nullopt;
        // Nothing else of the first pass may enter: it would still be provisional.
        for (int used : cone(form, {form.graph.at(id).operands[0]}, {law->reference}))
            if (used != law->reference && form.stage(used) > 0 && !form.full(used)) return std::nullopt;
        laws.push_back(*law);
    }
    return laws;
}

namespace {

// NaN in, NaN out.
bool propagates(const Node& node) {
    static const std::set<std::string> ops = {"add", "subtract", "multiply", "divide",     "negative",
                                              "exp", "log",      "sum",      "reciprocal", "exp_nonpositive"};
    bool computed = node.family == Family::pointwise || node.family == Family::reduction;
    return !computed || ops.contains(node.op) || node.op == "max" || node.op == "max_number";
}

bool reaches_every_output(const LoopForm& form, int id) {
    return std::all_of(form.graph.outputs.begin(), form.graph.outputs.end(), [&](int output) {
        std::vector<int> behind = cone(form, {output}, {});
        return std::find(behind.begin(), behind.end(), id) != behind.end();
    });
}

}  // namespace

void use_known_maxima(LoopForm& form, bool fused_multiply_add) {
    if (!std::all_of(form.graph.nodes.begin(), form.graph.nodes.end(), propagates)) return;
    for (const Node& sum : form.graph.nodes) {
        if (sum.family != Family::reduction || sum.op != "sum" || !reaches_every_output(form, sum.id)) continue;
        Node& value = form.graph.nodes[static_cast<size_t>(sum.operands[0])];
        if (value.op != "exp") continue;
        std::optional<MergeLaw> law = exponential_law(form, sum, value);
        if (!law) continue;
        Node& largest = form.graph.nodes[static_cast<size_t>(law->reference)];
        if (largest.operands[0] != form.graph.at(value.operands[0]).operands[0]) continue;
        largest.op = "max_number";
        if (!fused_multiply_add) continue;
        value.op = "exp_nonpositive";
        Node* scaled = &form.graph.nodes[static_cast<size_t>(largest.operands[0])];
        while (scaled->op == "negative") scaled = &form.graph.nodes[static_cast<size_t>(scaled->operands[0])];
        if (scaled->op == "multiply") scaled->op = "rounded_product";
    }
}

}  // namespace strop::playbook
