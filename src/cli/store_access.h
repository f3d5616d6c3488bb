// How commands that only read come to the store.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "cli/flags.h"
#include "knowledge/store.h"

namespace strop::cli {

// The file that --store names, else the standard one.
std::filesystem::path store_path(const Arguments& arguments);

// Null when the file does not exist: reading creates nothing. With --store it must exist (UsageError).
std::unique_ptr<Store> existing_store(const Arguments& arguments);

// The run that the positional RUN names; a UsageError with the nearest names when there is none.
RunRecord load_named_run(const Arguments& arguments);

}  // namespace strop::cli
