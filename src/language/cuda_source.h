// CUDA C++ as C++ for the emulator: launches, variables that a block shares and a few words are rewritten in place, on
// the same lines; everything else is for the headers in cuda_emulator/include.
#pragma once

#include <string>

namespace strop {

// UsageError "FILE:LINE: ..." for inline assembly, and for a launch that does not end.
std::string emulated_cuda(const std::string& source, const std::string& file);

}  // namespace strop
