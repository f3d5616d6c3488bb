// Our Python scripts that run a user's code, in a sandboxed child.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "base/clock.h"
#include "sandbox/process.h"

namespace strop {

// python/strop/NAME with these arguments; it sees `folder` as its working folder. EnvironmentError when there is no
// Python, no NumPy or, where it is needed, no PyTorch. Ends early once `stop` says so.
sandbox::Finished run_script(const std::string& name, const std::vector<std::string>& arguments,
                             const std::string& input, const std::filesystem::path& folder, Seconds limit,
                             const std::function<bool()>& stop = {});

// The last line that is JSON: what ran may have printed before; all of it where there is no such line.
std::string last_document(const std::string& out);

// What such a script printed as one document, of the user's file that it read. UsageError where it did not end well
// ("FILE: WHAT ended: ..." with the hint), or refuses the file.
nlohmann::json answer_of(const sandbox::Finished& finished, const std::filesystem::path& file, const std::string& what,
                         const std::string& hint);

// "KeyError: 'x'": the last line of a traceback.
std::string last_line(const std::string& text);

}  // namespace strop
