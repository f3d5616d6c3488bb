// What commands that take a person's KERNEL share: the file and the problem that it solves.
#pragma once

#include <string>

#include "cli/flags.h"
#include "core/kernel.h"
#include "core/problem.h"

namespace strop::cli {

inline constexpr const char* kernel_file_hint =
    "give a C++ file: extern \"C\" void NAME(inputs..., outputs..., dimensions...), or an OpenCL program (.cl)";

// The kernel in that file, with its tunables and its condition. UsageError where there is none, with the hint. Of a
// `.cl` file the source is the C++ host around its program (language/opencl_host.h). A `.cu` or `.py` file is refused.
Kernel read_kernel(const std::string& file, const Problem& problem, const std::string& hint);
// Tells which shapes of the sweep its `strop:when` excludes, if any; gives the labels of the others.
std::vector<std::string> shapes_of_kernel(const std::string& file, const Kernel& kernel, const Problem& problem);

// A kernel in CUDA C++ (.cu); for the device "emulated" rewritten (language/cuda_source.h). UsageError as above.
Kernel read_cuda_kernel(const std::string& file, const Problem& problem, const std::string& device);

// For `strop judge`, which takes Python too. `device`: empty for the processor, "emulated", or a device of CUDA's.
Kernel read_judged_kernel(const std::string& file, const Problem& problem, const std::string& device);

// The configuration that --set chooses among the kernel's tunables; their first values else.
Configuration configuration_of(const Kernel& kernel, const Arguments& arguments);

// Evidence in which the compiler's numbered copy has the file's name again.
std::string with_file_name(const std::string& evidence, const std::string& file);

// --problem, else the folder that the (first) KERNEL lies in.
Problem problem_of_kernel(const Arguments& arguments);
// The same for kernels that are judged, and for those that are compiled too. A UsageError, before anything is loaded,
// for what cannot be.
Problem problem_of_judged(const Arguments& arguments);
Problem problem_of_compiled(const Arguments& arguments);

}  // namespace strop::cli
