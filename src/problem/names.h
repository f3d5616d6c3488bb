// Names that a kernel or a reference cannot carry.
#pragma once

#include <string>

namespace strop {

// A word of C++ or Python, or a macro that kernels may meet.
bool is_keyword(const std::string& name);

// A type that kernels use, which a parameter of that name would hide.
bool is_type_name(const std::string& name);

// A name space, type or function beside a kernel, whose function cannot have that name; a parameter can.
bool is_name_of_kernels(const std::string& name);

// A module that the Python file of a result imports.
bool is_module_of_results(const std::string& name);

// A function of the C library, which an extern "C" kernel of that name would replace.
bool is_library_function(const std::string& name);

}  // namespace strop
