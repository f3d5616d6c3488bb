// Scripts of Kernel Tuner in Python: what they tune, as T1.
#pragma once

#include <filesystem>
#include <string>

namespace strop {

// The T1 description (exchange/kernel_tuner.h reads it) of the script's first call of tune_kernel. It runs in a
// sandboxed child, where Kernel Tuner and packages for GPUs are stand-ins. UsageError where it calls nothing, or tunes
// what T1 has no words for.
std::string t1_of_script(const std::filesystem::path& script);

}  // namespace strop
