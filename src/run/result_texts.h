// The texts of a result folder's files, as a person would write them. Pure.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "core/problem.h"
#include "core/record.h"
#include "run/result_folder.h"

namespace strop::result {

// A file that is compiled apart, for one of several targets.
struct UnitOptions {
    std::string target, stem;  // "cpu-avx2", "softmax_cpu_avx2"
    bool openmp = false;
    std::vector<std::string> portable, own;  // as below
};

// The flags of the measurements, sorted by who understands them.
struct CompilerOptions {
    std::string compiler;  // "clang 19.1.7"; empty: unknown
    bool clang = false;
    bool openmp = false;  // the source uses it
    bool team = false;    // it has threads of its own
    std::string standard = "17";
    std::vector<std::string> portable;    // GCC and Clang
    std::vector<std::string> own;         // only the compiler that they were measured with; "-mllvm X" is one entry
    std::vector<UnitOptions> units = {};  // of a result for several targets, what asks least of a processor first
};
CompilerOptions compiler_options(const RunRecord& record, const ResultFiles& files);

std::string header_text(const Problem& problem, const CompilerOptions& options);
std::string test_text(const Problem& problem, const std::vector<TestVector>& vectors);
std::string cmake_text(const Problem& problem, const CompilerOptions& options);
std::string python_text(const Problem& problem, const CompilerOptions& options);
// The text of NAME.py and NAME.h of a kernel in CUDA C++.
std::string cuda_python_text(const Problem& problem);
std::string cuda_header_text(const Problem& problem);
std::string binding_text(const Problem& problem);

// NAME.cpp, NAME.py and NAME_python.cpp: what Python needs.
void write_python_files(const std::filesystem::path& folder, const Problem& problem, const CompilerOptions& options,
                        const std::string& source);
// NAME.cpp and all that lies around it, but the reports.
void write_files(const std::filesystem::path& folder, const Problem& problem, const CompilerOptions& options,
                 const std::string& source, const std::vector<TestVector>& vectors);
// NAME_module.py and NAME_original.py, where the problem has them.
void write_module(const std::filesystem::path& folder, const Problem& problem);

// "[M, N//2]"
std::string shape_text(const Tensor& tensor);
// Of whole numbers that were drawn below a limit (indexes): what the kernel was checked with. Empty for others.
std::string values_text(const Tensor& tensor);
// A parameter's value as the shortest number that reads back as the same value of its type: "1e-05", "3",
// "true".
std::string value_text(DType dtype, double value);
// Every @KEY@ replaced.
std::string filled(std::string text, const std::vector<std::pair<std::string, std::string>>& values);

}  // namespace strop::result
