// Kernels for scans, as text.
#pragma once

#include "playbook/kernel_source.h"
#include "playbook/scan_form.h"

namespace strop::playbook {

struct ScanPlan {
    enum class Kind {
        prefix,  // rows: each vector is scanned by itself, what came before is added to all of it
        split,   // the same, all threads share each row: they fold their shares first
        panels,  // columns: running values of a few vectors of columns stay in registers
        tiles,   // columns: running values of a tile of them stay in the first cache while rows stream past
    };
    Kind kind = Kind::prefix;
    bool stream = false;  // results past the caches when they are large
};

KernelParts write_scan(const ScanForm& form, const ScanPlan& plan);

}  // namespace strop::playbook
