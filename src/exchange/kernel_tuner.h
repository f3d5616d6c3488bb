// Kernel Tuner's cache files, and the T1 and T4 formats of the auto-tuning community (FAIR auto-tuning).
//
// All readers take the text and the name of its file for messages; errors are UsageError "FILE: line 7: …"
// for bad JSON and "FILE: key 'tune_params.MWG': …" for what has a wrong form.
#pragma once

#include <string>

#include "tune/measured_space.h"

namespace strop::exchange {

// A cache of Kernel Tuner, closed or left open by a crash ("…," without its last braces). Failures are told
// by
// `__error__` or by an objective that is a text (CompilationFailedConfig, RuntimeFailedConfig, InvalidConfig,
// ErrorConfig).
tune::MeasuredSpace read_kernel_tuner(const std::string& text, const std::string& file);
// Opens in Kernel Tuner's simulation mode: one entry a line, keys as Python's str() of the values.
std::string write_kernel_tuner(const tune::MeasuredSpace& space);
// The entry's key in a cache: the one that it was read under, else Python's str() of the values with commas.
std::string key_of(const tune::MeasuredSpace& space, const tune::Measured& entry);

// T1: a description without measurements. Values are texts ("[16, 32]"), conditions Python expressions.
tune::MeasuredSpace read_t1(const std::string& text, const std::string& file);
// The space without its measurements.
std::string write_t1(const tune::MeasuredSpace& space);

// T4: results without a list of values; the space holds the values that occur.
tune::MeasuredSpace read_t4(const std::string& text, const std::string& file);
std::string write_t4(const tune::MeasuredSpace& space);

}  // namespace strop::exchange
