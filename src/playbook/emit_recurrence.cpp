// Recurrences over independent rows, with their tunables and first guesses.
#include <algorithm>

#include "playbook/choice.h"
#include "playbook/recurrence_form.h"
#include "playbook/recurrence_text.h"

namespace strop::playbook {

namespace {

// Rows that one thread has at the first shape, at most eight at a time.
int64_t rows_at_once(const RecurrenceForm& form, const Machine& machine) {
    if (form.problem.points.empty()) return 4;
    const Bindings bindings = bindings_of(form.problem, form.problem.points.front().dims);
    const int64_t rows = form.rows.evaluate_integer(bindings) / std::max(1, machine.cores);
    return rows >= 8 ? 8 : rows >= 4 ? 4 : rows >= 2 ? 2 : 1;
}

}  // namespace

Recipes emit_recurrence(const Problem& problem, const Graph& graph, const Machine& machine) {
    const RecurrenceForm form = recurrence_form(problem, graph);
    if (!form.lacks.empty()) return {{}, form.lacks};
    const KernelParts kernel = write_recurrence(form);
    if (!kernel.lacks.empty()) return {{}, kernel.lacks};
    const Choice<int> choice = {0, "rows_through_steps",
                                "rows do not depend on each other: a thread takes some of them through all steps, with "
                                "their state in the first cache and no barrier between steps",
                                "memory", 0.6};
    KernelSource source(form.problem, choice.hypothesis);
    source.tune_vectors(machine, false);
    const bool products = form.phases.size() > 1;
    source.tune("ROWS_AT_ONCE", {4, 1, 2, 8}, products ? rows_at_once(form, machine) : 1);
    if (products) source.tune("NRV", {2, 1, 4}, rows_at_once(form, machine) < 4 ? 4 : 2);
    if (!form.whole_rows) source.late("TILE", {1024, 256, 512, 4096}, 1024);
    source.late("PARALLEL_MIN", {65536, 16384, 262144, 1048576}, 65536);
    return {{recipe_of(choice, "recurrence", source, kernel)}, ""};
}

}  // namespace strop::playbook
