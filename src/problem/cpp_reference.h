// A reference in C or C++: its text with the files beside it that it includes, as one source.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace strop {

bool is_cpp(const std::filesystem::path& reference);  // by its ending: .cpp, .cc, .cxx, .c

struct CppReference {
    std::string source;                        // `#include "…"` replaced by what it names, once each
    std::string numbered;                      // the same, with `#line` for the compiler's messages
    std::vector<std::filesystem::path> files;  // that went into it, itself first
};

// UsageError for an included file that lies outside of the reference's folder. One that is not there is left to the
// compiler, which may find it among the system's.
CppReference read_cpp_reference(const std::filesystem::path& reference);

// What the reference says, as prompts show it and hashes mean it: a Python file as it is.
std::string reference_text(const std::filesystem::path& reference);

}  // namespace strop
