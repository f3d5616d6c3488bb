// strop doctor --worker: who answers there, and what is wrong with it.
#pragma once

#include "cli/flags.h"

namespace strop::cli {

// EnvironmentError, after all was printed, when one of them could not be used, or not beside the first.
int look_at_workers(const Arguments& arguments);

}  // namespace strop::cli
