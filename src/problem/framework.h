// What a reference computes on, by what it imports.
#pragma once

#include <filesystem>
#include <string>

namespace strop {

// "pytorch" where the Python text imports torch: its function takes tensors. Else "numpy".
std::string framework_of_text(const std::string& python);
// Whether it imports a module of that name, by a line that begins with `import` or `from`.
bool imports(const std::string& python, const std::string& module);
std::string framework_of(const std::filesystem::path& reference);
// Of a kernel in Python: what it imports; Triton's kernels take tensors. Under a reference in PyTorch it takes tensors
// where it imports neither torch nor numpy, or is in the form of GPU MODE's submissions or KernelBench's modules.
std::string framework_of_kernel(const std::string& python, const std::filesystem::path& reference);

}  // namespace strop
