// Names that a kernel or a reference cannot carry.
#pragma once

#include <string>

namespace strop {

// A word of C++ or Python, or a macro that kernels may meet.
bool is_keyword(const std::string& name);

// A function of the C library, which an extern "C" kernel of that name would replace.
bool is_library_function(const std::string& name);

}  // namespace strop
