// What a lesson can be tested with: the shipped problems and the playbook's strategies for them.
#pragma once

#include <string>
#include <vector>

#include "core/problem.h"
#include "core/proposer.h"

namespace strop {

struct Testable {
    Problem problem;
    std::vector<Proposal> strategies;  // as the playbook plans them for this machine
};

// Traces them; those that cannot be loaded or traced are left out.
std::vector<Testable> testable_problems();

// For a model: a problem a line, with its strategies and their tunables, then the values of each tunable.
std::string describe(const std::vector<Testable>& testable);

}  // namespace strop
