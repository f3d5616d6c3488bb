// Verdicts of the CUDA emulator on the terminal: shapes that it ran, and those that it had no time for.
#pragma once

#include <string>

#include "core/problem.h"
#include "run/judgement.h"

namespace strop::cli {

// What kernels in that language are checked in, and not timed; empty: they are judged.
std::string stand_in_for(Language language);

void print_emulated(const Problem& problem, const std::string& file, const Judgement& judgement);
// One document; of several kernels each is a line.
void print_emulated_json(const Problem& problem, const std::string& file, const Judgement& judgement,
                         bool one_of_several);

}  // namespace strop::cli
