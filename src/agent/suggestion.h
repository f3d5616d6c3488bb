// A model's choice of tunable values for a kernel that is there: for people who want that; the tuner needs none.
#pragma once

#include <string>
#include <vector>

#include "agent/briefing.h"
#include "agent/panel.h"

namespace strop::agent {

struct Suggestion {
    Configuration configuration;  // a member of the kernel's space
    std::string reason;
};

// At most `count`. `losses`: one line for each that the space does not have, or why there is none.
std::vector<Suggestion> suggest(const Kernel& kernel, const Briefing& briefing, Panel& panel, size_t count,
                                std::vector<std::string>& losses);

}  // namespace strop::agent
