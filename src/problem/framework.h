// What a reference computes on, by what it imports.
#pragma once

#include <filesystem>
#include <string>

namespace strop {

// "pytorch" where the Python text imports torch: its function takes tensors. Else "numpy".
std::string framework_of_text(const std::string& python);
std::string framework_of(const std::filesystem::path& reference);

}  // namespace strop
