// A schedule as CUDA source: extern "C" void NAME(inputs, outputs, parameters, dimensions, cudaStream_t),
// which launches on that stream and does not wait. Tunables are `strop:` comments and macros. What CUDA
// answers is not looked at: the caller asks cudaGetLastError().
#pragma once

#include "backend/source_text.h"

namespace strop::backend {

// Of what a block keeps of a row, beside some KiB for where its threads meet: devices since sm_80 have that.
inline constexpr int64_t cuda_kept_bytes = 96 << 10;

SourceText write_cuda(const Problem& problem, const schedule::Schedule& schedule);

}  // namespace strop::backend
