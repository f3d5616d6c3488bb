// The kind of pages that the user's tensors lie in, from 2 MiB on. Finding a small page costs a kernel that reads a
// tensor once some tenths of its time, and some kernels more than others.
#pragma once

#include "core/problem.h"
#include "judge/shared_memory.h"

namespace strop::judge {

// Huge ones under a reference in NumPy, which asks the system for them, and where the system gives them unasked
// (/sys/kernel/mm/transparent_hugepage/enabled); small ones under PyTorch and C++, which do not ask.
SharedMemory::Pages tensor_pages(const Problem& problem);

}  // namespace strop::judge
