// What a test needs to compile a kernel with the threads that it asks for.
#pragma once

#include <cstdlib>
#include <string>

#include "base/file.h"
#include "language/contract.h"
#include "language/team_text.h"

namespace strop {

inline std::string with_team(const std::string& source) {
    return asks_for_team(source) ? team_interface() + source : source;
}

// The object file that goes with it, compiled once.
inline std::string team_object() {
    static const TemporaryFolder folder;
    static const std::string object = [] {
        const std::string stem = (folder.path() / "team").string();
        write_file(stem + ".cpp", team_source());
        const std::string command = "g++ -std=c++17 -O2 -fPIC -c -o " + stem + ".o " + stem + ".cpp";
        return std::system(command.c_str()) == 0 ? stem + ".o" : std::string();
    }();
    return object;
}

}  // namespace strop
