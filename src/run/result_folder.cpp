#include "run/result_folder.h"

#include <algorithm>
#include <cmath>
#include <set>

#include <fmt/format.h>

#include "base/file.h"
#include "base/strings.h"
#include "language/contract.h"
#include "language/cpp_source.h"
#include "language/team_text.h"
#include "language/units.h"
#include "report/report.h"
#include "run/result_texts.h"

namespace strop {

namespace result {

namespace {

// CMake and its generators have targets of these names.
const std::set<std::string> reserved_targets = {"all",  "clean",   "edit_cache", "help",         "install",
                                                "test", "package", "preinstall", "rebuild_cache"};

bool starts_with_any(const std::string& text, const std::vector<std::string>& prefixes) {
    return std::any_of(prefixes.begin(), prefixes.end(),
                       [&](const std::string& prefix) { return text.rfind(prefix, 0) == 0; });
}

// What every build sets by itself.
bool is_implied(const std::string& flag) {
    return starts_with_any(flag, {"-fopenmp", "-shared", "-fPIC", "-fpic", "-fuse-ld", "-o", "-c", "-g"});
}

bool is_portable(const std::string& flag) {
    static const std::vector<std::string> prefixes = {
        "-O",
        "-D",
        "-march=",
        "-mtune=",
        "-mcpu=",
        "-mprefer-vector-width=",
        "-ffp-contract=",
        "-fmath-errno",
        "-fno-math-errno",
        "-ffast-math",
        "-ftrapping-math",
        "-fno-trapping-math",
        "-fsigned-zeros",
        "-fno-signed-zeros",
        "-fassociative-math",
        "-freciprocal-math",
        "-funroll-loops",
        "-fno-unroll-loops",
        "-fno-exceptions",
        "-fno-rtti",
        "-fomit-frame-pointer",
        "-fno-semantic-interposition",
        "-fstrict-aliasing",
        "-fno-strict-aliasing",
        "-ftree-vectorize",
        "-fno-tree-vectorize",
    };
    return starts_with_any(flag, prefixes);
}

std::string tensor_lines(const std::vector<Tensor>& tensors) {
    std::string text;
    for (const Tensor& tensor : tensors)
        text += fmt::format("//   {:<10} {:<8} {}{}{}\n", tensor.name, c_type(tensor.dtype), shape_text(tensor),
                            is_half(tensor.dtype) ? ", the bits of " + name_of(tensor.dtype) : "", values_text(tensor));
    return text;
}

std::string parameter_lines(const Problem& problem) {
    std::string text;
    for (const Parameter& parameter : problem.parameters)
        text += fmt::format("//   {:<10} {:<8} checked with {}\n", parameter.name, c_type(parameter.dtype),
                            value_text(parameter.dtype, parameter.value));
    return text;
}

std::string dimension_lines(const Problem& problem) {
    std::string text;
    for (const std::string& name : problem.dimensions) {
        auto range = problem.range.find(name);
        text += range == problem.range.end()
                    ? fmt::format("//   {}\n", name)
                    : fmt::format("//   {:<10} {} to {}\n", name, range->second.low, range->second.high);
    }
    for (const Expression& condition : problem.require) text += fmt::format("//   where {}\n", condition.text());
    return text;
}

// The C declaration: signature() without its linkage, continuation lines moved with the first one.
std::string declaration(const Problem& problem) {
    const std::string linkage = "extern \"C\" ";
    std::string text = signature(problem).substr(linkage.size());
    std::string moved;
    for (const std::string& line : split(text, '\n')) {
        size_t indent = line.find_first_not_of(' ');
        bool aligned = indent != std::string::npos && indent > linkage.size();
        moved += (moved.empty() ? "" : "\n") + (aligned ? line.substr(linkage.size()) : line);
    }
    return moved + ";";
}

bool uses_booleans(const Problem& problem) {
    auto is_boolean = [](const auto& value) { return value.dtype == DType::boolean; };
    return std::any_of(problem.inputs.begin(), problem.inputs.end(), is_boolean) ||
           std::any_of(problem.outputs.begin(), problem.outputs.end(), is_boolean) ||
           std::any_of(problem.parameters.begin(), problem.parameters.end(), is_boolean);
}

}  // namespace

std::string values_text(const Tensor& tensor) {
    if (!tensor.limit || is_floating(tensor.dtype)) return "";
    const std::string usual = tensor.dtype == DType::int8 ? fmt::format("-{}", tensor.limit->text()) : "0";
    return fmt::format(", from {} to below {}: the caller's promise, no call checks it",
                       tensor.from ? std::to_string(*tensor.from) : usual, tensor.limit->text());
}

std::string shape_text(const Tensor& tensor) {
    std::vector<std::string> extents;
    for (const Expression& extent : tensor.shape) extents.push_back(extent.text());
    return "[" + join(extents, ", ") + "]";
}

std::string value_text(DType dtype, double value) {
    if (dtype == DType::boolean) return value != 0 ? "true" : "false";
    if (!is_floating(dtype)) return fmt::format("{}", static_cast<int64_t>(value));
    std::string text =
        dtype == DType::float32 ? fmt::format("{}", static_cast<float>(value)) : fmt::format("{}", value);
    bool whole = text.find_first_of(".en") == std::string::npos;
    return whole ? text + ".0" : text;
}

std::string filled(std::string text, const std::vector<std::pair<std::string, std::string>>& values) {
    for (const auto& [key, value] : values) text = replace_all(std::move(text), "@" + key + "@", value);
    return text;
}

CompilerOptions compiler_options(const RunRecord& record, const ResultFiles& files) {
    CompilerOptions options;
    options.compiler = record.compiler.substr(0, record.compiler.find(" -"));
    options.clang = lower(options.compiler).find("clang") != std::string::npos;
    options.openmp = uses_openmp(files.source);
    options.team = has_team(files.source);
    std::vector<std::string> words;
    for (const std::string& word : split(files.compiler_flags, ' '))
        if (!trim(word).empty()) words.emplace_back(trim(word));
    for (size_t i = 0; i < words.size(); ++i) {
        const std::string standard = "-std=c++";
        if (words[i].rfind(standard, 0) == 0) options.standard = words[i].substr(standard.size());
        if (words[i].rfind("-std=", 0) == 0 || is_implied(words[i])) continue;
        std::vector<std::string>& list = is_portable(words[i]) ? options.portable : options.own;
        bool takes_word = words[i] == "-mllvm" || words[i] == "-Xclang" || words[i] == "--param";
        std::string flag = takes_word && i + 1 < words.size() ? words[i] + " " + words[i + 1] : words[i];
        if (takes_word) ++i;
        if (std::find(list.begin(), list.end(), flag) == list.end()) list.push_back(flag);
    }
    return options;
}

std::string header_text(const Problem& problem, const CompilerOptions& options) {
    std::string guard = problem.name + "_H";
    std::transform(guard.begin(), guard.end(), guard.begin(), [](unsigned char c) { return std::toupper(c); });
    const char* form = R"text(#ifndef @guard@
#define @guard@

#include <stdint.h>
@booleans@
#ifdef __cplusplus
extern "C" {
#endif

// Inputs
@inputs@// Outputs, every element of which is written
@outputs@@parameters@@dimensions@//
// Tensors are contiguous and row-major; they need the alignment of their element only. Outputs overlap
// neither inputs nor each other.
@declaration@
@executor@@targets@
#ifdef __cplusplus
}
#endif

#endif  // @guard@
)text";
    std::string parameters = parameter_lines(problem), dimensions = dimension_lines(problem);
    std::vector<std::string> targets;
    for (const UnitOptions& unit : options.units) targets.push_back(unit.target);
    return filled(form, {{"guard", guard},
                         {"booleans", uses_booleans(problem) ? "#include <stdbool.h>\n" : ""},
                         {"inputs", tensor_lines(problem.inputs)},
                         {"outputs", tensor_lines(problem.outputs)},
                         {"parameters", parameters.empty() ? "" : "// Parameters\n" + parameters},
                         {"dimensions", dimensions.empty() ? "" : "// Dimensions\n" + dimensions},
                         {"declaration", declaration(problem)},
                         {"executor", options.team ? set_parallel_declaration(problem.name) : ""},
                         {"targets", targets.empty() ? "" : chooser_declarations(problem.name, targets)}});
}

std::string cuda_header_text(const Problem& problem) {
    std::string text = header_text(problem, {});
    text = replace_all(text, "#include <stdint.h>\n", "#include <cuda_runtime_api.h>\n#include <stdint.h>\n");
    text = replace_all(text, "they need the alignment of their element only.", "they begin at multiples of 16 bytes.");
    return with_stream(text);
}

std::string option_lines(const std::string& target, const std::vector<std::string>& portable,
                         const std::vector<std::string>& own, bool clang) {
    std::string lines;
    if (!portable.empty()) lines += fmt::format("target_compile_options({} PRIVATE {})\n", target, join(portable, " "));
    for (const std::string& flag : own)
        lines += fmt::format("target_compile_options({} PRIVATE \"$<$<CXX_COMPILER_ID:{}>:SHELL:{}>\")\n", target,
                             clang ? "Clang,AppleClang" : "GNU", flag);
    // Vectors are passed between functions of this file only, so that no other compiler's rules for them matter.
    lines += fmt::format("target_compile_options({} PRIVATE \"$<$<CXX_COMPILER_ID:GNU>:-Wno-psabi>\")\n", target);
    return lines;
}

// The files that are compiled for one target each.
std::string unit_lines(const CompilerOptions& options) {
    if (options.units.empty()) return {};
    std::string lines =
        "# A file a target, compiled for it alone. Their order is kept: of inline functions that several files have "
        "the\n"
        "# linker takes the first, which has to be one that every processor executes.\n";
    for (const UnitOptions& unit : options.units) {
        lines += fmt::format("add_library({0} OBJECT {0}.cpp)\n", unit.stem);
        lines += fmt::format("set_target_properties({} PROPERTIES POSITION_INDEPENDENT_CODE ON)\n", unit.stem);
        lines += option_lines(unit.stem, unit.portable, unit.own, options.clang);
        if (unit.openmp)
            lines += fmt::format(
                "find_package(OpenMP REQUIRED COMPONENTS CXX)\n"
                "target_link_libraries({} PRIVATE OpenMP::OpenMP_CXX)\n",
                unit.stem);
    }
    return lines;
}

// Each target by name; one that this processor does not execute is skipped.
std::string target_tests(const Problem& problem, const CompilerOptions& options) {
    std::string lines;
    for (const UnitOptions& unit : options.units)
        lines += fmt::format(
            "add_test(NAME {0} COMMAND {1}_test)\n"
            "set_tests_properties({0} PROPERTIES ENVIRONMENT {2}={3}\n"
            "    SKIP_REGULAR_EXPRESSION \"no target that this processor executes\")\n",
            unit.stem, problem.name, target_variable(problem.name), unit.target);
    return lines;
}

std::string cmake_text(const Problem& problem, const CompilerOptions& options) {
    bool reserved = reserved_targets.count(problem.name) > 0;
    std::string target = reserved ? problem.name + "_kernel" : problem.name;
    const char* form = R"cmake(cmake_minimum_required(VERSION 3.16)
project(@name@ LANGUAGES CXX)

if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "" FORCE)
endif()
set(CMAKE_CXX_STANDARD @standard@)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)

