// A reader of kernels. What it finds is in many honest ones too, and what it does not find proves nothing: whoever is
// marked is looked at as closely in a screening as a winner is, and that is all.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace strop::judge {

// What of a source and of the library that was made of it is worth a close look, one phrase each: "calls mremap",
// "keeps a pointer between calls".
std::vector<std::string> tripwires(const std::string& source, const std::filesystem::path& library);

}  // namespace strop::judge
