// The CUDA emulator: a kernel in CUDA C++, rewritten (cuda_source.h) and compiled for the processor with every access
// watched, beside the sources in cuda_emulator/, which run its threads and check what they do. The result is a library
// like that of a kernel in C++, which ends its process with a finding where the kernel has a defect.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "core/evaluation.h"
#include "core/problem.h"

namespace strop {

// The compiler that can do it, by its name among those of kernels.
inline constexpr const char* emulator_compiler = "clang";

// Of a rewritten source; after all others.
std::vector<std::string> emulated_flags();
// What is linked with it, compiled with these flags.
std::vector<std::filesystem::path> emulator_sources();
std::vector<std::string> emulator_flags();
std::filesystem::path emulator_headers();  // their folder

// The adapter from `strop_call`, which copies the tensors to memory of the device and back, to
// NAME(inputs..., outputs..., parameters..., dimensions..., stream).
std::string emulated_call_adapter(const Problem& problem);

// What CUDA has and the emulator has not, by what the compiler says of a source: "cudaGraphLaunch", "cub/cub.cuh".
std::optional<std::string> missing_in_emulator(const std::string& said);

struct EmulatorFinding {
    Verdict verdict;  // nondeterministic: races, and values that nobody wrote; crashed: all others
    std::string evidence;
};
// Out of what the process wrote, one line with the kernel's name and lines of `library`'s source; nothing where there
// is no finding in it.
std::optional<EmulatorFinding> emulator_finding(const std::string& report, const std::filesystem::path& library);

}  // namespace strop
