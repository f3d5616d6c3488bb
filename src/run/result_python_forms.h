// The parts of NAME.py as texts with @places@ that result_python.cpp fills. Pure data.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace strop::result::form {

extern const char* const head;
extern const char* const refuse_check;
extern const char* const shape_check;
extern const char* const array_of_scalar;
extern const char* const expect_check;
extern const char* const output_check;
extern const char* const overlap_check;
// Of those that a problem needs.
extern const char* const outputs_check;
extern const char* const bfloat16_type;
extern const char* const integer_check;
extern const char* const number_check;
extern const char* const require_check;
extern const char* const ceildiv_function;
// How the library is compiled and loaded; its places for one source, and for one of several targets.
extern const char* const loading;
extern const std::vector<std::pair<std::string, std::string>> of_one_source;
extern const std::vector<std::pair<std::string, std::string>> of_units;
extern const char* const target_functions;
// Of a kernel in CUDA C++.
extern const char* const gpu_head;
extern const char* const gpu_shape_check;
extern const char* const gpu_output_check;
extern const char* const gpu_loading;

}  // namespace strop::result::form
