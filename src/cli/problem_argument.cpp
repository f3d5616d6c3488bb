#include "cli/problem_argument.h"

#include <cstdio>

#include <fmt/format.h>

#include "base/error.h"
#include "base/file.h"
#include "problem/loader.h"
#include "problem/module_import.h"

namespace strop::cli {

Problem problem_argument(const std::string& given) {
    std::error_code failed;
    if (fs::path(given).extension() != ".py" || fs::is_directory(given, failed)) return load_problem(given);
    ModuleImport import = import_module(given);
    fs::path folder = fs::absolute("strop-out/problems") / import.name;
    write_import(import, folder);
    for (const std::string& note : import.notes) fmt::print(stderr, "! {}\n", note);
    return load_problem(folder.string());
}

}  // namespace strop::cli
