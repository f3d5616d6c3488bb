// Kernels for pooling, as text.
#pragma once

#include "playbook/kernel_source.h"
#include "playbook/window_form.h"

namespace strop::playbook {

struct WindowPlan {
    enum class Kind {
        direct,   // every window is folded where it lies
        folded,   // the rows of a window are folded first, into a row of scratch that all windows of a row
                  // share
        doubled,  // the same; windows along the row are put together from windows of half their length
    };
    Kind kind = Kind::direct;
};

KernelParts write_windows(const WindowForm& form, const WindowPlan& plan);

// Whether windows along the last axis can be read as vectors where they lie.
bool has_direct_windows(const WindowForm& form);

}  // namespace strop::playbook
