// A schedule as a Python module of TileLang kernels (docs/kernels.md, "TileLang").
#pragma once

#include "backend/source_text.h"
#include "schedule/schedule.h"

namespace strop::backend {

SourceText write_tilelang(const Problem& problem, const schedule::Schedule& schedule);

}  // namespace strop::backend
