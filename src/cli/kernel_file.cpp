#include "cli/kernel_file.h"

#include <fmt/format.h>

#include "base/error.h"
#include "base/file.h"
#include "language/contract.h"
#include "problem/loader.h"

namespace strop::cli {

Kernel read_kernel(const std::string& given, const std::string& hint) {
    fs::path file = fs::absolute(given);
    if (!fs::is_regular_file(file)) throw UsageError(fmt::format("{}: there is no such kernel", given), hint);
    Kernel kernel;
    kernel.source = read_file(file);
    kernel.id = kernel.strategy = file.stem().string();
    kernel.author = "a person";
    kernel.space = parse_tunables(kernel.source, given);
    return kernel;
}

Problem problem_of_kernel(const Arguments& arguments) {
    std::string folder = arguments.text("--problem");
    return load_problem(folder.empty() ? fs::absolute(arguments.text("KERNEL")).parent_path().string() : folder);
}

}  // namespace strop::cli
