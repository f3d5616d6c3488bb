#include "cli/problem_argument.h"

#include <cstdio>
#include <set>

#include <fmt/format.h>

#include "base/error.h"
#include "base/file.h"
#include "problem/module_import.h"

namespace strop::cli {

Problem problem_argument(const std::string& given, const std::string& dtype) {
    if (!is_importable(given)) {
        Problem problem = load_problem(given);
        if (dtype.empty()) return problem;
        throw UsageError(
            fmt::format("--dtype {}: {} says its types itself", dtype, (problem.folder / "problem.yaml").string()),
            "write 'dtype: " + dtype + "' there; --dtype is for Python files with a PyTorch module");
    }
    ModuleImport import = import_module(given, dtype);
    fs::path folder = fs::absolute("strop-out/problems") / import.name;
    write_import(import, folder);
    for (const std::string& note : import.notes) fmt::print(stderr, "! {}\n", note);
    return load_problem(folder.string());
}

std::vector<ProblemSummary> known_problems() {
    std::error_code failed;
    std::vector<ProblemSummary> problems;
    std::set<std::string> names;
    for (const fs::path& place : {fs::path("problems"), home_folder() / "problems"}) {
        if (!fs::is_directory(place, failed)) continue;
        for (const ProblemSummary& problem : list_problems(place))
            if (names.insert(problem.name).second) problems.push_back(problem);
    }
    return problems;
}

}  // namespace strop::cli
