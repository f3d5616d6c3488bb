// Recurrences over independent rows, with their tunables and first guesses.
#include <algorithm>

#include <fmt/format.h>

#include "playbook/choice.h"
#include "playbook/recurrence_form.h"
#include "playbook/recurrence_text.h"

namespace strop::playbook {

namespace {

constexpr int64_t most_weights = 1 << 17;  // of float32: half a MiB beside what else is in a core's second cache

// Rows that one thread has at the first shape, of so many threads; at most eight at a time.
int64_t rows_at_once(const Problem& problem, const RecurrenceForm& form, int threads) {
    if (problem.points.empty()) return 4;
    const Bindings bindings = bindings_of(problem, problem.points.front().dims);
    const int64_t rows = form.rows.substitute(form.original).evaluate_integer(bindings) / std::max(1, threads);
    return rows >= 8 ? 8 : rows >= 4 ? 4 : rows >= 2 ? 2 : 1;
}

// Elements of all right operands, at the first shape.
int64_t weights_of(const Problem& problem, const RecurrenceForm& form) {
    if (problem.points.empty()) return 0;
    const Bindings bindings = bindings_of(problem, problem.points.front().dims);
    int64_t total = 0;
    for (const RecurrenceForm::Phase& phase : form.phases)
        for (const RowProduct& product : phase.products)
            total += (product.depth * product.columns).substitute(form.original).evaluate_integer(bindings);
    return total;
}

void add_shared_columns(const Problem& problem, const Graph& graph, const Machine& machine, double confidence,
                        Recipes& result) {
    const RecurrenceForm form = recurrence_form(problem, graph, RecurrenceShare::columns);
    if (!form.lacks.empty()) return;
    const KernelParts kernel = write_recurrence(form);
    const int64_t columns = form.phases[1].loops[0].columns.evaluate_integer({});
    const int64_t lanes = std::max(4, machine.vector_bytes / 4);
    if (!kernel.lacks.empty() || columns % lanes != 0) return;
    const Choice<int> choice = {
        1, "columns_of_each_step",
        "the threads share the columns of each step, so that each has its part of the weights in "
        "its own cache; the next step waits for all",
        "memory", confidence};
    KernelSource source(form.problem, choice.hypothesis);
    source.tune_vectors(machine, false);
    const int64_t at_once = rows_at_once(problem, form, 1);
    source.tune("ROWS_AT_ONCE", {4, 1, 2, 8}, at_once);
    source.tune("NRV", {1, 2, 4}, columns % (4 * lanes) == 0 && at_once < 4 ? 4 : columns % (2 * lanes) == 0 ? 2 : 1);
    source.require(fmt::format("{} % (NRV * VL) == 0", columns));
    source.late("PARALLEL_MIN", {65536, 16384, 262144, 1048576}, 65536);
    result.recipes.push_back(recipe_of(choice, "recurrence", source, kernel));
    std::stable_sort(result.recipes.begin(), result.recipes.end(),
                     [](const Recipe& a, const Recipe& b) { return a.strategy.confidence > b.strategy.confidence; });
}

}  // namespace

Recipes emit_recurrence(const Problem& problem, const Graph& graph, const Machine& machine) {
    const RecurrenceForm form = recurrence_form(problem, graph);
    if (!form.lacks.empty()) return {{}, form.lacks};
    const KernelParts kernel = write_recurrence(form);
    if (!kernel.lacks.empty()) return {{}, kernel.lacks};
    const bool large = weights_of(problem, form) > most_weights;
    const Choice<int> rows = {0, "rows_through_steps",
                              "rows do not depend on each other: a thread takes some of them through all steps, with "
                              "their state in the first cache and no barrier between steps",
                              "memory", large ? 0.4 : 0.6};
    KernelSource source(form.problem, rows.hypothesis);
    source.tune_vectors(machine, false);
    const bool products = form.phases.size() > 1;
    const int64_t at_once = rows_at_once(problem, form, machine.cores);
    source.tune("ROWS_AT_ONCE", {4, 1, 2, 8}, products ? at_once : 1);
    if (products) source.tune("NRV", {2, 1, 4}, at_once < 4 ? 4 : 2);
    if (!form.whole_rows) source.late("TILE", {1024, 256, 512, 4096}, 1024);
    source.late("PARALLEL_MIN", {65536, 16384, 262144, 1048576}, 65536);
    Recipes result{{recipe_of(rows, "recurrence", source, kernel)}, ""};
    if (machine.cores > 1) add_shared_columns(problem, graph, machine, large ? 0.6 : 0.3, result);
    exclude_each_other(result.recipes);
    return result;
}

}  // namespace strop::playbook
