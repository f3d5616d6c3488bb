// How commands that only read come to the store.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "cli/flags.h"
#include "knowledge/store.h"

namespace strop::cli {

// What --store names, else the standard one.
StoreAddress store_address(const Arguments& arguments);

// For a run: opened or created, and waited for as --store-wait says when its server goes away.
std::unique_ptr<Store> store_of_run(const Arguments& arguments);

// --share: whether its screenings are shared with other runs of that store.
bool shares_work(const Arguments& arguments);

// Null when there is none: reading creates nothing. With --store there must be one (UsageError).
std::unique_ptr<Store> existing_store(const Arguments& arguments);

// The run that the positional RUN names; a UsageError with the nearest names when there is none.
RunRecord load_named_run(const Arguments& arguments);

}  // namespace strop::cli