@units@add_library(@target@ SHARED @name@.cpp@objects@)
@rename@target_include_directories(@target@ PUBLIC ${CMAKE_CURRENT_SOURCE_DIR})
@options@@threads@
enable_testing()
add_executable(@name@_test @name@_test.cpp)
target_link_libraries(@name@_test PRIVATE @target@)
add_test(NAME @name@ COMMAND @name@_test)
@tests@)cmake";
    std::string flags, objects;
    if (!options.compiler.empty())
        flags += fmt::format("# Measured with {}; another compiler makes other code.\n", options.compiler);
    flags += option_lines(target, options.portable, options.own, options.clang);
    for (const UnitOptions& unit : options.units) objects += fmt::format("\n    $<TARGET_OBJECTS:{}>", unit.stem);
    std::string threads;
    if (options.openmp)
        threads +=
            "find_package(OpenMP REQUIRED COMPONENTS CXX)\n"
            "target_link_libraries(@target@ PRIVATE OpenMP::OpenMP_CXX)\n";
    if (options.team)
        threads +=
            "find_package(Threads REQUIRED)\n"
            "target_link_libraries(@target@ PRIVATE Threads::Threads ${CMAKE_DL_LIBS})\n";
    std::string rename = "set_target_properties(@target@ PROPERTIES OUTPUT_NAME @name@)\n";
    return filled(form, {{"options", flags},
                         {"units", unit_lines(options)},
                         {"objects", objects},
                         {"tests", target_tests(problem, options)},
                         {"threads", threads},
                         {"rename", reserved ? rename : ""},
                         {"target", target},
                         {"name", problem.name},
                         {"standard", options.standard}});
}

