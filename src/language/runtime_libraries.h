// The libraries that a kernel may be linked with: those of the C and C++ languages and of OpenMP. Any other would do
// the work in its place.
#pragma once

#include <string>
#include <vector>

namespace strop {

// Of a library, the files that loading it opens, as the system's loader says; asked of trusted ones only, for the
// loader starts what it is asked about.
std::vector<std::string> needed_libraries(const std::string& library);

// Files of this system; `folders`: those of compilers, beside the loader's own.
std::vector<std::string> runtime_libraries(const std::vector<std::string>& folders);

}  // namespace strop
