// The tables of a store in a PostgreSQL database, its views for people, its versions.
#pragma once

#include <string>

#include "knowledge/connection.h"

namespace strop {

// Makes what is missing; false where there is no store and `make` is false. `shown`: the address, for messages.
bool prepare_postgres(Connection& connection, const std::string& shown, Store::Access access, bool make);

}  // namespace strop
