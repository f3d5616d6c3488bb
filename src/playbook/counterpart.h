// The same strategy in another language: C++ kernels come from emitters, those of all other languages from schedules,
// and the two name what they do by their own ids.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "core/kernel.h"

namespace strop::playbook {

struct Counterpart {
    std::string strategy;             // its id there
    std::vector<std::string> cannot;  // what the other language does not express, a phrase each
    std::string refused;              // non-empty: why there is no strategy
};

// `available`: ids of the strategies that the other language has for the problem.
Counterpart counterpart(const std::string& strategy, Language from, Language to,
                        const std::set<std::string>& available);

}  // namespace strop::playbook
