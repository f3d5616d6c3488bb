// Files of others as problems: a Python file with a PyTorch module (`Model`, `get_inputs`, `get_init_inputs`), a
// definition of flashinfer-bench (JSON), a folder with a task of GPU MODE (task.yml, reference.py), a Python file with
// an operator of TritonBench and its test.
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

// Whether import_module takes it: a .py or .json file, or a folder with task.yml and without problem.yaml.
bool is_importable(const std::filesystem::path& given);

// Loads it in a sandboxed child. UsageError when it has no such module, or one that cannot be exported.
// `dtype`: "bfloat16" or "float16", to which a module's tensors are moved; empty: as they are. UsageError for what is
// no module then. `reference`: "FILE.py:FUNCTION", for an operator of TritonBench; UsageError for all else.
ModuleImport import_module(const std::filesystem::path& given, const std::string& dtype = {},
                           const std::string& reference = {});

// As a problem's folder.
void write_import(const ModuleImport& import, const std::filesystem::path& folder);

}  // namespace strop
