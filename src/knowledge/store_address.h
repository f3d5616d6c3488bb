// Where a store is: a file, or a database of a PostgreSQL server. A password leaves this only for the connection.
#pragma once

#include <concepts>
#include <filesystem>
#include <map>
#include <string>

namespace strop {

class StoreAddress {
public:
    StoreAddress() = default;
    // A path, or "postgresql://USER@HOST/DATABASE" (also "postgres://"). UsageError for an address of another kind.
    template <std::convertible_to<std::filesystem::path> Text>
    StoreAddress(const Text& text) : StoreAddress(std::filesystem::path(text)) {}
    StoreAddress(const std::filesystem::path& text);

    // $STROP_STORE, else ./strop-out/strop.db
    static StoreAddress standard();

    bool is_server() const;
    std::filesystem::path file() const { return given_; }
    // What libpq makes of a server's address, by its names: host, port, user, dbname, password, ... UsageError, with
    // nothing of the address in it, where that cannot be read.
    std::map<std::string, std::string> options() const;
    bool has_password() const;
    const std::string& given() const { return given_; }  // with the password: for nobody else's eyes
    // For messages, records and pages: without passwords. Opens the same store where the password is known otherwise.
    std::string shown() const;

private:
    std::string given_;
};

// Takes a server's address in STROP_STORE and PGPASSWORD out of the environment, which processes that are started
// inherit. What asks for them in this process still gets them. For the beginning of main.
void hide_store_passwords();
// What PGPASSWORD was when it was hidden; empty: it was not there.
const std::string& hidden_password();

// Overwrites passwords of a server's address in a word of the command line, which every user of the machine can list.
void blank_store_password(char* word);

}  // namespace strop
