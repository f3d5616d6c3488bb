// Kernels whose programs a driver compiles when they are first called: that happens ahead, where a compiler may run.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "core/problem.h"
#include "language/cpp.h"

namespace strop::judge {

// What tells a driver of OpenCL where it keeps what it has compiled, and how many threads it may use.
std::map<std::string, std::string> driver_environment(const std::filesystem::path& cache, int threads);
// Which drivers of OpenCL there are (the ICD loader's).
inline constexpr const char* driver_list = "/etc/OpenCL";
inline constexpr int64_t cached_file_bytes = int64_t{64} << 20;  // of each file that a driver keeps

// Calls the kernel once at each of the points, smallest first, in a process that has a compiler's rights, with zeros in
// place of the inputs, so that the kernel's own process, which may start no compiler, finds everything in
// `built.cache`. Where the driver refuses the program or a launch, `built` is no longer ok, with the driver's message.
void rehearse(Built& built, const Problem& problem, const std::vector<ShapePoint>& points, int threads);

}  // namespace strop::judge
