// A schedule as an OpenCL program (docs/kernels.md: tunables, buffers and launches are comments).
#pragma once

#include "backend/source_text.h"

namespace strop::backend {

SourceText write_opencl(const Problem& problem, const schedule::Schedule& schedule);

}  // namespace strop::backend
