// strop import: the problem folder of a file or a task of others.
#include <cstdio>

#include <fmt/format.h>

#include "base/error.h"
#include "base/file.h"
#include "base/strings.h"
#include "cli/commands.h"
#include "problem/loader.h"
#include "problem/module_import.h"

namespace strop::cli {

int command_import(const Arguments& arguments) {
    fs::path folder = arguments.text("DIR");
    std::error_code failed;
    if (fs::exists(folder / "problem.yaml", failed))
        throw UsageError(fmt::format("{}: there is a problem already", folder.string()), "name another folder");
    ModuleImport import =
        import_module(arguments.text("FILE"), arguments.text("--dtype"), arguments.text("--reference"));
    const bool is_new = !fs::exists(folder, failed);
    Problem problem;
    try {
        write_import(import, folder);
        problem = load_problem(folder.string());
    } catch (const UsageError&) {  // what was written must not stand in the way of the next try
        if (is_new) fs::remove_all(folder, failed);
        else fs::remove(folder / "problem.yaml", failed);
        throw;
    }
    for (const std::string& note : import.notes) fmt::print(stderr, "! {}\n", note);
    auto how_many = [](size_t count, std::string_view noun) { return counted(static_cast<int64_t>(count), noun); };
    fmt::print("{}: {}, {}, {}\n", (folder / "problem.yaml").string(), how_many(problem.inputs.size(), "input"),
               how_many(problem.outputs.size(), "output"), how_many(problem.points.size(), "shape"));
    return 0;
}

}  // namespace strop::cli
