// What the user takes home: a folder with the dispatching kernel, its header, a test that needs nothing of Strop, a
// CMakeLists.txt that builds both, a Python module with its binding, and the reports.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "core/evaluation.h"
#include "core/problem.h"
#include "core/record.h"

namespace strop {

struct ResultFiles {
    std::string source;               // NAME.cpp: the bundle
    std::string compiler_flags;       // what it was measured with: "-O3 -march=native -ffp-contract=fast ..."
    std::vector<TestVector> vectors;  // small cases for the test program
};

// Of the file with the kernel: ".cpp", or ".cu" where it runs on a CUDA device.
std::string source_ending(const RunRecord& record);

// Writes NAME.cpp, NAME.h, NAME_test.cpp, CMakeLists.txt, NAME.py, NAME_python.cpp, report.{html,md,json} into `folder`
// (created); of a kernel for a CUDA device NAME.cu, NAME.h, NAME.py and the reports.
// EnvironmentErrors of write_file pass through.
void write_result(const std::filesystem::path& folder, const Problem& problem, const RunRecord& record,
                  const ResultFiles& files);

// NAME.cpp, NAME.py and NAME_python.cpp: what Python needs.
void write_python_result(const std::filesystem::path& folder, const Problem& problem, const RunRecord& record,
                         const ResultFiles& files);

// The reports alone.
void write_reports(const std::filesystem::path& folder, const RunRecord& record);

}  // namespace strop
