#include "judge/programs.h"

#include <fmt/format.h>

#include "base/error.h"

namespace strop::judge {

namespace fs = std::filesystem;

namespace {

fs::path beside_this_one(const char* name) {
    fs::path file = fs::read_symlink("/proc/self/exe").parent_path() / name;
    if (!fs::exists(file))
        throw EnvironmentError(fmt::format("{}: is missing", file.string()), "build Strop again: ./strop setup");
    return file;
}

}  // namespace

fs::path worker_program() { return beside_this_one("strop-worker"); }
fs::path candidate_program() { return beside_this_one("strop-candidate"); }
fs::path candidate_library() { return beside_this_one("strop-candidate-python.so"); }

}  // namespace strop::judge
