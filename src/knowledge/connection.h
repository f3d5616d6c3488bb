// What the store's statements need of a database. One text of a statement serves all databases: parameters are ?1, ?2,
// ..., and what no text says to all of them is a function here.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "knowledge/store.h"
#include "knowledge/store_address.h"

namespace strop {

// One row of a result, while it is shown. Columns count from 0.
class Row {
public:
    virtual ~Row() = default;
    virtual std::string text(int column) const = 0;
    virtual int64_t integer(int column) const = 0;
    virtual double real(int column) const = 0;
};

using SqlValue = std::variant<std::string, int64_t, double>;
using SqlValues = std::vector<SqlValue>;
using RowReader = std::function<void(const Row&)>;

// Errors are EnvironmentErrors that name the store, with a hint.
class Connection {
public:
    virtual ~Connection() = default;

    // A statement that adds something is durable when this returns, outside of a transaction.
    virtual void query(const std::string& statement, const SqlValues& parameters, const RowReader& each) = 0;
    // All of it or nothing. `work` may be called several times and begins from the start each time; it writes nothing
    // that being written twice would change.
    virtual void transaction(const std::function<void()>& work) = 0;
    // An expression for the seconds since 1970, by the database's clock, which all that use it share.
    virtual std::string now() const = 0;
    // An expression that is true where the text of a column has that of a parameter in it.
    virtual std::string contains(const std::string& column, const std::string& parameter) const = 0;

    virtual void be_patient(std::chrono::milliseconds) {}          // see Store
    virtual void tell(std::function<void(const std::string&)>) {}  // see Store

    void execute(const std::string& statement, const SqlValues& parameters = {}) {
        query(statement, parameters, [](const Row&) {});
    }
    // The first column of the first row.
    std::optional<std::string> one_text(const std::string& statement, const SqlValues& parameters) {
        std::optional<std::string> found;
        query(statement, parameters, [&](const Row& row) {
            if (!found) found = row.text(0);
        });
        return found;
    }
};

// Of all databases; each keeps it in a place of its own.
inline constexpr int store_version = 4;

// The file is made unless it is there, and brought up to date; to read only, neither.
std::unique_ptr<Connection> connect_sqlite(const std::filesystem::path& path, std::chrono::milliseconds patience,
                                           Store::Access access);

// The tables are made unless they are there, and brought up to date; to read only, neither. Where `make` is false, null
// instead of making them.
std::unique_ptr<Connection> connect_postgres(const StoreAddress& address, std::chrono::milliseconds patience,
                                             Store::Access access, bool make);

}  // namespace strop