// A problem that was imported from a module's file brings the text of a module with the same interface.
void write_module(const fs::path& folder, const Problem& problem) {
    std::error_code failed;
    const fs::path module = problem.folder / "module.py", original = problem.folder / "original.py";
    if (!fs::is_regular_file(module, failed) || !fs::is_regular_file(original, failed)) return;
    write_file(folder / (problem.name + "_module.py"), filled(read_file(module), {{"name", problem.name}}));
    write_file(folder / (problem.name + "_original.py"), read_file(original));
}

void write_python_files(const fs::path& folder, const Problem& problem, const CompilerOptions& options,
                        const std::string& source) {
    write_file(folder / (problem.name + ".cpp"), source);
    write_file(folder / (problem.name + ".py"), python_text(problem, options));
    write_file(folder / (problem.name + "_python.cpp"), binding_text(problem));
}

void write_files(const fs::path& folder, const Problem& problem, const CompilerOptions& options,
                 const std::string& source, const std::vector<TestVector>& vectors) {
    write_python_files(folder, problem, options, source);
    write_file(folder / (problem.name + ".h"), header_text(problem, options));
    write_file(folder / (problem.name + "_test.cpp"), test_text(problem, vectors));
    write_file(folder / "CMakeLists.txt", cmake_text(problem, options));
    write_module(folder, problem);
}

}  // namespace result

