// Kernels of problems with 16-bit tensors. Their functions see elements of a type that is a float where it is read and
// rounds where it is written, so that all but the pointers' types is written as for float32; the function of the
// contract, whose pointers are to bits, calls them.
#pragma once

#include <set>
#include <string>

#include "core/problem.h"

namespace strop::playbook {

// "bfloat16" and "float16" are types of the source, see half_types(); else c_type.
std::string element_type(DType dtype);
std::string element_type(const Problem& problem, const std::string& tensor);
// parameter_list() over these types.
std::string typed_parameters(const Problem& problem);

// The head of the function that computes: signature(), or that of the one which typed_entry() calls.
std::string function_head(const Problem& problem);
// Behind that function: the one of the contract, where another one computes; else nothing.
std::string typed_entry(const Problem& problem);

// The types, for scalar code; and how vectors of them are read and written, with those of `used` (vector_prelude) that
// memory is accessed by. Nothing where there are no such tensors.
std::string half_types(const Problem& problem);
std::string half_vectors(const Problem& problem, const std::set<std::string>& used);
// Functions that take `float*`, then the same for each of the problem's 16-bit types.
std::string for_each_type(const Problem& problem, const std::string& functions);
// What these sources call their own.
const std::set<std::string>& half_words();

}  // namespace strop::playbook
