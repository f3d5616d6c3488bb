// Where Strop's other programs lie: beside the one that runs. EnvironmentError where one is missing.
#pragma once

#include <filesystem>

namespace strop::judge {

std::filesystem::path worker_program();
std::filesystem::path candidate_program();
std::filesystem::path candidate_library();  // the same for an interpreter to load

}  // namespace strop::judge
