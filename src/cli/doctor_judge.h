// The part of `strop doctor` that tries the judge.
#pragma once

#include "cli/flags.h"

namespace strop::cli {

int judge_the_judge(const Arguments& arguments);

}  // namespace strop::cli
