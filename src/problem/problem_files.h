// The files of a problem, for a worker that may or may not see its folder: which they are, whether they are there, and
// the files by value.
#pragma once

#include <filesystem>
#include <map>
#include <string>

#include "core/problem.h"

namespace strop {

inline constexpr size_t most_problem_bytes = size_t{16} << 20;  // that travel

// By name, from the problem's folder on: problem.yaml, the reference, the baselines, and of the folder's other files
// those that one of these mentions (a Python module by the name that it is imported under, a folder of modules with all
// of them).
using FileMarks = std::map<std::string, std::string>;     // name -> what tells this content from others
using FileContents = std::map<std::string, std::string>;  // name -> bytes

FileMarks marks_of_files(const Problem& problem);

// Whether `folder` holds them, with the same content.
bool holds(const std::filesystem::path& folder, const FileMarks& marks);

// UsageErrors name the file that lies outside of the folder, leaves it by a link, or is too large to travel.
FileContents read_files(const Problem& problem, const FileMarks& marks);

// Into an empty folder. UsageErrors for names that would lead out of it, and where it is too much.
void write_files(const std::filesystem::path& folder, const FileContents& contents);

}  // namespace strop
