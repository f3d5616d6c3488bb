// Where the values that a recurrence makes lie in the outputs.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/problem.h"
#include "graph/graph.h"
#include "graph/recurrence.h"
#include "graph/rewrite.h"
#include "playbook/flat_loop.h"
#include "playbook/recurrence_form.h"

namespace strop::playbook {

struct RecurrenceOutputs {
    enum class When { each_step, after_one, after_all };
    struct Written {
        int node = 0;  // of the body; after all steps: what a carry has left
        RowResult::Place place;
        When when = When::each_step;
        int64_t step = 0;  // after this one only
    };
    struct Lead {
        int node = 0;  // that no step changes
        Shape shape;   // of the values that follow it, as a step makes them
        RowResult::Place place;
    };
    std::string lacks;
    std::vector<Written> written;  // by their steps
    std::vector<Lead> leads;
};

// `form`: its problem, rows, steps and names. Leads may add slices to the graph. `flat`: absent for an unrolled loop.
RecurrenceOutputs find_outputs(const RecurrenceForm& form, Graph& graph, const Recurrence& loop, const FlatLoop* flat);

}  // namespace strop::playbook
