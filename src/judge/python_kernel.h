// Kernels in Python: nothing is compiled, an interpreter runs them in the sandbox of all kernels, and
// python/strop/kernel_host.py brings them and the judge together.
#pragma once

#include <filesystem>
#include <vector>

#include "core/kernel.h"
#include "core/problem.h"
#include "judge/buffers.h"
#include "language/cpp.h"
#include "sandbox/process.h"

namespace strop::judge {

// The kernel's file below `folder`, and what is to run it.
Built python_kernel(const Kernel& kernel, const Configuration& configuration, const std::filesystem::path& folder);

// What `command` has to be for such a kernel; `scratch` is a folder that outlives its process. EnvironmentError when
// the library for the interpreter is missing.
void run_python_kernel(const Built& built, const Problem& problem, const std::vector<Buffers*>& points, int threads,
                       int layout_fd, const std::filesystem::path& scratch, sandbox::Command& command);

}  // namespace strop::judge
