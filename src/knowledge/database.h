// What the store's own files share. Nobody else includes this.
#pragma once

#include <memory>
#include <string>

#include "base/error.h"
#include "core/json.h"
#include "knowledge/connection.h"
#include "knowledge/store.h"

namespace strop {

struct Store::Database {
    StoreAddress address;
    std::unique_ptr<Connection> connection;

    // Runs `work`, and says of which store a document is damaged.
    template <class Work>
    auto guard(Work work) {
        try {
            return work();
        } catch (const Json::exception& error) {
            throw EnvironmentError(address.shown() + ": is corrupt: " + error.what(),
                                   address.is_server() ? "restore the database from a backup, or start another one"
                                                       : "move it away to start afresh");
        }
    }
};

// One statement each.
void put_digest(Connection& connection, const RunRecord& record);
void put_lesson(Connection& connection, const Lesson& lesson, const std::string& origin);
void put_testimony(Connection& connection, const Testimony& testimony);

}  // namespace strop
