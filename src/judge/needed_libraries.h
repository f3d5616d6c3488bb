// The shared libraries that this program cannot start without, beside those of every C++ program.
#pragma once

#include <filesystem>
#include <vector>

namespace strop::judge {

// As they were found when it was started, each under the name that it is asked for by. What was opened later, such as a
// driver, belongs to this machine and is none of them.
std::vector<std::filesystem::path> needed_libraries();

}  // namespace strop::judge
