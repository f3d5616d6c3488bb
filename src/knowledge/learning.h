// Lessons without a model: what a run's table of effects shows, and what it says of lessons that are known.
#pragma once

#include <vector>

#include "core/digest.h"
#include "core/lesson.h"

namespace strop {

// How far from the best counts: what is nearer than `near` was as good, what is farther than `far` was not.
inline constexpr double near_the_best = 1.03, far_from_the_best = 1.10;

struct Drawn {
    Lesson lesson;
    Testimony testimony;  // of the run that it is drawn from
};
// The strategies that were fastest where one thing limits the shapes, by clearly more than the next; those that were
// far behind everywhere; values of tunables that mattered to a winner.
std::vector<Drawn> lessons_of(const Digest& digest);

// What the run says of lessons on strategies and tunables that it has measured, and to which their conditions fit.
std::vector<Testimony> testimonies(const Digest& digest, const std::vector<Lesson>& lessons);

// Whether it is about what the run was at: its problem, its hardware, a family of its strategies.
bool concerns(const Lesson& lesson, const Digest& digest);

// Two that cannot both hold: opposite advice on the same thing under the same conditions.
bool contradict(const Lesson& a, const Lesson& b);

}  // namespace strop
