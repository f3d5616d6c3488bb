// What `strop profile` found, in the forms that people and programs read. Pure.
#pragma once

#include <string>
#include <vector>

#include "core/machine.h"
#include "core/profile.h"
#include "core/record.h"

namespace strop::report {

struct ProfileReport {
    std::string kernel, problem;  // the file, the problem's name
    std::string compiler, strop_version;
    Machine machine;
    Profile profile;
    std::vector<Diagnosis> diagnoses;  // one a point of the profile
    std::vector<ShapeReport> shapes;   // likewise: time, least work and roofline
};

std::string profile_json(const ProfileReport& report);
std::string profile_terminal(const ProfileReport& report, bool color, int width);
// One self-contained page: the roofline with every shape, and for each its diagnosis and its hottest loops.
std::string profile_html(const ProfileReport& report);

// "memory, at its ceiling".
std::string limit_text(const Diagnosis& diagnosis);
// "2.1 instructions a cycle, 120 first_level_misses, ..."; empty: nothing was counted.
std::string counters_text(const PointProfile& profile);

}  // namespace strop::report
