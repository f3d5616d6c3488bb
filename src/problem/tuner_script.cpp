#include "problem/tuner_script.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/file.h"
#include "problem/python_script.h"

namespace strop {

namespace {

constexpr Seconds script_limit{60};

}  // namespace

std::string t1_of_script(const fs::path& script) {
    read_file(script);  // says so where it is missing
    const fs::path path = fs::canonical(script);
    const sandbox::Finished finished =
        run_script("import_tuner.py", {path.string()}, {}, path.parent_path(), script_limit);
    if (finished.timed_out)
        throw UsageError(
            fmt::format("{}: did not call tune_kernel within {:.0f} s", script.string(), script_limit.count()),
            "make what it does before that quick");
    return answer_of(finished, script, "it", "write a T1 description by hand").at("t1").dump();
}

}  // namespace strop
