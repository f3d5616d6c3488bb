// A Python file with a PyTorch module (`Model`, `get_inputs`, `get_init_inputs`) as a problem.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace strop {

struct ModuleImport {
    std::string name;                          // of the problem
    std::map<std::string, std::string> files;  // problem.yaml, reference.py, module.py, original.py
    std::vector<std::string> notes;            // what the user should know, one phrase each
};

// Loads the file in a sandboxed child. UsageError when it has no such module, or one that cannot be exported.
ModuleImport import_module(const std::filesystem::path& file);

// As a problem's folder.
void write_import(const ModuleImport& import, const std::filesystem::path& folder);

}  // namespace strop
