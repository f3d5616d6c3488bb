// Reading C++ as far as kernels need it.
#pragma once

#include <string>

namespace strop {

bool is_word(char c);  // part of a name

// The source with comments, texts and characters blanked, position by position.
std::string code_only(const std::string& source);
// Whether code has this name.
bool mentions(const std::string& code, const std::string& name);
// Pragmas, the header, or a function of its run-time.
bool uses_openmp(const std::string& source);

}  // namespace strop
