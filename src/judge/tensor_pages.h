// The kind of pages that the user's tensors lie in, from 2 MiB on. Finding a small page costs a kernel that reads a
// tensor once some tenths of its time, and some kernels more than others.
#pragma once

#include "core/problem.h"
#include "judge/shared_memory.h"

namespace strop::judge {

// Small ones under PyTorch, JAX and C++, which do not ask the system for huge ones, and under a reference in NumPy that
// has a baseline in PyTorch or JAX here: its result is called beside that (run/in_process.h). Huge ones under NumPy
// alone, which asks for them, and where the system gives them unasked (/sys/kernel/mm/transparent_hugepage/enabled).
SharedMemory::Pages tensor_pages(const Problem& problem);

}  // namespace strop::judge
