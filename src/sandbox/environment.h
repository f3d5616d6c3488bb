// The user's environment, for programs of the user's that need it.
#pragma once

#include <map>
#include <string>

namespace strop::sandbox {

// All variables of this process, for Command::environment.
std::map<std::string, std::string> own_environment();

}  // namespace strop::sandbox
