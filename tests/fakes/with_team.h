// A kernel's source as a file of its own: with the threads that it asks for.
#pragma once

#include <string>

#include "language/contract.h"
#include "language/team_text.h"

namespace strop {

inline std::string with_team(const std::string& source) {
    return asks_for_team(source) ? team_text().includes + team_text().body + source : source;
}

}  // namespace strop
