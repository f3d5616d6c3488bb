#include "problem/loader.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/error.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/strings.h"
#include "problem/cpp_reference.h"
#include "problem/problem_reader.h"

namespace strop {

namespace {

// Where bare names are looked up.
std::vector<fs::path> problem_folders() {
    std::vector<fs::path> folders = {"problems"};
    try {
        folders.push_back(home_folder() / "problems");
    } catch (const EnvironmentError&) {
        // Without Strop's own files there are only the user's problems.
    }
    return folders;
}

bool is_there(const fs::path& path) {
    std::error_code failed;
    return fs::exists(path, failed);
}

[[noreturn]] void fail_unknown(const std::string& name) {
    std::vector<std::string> names;
    for (const fs::path& folder : problem_folders())
        for (const ProblemSummary& summary : list_problems(folder))
            if (std::find(names.begin(), names.end(), summary.name) == names.end()) names.push_back(summary.name);
    throw UsageError(fmt::format("'{}': no such problem", name), suggestion(name, names));
}

// Its function is not read: what the extents of its pointers are only its author knows.
std::string how_cpp_becomes_a_problem(const fs::path& file) {
    return fmt::format(
        "write problem.yaml beside it: 'name: FUNCTION', 'reference: {}', 'inputs: {{x: {{dtype: float32, shape: "
        "[M, N]}}}}', 'outputs: {{y: {{dtype: float32, shape: [M]}}}}', 'shapes: {{usual: {{M: 1024, N: 1024}}}}' "
        "(docs/problems.md)",
        file.filename().string());
}

fs::path problem_file(const std::string& path) {
    std::error_code failed;
    fs::path given(path);
    if (fs::is_regular_file(given, failed)) {
        if (given.extension() == ".yaml" || given.extension() == ".yml") return given;
        throw UsageError(
            fmt::format("'{}': not a problem", path),
            is_cpp(given) ? how_cpp_becomes_a_problem(given) : "name a folder with a problem.yaml, or that file");
    }
    if (is_there(given / "problem.yaml")) return given / "problem.yaml";
    bool bare = !path.empty() && path.find('/') == std::string::npos && path != "." && path != "..";
    if (bare)
        for (const fs::path& folder : problem_folders())
            if (is_there(folder / path / "problem.yaml")) return folder / path / "problem.yaml";
    if (!path.empty() && fs::is_directory(given, failed))
        throw UsageError(fmt::format("'{}': no problem.yaml in this folder", path),
                         "a problem is a folder with problem.yaml and reference.py, or another reference");
    if (bare) fail_unknown(path);
    throw UsageError(fmt::format("'{}': no such file or folder", path),
                     "name a problem, its folder or its problem.yaml");
}

void add(std::string& text, const std::vector<Tensor>& tensors) {
    for (const Tensor& tensor : tensors) {
        text += fmt::format("tensor {} {} {}", tensor.name, name_of(tensor.dtype), name_of(tensor.fill));
        for (const Expression& extent : tensor.shape) text += fmt::format(" [{}]", extent.text());
        if (tensor.scale != 1) text += fmt::format(" scale {}", tensor.scale);
        if (tensor.from) text += fmt::format(" from {}", *tensor.from);
        text += tensor.limit ? fmt::format(" limit {}\n", tensor.limit->text()) : "\n";
    }
}

// Everything that decides what is computed, judged and measured; not where the files lie.
std::string hash_of(const Problem& problem) {
    std::string text = fmt::format("problem {} {} {}\n", problem.name, problem.function, join(problem.tags, ","));
    add(text, problem.inputs);
    add(text, problem.outputs);
    for (const Parameter& parameter : problem.parameters)
        text += fmt::format("parameter {} {} {}\n", parameter.name, name_of(parameter.dtype), parameter.value);
    text += fmt::format("dimensions {}\n", join(problem.dimensions, ","));
    for (const ShapePoint& point : problem.points)
        text += fmt::format("point {} {}\n", point.label, describe(point.dims));
    for (const auto& [name, range] : problem.range)
        text += fmt::format("range {} {} {}\n", name, range.low, range.high);
    for (const Expression& condition : problem.require) text += fmt::format("require {}\n", condition.text());
    if (problem.tolerance)
        text += fmt::format("tolerance {} {}\n", problem.tolerance->absolute, problem.tolerance->relative);
    if (problem.flops) text += fmt::format("flops {}\n", problem.flops->text());
    if (problem.bytes) text += fmt::format("bytes {}\n", problem.bytes->text());
    text += fmt::format("reference {}\n", content_hash(reference_text(problem.reference)));
    for (const fs::path& baseline : problem.baselines)
        text += fmt::format("baseline {} {}\n", baseline.filename().string(), content_hash(read_file(baseline)));
    return content_hash(text);
}

}  // namespace

Problem load_problem(const std::string& path) {
    fs::path file = problem_file(path);
    return parse_problem(read_file(file), file);
}

Problem parse_problem(const std::string& text, const fs::path& file) {
    Problem problem = ProblemReader(text, file).read();
    problem.hash = hash_of(problem);
    return problem;
}

std::vector<ProblemSummary> list_problems(const fs::path& folder) {
    std::vector<ProblemSummary> summaries;
    std::error_code failed;
    for (const fs::directory_entry& entry : fs::directory_iterator(folder, failed)) {
        if (!is_there(entry.path() / "problem.yaml")) continue;
        ProblemSummary summary;
        summary.name = entry.path().filename();
        summary.folder = fs::absolute(entry.path());
        try {
            Problem problem = load_problem(entry.path() / "problem.yaml");
            summary.problem = problem.name;
            summary.hash = problem.hash;
            summary.tags = problem.tags;
            summary.points = problem.points.size();
        } catch (const Error& error) {
            summary.error = error.what();
        }
        summaries.push_back(summary);
    }
    std::sort(summaries.begin(), summaries.end(),
              [](const ProblemSummary& a, const ProblemSummary& b) { return a.name < b.name; });
    return summaries;
}

}  // namespace strop
