// strop setup: hands over to scripts/setup.
#include <cerrno>
#include <cstring>

#include <unistd.h>

#include <fmt/format.h>

#include "base/error.h"
#include "base/file.h"
#include "cli/commands.h"

namespace strop::cli {

int command_setup(const Arguments& arguments) {
    std::string script = (home_folder() / "scripts" / "setup").string();
    if (!fs::exists(script))
        throw UsageError("setup is for a checkout of Strop, and this is an installed one",
                         "install PyTorch or JAX with pip into the Python that STROP_PYTHON names");
    std::vector<std::string> words = {script};
    for (const std::string& package : arguments.all("PACKAGE")) words.push_back(package);
    std::vector<char*> argv;
    for (std::string& word : words) argv.push_back(word.data());
    argv.push_back(nullptr);
    execv(script.c_str(), argv.data());
    throw EnvironmentError(fmt::format("{}: cannot be run: {}", script, std::strerror(errno)),
                           "run ./strop setup in Strop's own folder");
}

}  // namespace strop::cli
