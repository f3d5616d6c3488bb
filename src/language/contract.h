// The C++ kernel contract: extern "C" void NAME(inputs..., outputs..., parameters..., dimensions...), in the
// problem's order. Inputs are `const T*`, outputs `T*`, parameters by value, dimensions int64_t. Tensors are
// contiguous row-major, aligned to their element only. Inputs and outputs do not overlap.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/kernel.h"
#include "core/problem.h"

namespace strop {

// "const float* x, float* y, float eps, int64_t M, int64_t N"
std::string parameter_list(const Problem& problem);
// "x, y, eps, M, N"
std::string argument_list(const Problem& problem);
// `extern "C" void softmax(const float* x, float* y, int64_t M, int64_t N)`; a long list is broken over lines
std::string signature(const Problem& problem);

// What comes behind a kernel in C++ and does not compile where its function has another signature: linking alone would
// let it be called with what it does not expect. The compiler's message names `declared_signature` as its file.
std::string signature_check(const Problem& problem);
inline constexpr const char* declared_signature = "the signature";

// The same for CUDA C++: `..., int64_t N, cudaStream_t stream)`
std::string cuda_signature(const Problem& problem);
// A declaration of the problem's function with the stream behind everything else.
std::string with_stream(std::string declaration, const std::string& type = "cudaStream_t");

inline constexpr size_t most_late_tunables = 32;
inline constexpr size_t longest_source = 1 << 20;  // bytes

// UsageError when a source is longer than that.
void check_source_size(uintmax_t bytes, const std::string& file);

// Whether `// strop:team` asks for the threads of language/team_text.h.
bool asks_for_team(const std::string& source);
// Whether `// strop:float32` says of a reference that it has no form in float64.
bool asks_for_float32(const std::string& source);

// Reads `// strop:tune`, `// strop:late`, `// strop:require`, `// strop:flags` comments (also with # for Python).
// UsageError "FILE:LINE: ..." when malformed or when a constraint names no tunable.
TunableSpace parse_tunables(const std::string& source, const std::string& file);

// Reads `// strop:when`: the shapes that a kernel is for; none: all. UsageError as above, or when it names something
// else than `names`.
std::optional<Expression> condition_in(const std::string& source, const std::string& file,
                                       const std::vector<std::string>& names);
// UsageError when a condition names something else than a dimension or an integer parameter.
void check_condition(const Expression& condition, const Problem& problem);
// The tunables of the kernel's source, and its condition where it has one.
void read_directives(Kernel& kernel, const Problem& problem, const std::string& file);

// The first value of every tunable when that is valid, else the first valid configuration in order of the
// values. UsageError when no configuration is valid, or none is found after some million steps.
Configuration default_configuration(const TunableSpace& space);
// The default with these values, given as texts by name. UsageError for a name, a value or a combination that the
// space does not have.
Configuration chosen_configuration(const TunableSpace& space, const std::map<std::string, std::string>& values);

}  // namespace strop