namespace {

bool runs_on_cuda(const RunRecord& record) { return record.settings.device == "cuda"; }

}  // namespace

std::string source_ending(const RunRecord& record) { return runs_on_cuda(record) ? ".cu" : ".cpp"; }

void write_result(const std::filesystem::path& folder, const Problem& problem, const RunRecord& record,
                  const ResultFiles& files) {
    if (runs_on_cuda(record)) {
        write_file(folder / (problem.name + source_ending(record)), files.source);
        write_file(folder / (problem.name + ".h"), result::cuda_header_text(problem));
        write_file(folder / (problem.name + ".py"), result::cuda_python_text(problem));
        write_reports(folder, record);
        return;
    }
    result::write_files(folder, problem, result::compiler_options(record, files), files.source, files.vectors);
    write_reports(folder, record);
}

void write_python_result(const std::filesystem::path& folder, const Problem& problem, const RunRecord& record,
                         const ResultFiles& files) {
    result::write_python_files(folder, problem, result::compiler_options(record, files), files.source);
}

void write_reports(const std::filesystem::path& folder, const RunRecord& record) {
    write_file(folder / "report.html", report::html(record));
    write_file(folder / "report.md", report::markdown(record));
    write_file(folder / "report.json", report::json(record));
}

}  // namespace strop
