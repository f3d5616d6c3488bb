// Kernels of recurrences: each thread takes blocks of rows through all steps.
#pragma once

#include "playbook/kernel_source.h"
#include "playbook/recurrence_form.h"

namespace strop::playbook {

// Tunables: VL, ROWS_AT_ONCE, PARALLEL_MIN; NRV with products, TILE where columns may be cut apart.
KernelParts write_recurrence(const RecurrenceForm& form);

}  // namespace strop::playbook
