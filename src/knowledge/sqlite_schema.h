// The tables of a store in a file, its versions, and how an older one is brought up to date.
#pragma once

#include <filesystem>

#include <SQLiteCpp/SQLiteCpp.h>

#include "knowledge/connection.h"

namespace strop {

// `connection` is that of `database`, which is open. SQLite's exceptions are for the caller.
void prepare_sqlite(SQLite::Database& database, Connection& connection, const std::filesystem::path& path,
                    Store::Access access);

}  // namespace strop
