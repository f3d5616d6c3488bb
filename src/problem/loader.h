// Loads and validates problem.yaml + reference.py. Every message is "FILE:LINE: phrase that names the key", with
// a hint; all are UsageErrors.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "core/problem.h"

namespace strop {

// `path`: a problem folder, its problem.yaml, or a bare name looked up in ./problems and home_folder()/problems.
// An unknown name lists the nearest ones.
Problem load_problem(const std::string& path);

// The same of a text that stands, or might stand, in `file`: an existing one in the problem's folder.
Problem parse_problem(const std::string& text, const std::filesystem::path& file);

struct ProblemSummary {
    std::string name;  // of its folder
    std::filesystem::path folder;
    std::string problem, hash;  // Problem::name and Problem::hash
    std::vector<std::string> tags;
    size_t points = 0;
    std::string error;  // non-empty: why it cannot be loaded
};

// Every folder with a problem.yaml below `folder` (one level), by name.
std::vector<ProblemSummary> list_problems(const std::filesystem::path& folder);

// EnvironmentError ("needs 12 GiB at M=…, 8 GiB are available") when the buffers of a point, with their float64
// expected values, do not fit into this machine's available memory.
void check_memory(const Problem& problem);

}  // namespace strop
