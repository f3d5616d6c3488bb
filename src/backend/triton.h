// A schedule as a Python module of Triton kernels (docs/kernels.md, "Triton").
#pragma once

#include "backend/source_text.h"
#include "schedule/schedule.h"

namespace strop::backend {

SourceText write_triton(const Problem& problem, const schedule::Schedule& schedule);

}  // namespace strop::backend
