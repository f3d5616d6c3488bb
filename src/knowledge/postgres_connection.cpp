// A store in a database of a PostgreSQL server.
#include <poll.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdlib>
#include <map>
#include <mutex>
#include <random>
#include <thread>

#include <fmt/format.h>
#include <libpq-fe.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/interrupt.h"
#include "base/line.h"
#include "base/strings.h"
#include "core/json.h"
#include "knowledge/connection.h"
#include "knowledge/postgres_schema.h"

namespace strop {

namespace {

using namespace std::chrono_literals;

constexpr int oldest_server = 120000;                   // 12: the oldest that keeps a floating-point number as it is
constexpr std::chrono::seconds longest_statement{120};  // without any answer
constexpr std::chrono::seconds after_interrupt{5};      // the same, once the user asked to stop
constexpr std::chrono::milliseconds look_again = 200ms;
constexpr int most_collisions = 200;  // with other writers, of one statement or transaction

// The connection is gone: what was asked may or may not have been done.
struct Gone {
    std::string why;
};

// Another writer was faster, and nothing was done: to be tried again.
struct Collision {
    std::string why;
};

using Result = std::unique_ptr<PGresult, void (*)(PGresult*)>;

std::string first_line(const char* message) {
    const std::string text = message ? message : "";
    return one_line(trim(text.substr(0, text.find('\n'))));
}

// Bytes that no text in UTF-8 has become U+FFFD, and so does zero, which PostgreSQL cannot keep.
std::string valid_text(const std::string& text) {
    auto is_plain = [](char c) { return static_cast<unsigned char>(c) < 0x80 && c != 0; };
    if (std::all_of(text.begin(), text.end(), is_plain)) return text;
    const std::string valid = Json::parse(dump(Json(text))).get<std::string>();
    return replace_all(valid, std::string_view("\0", 1), "\xef\xbf\xbd");
}

// A parameter as libpq takes it.
struct Bound {
    std::string text;
    Oid type = 0;

    explicit Bound(const SqlValue& parameter) {
        constexpr Oid int8 = 20, text_type = 25, float8 = 701;
        if (const auto* given = std::get_if<std::string>(&parameter)) text = valid_text(*given), type = text_type;
        else if (const auto* number = std::get_if<int64_t>(&parameter)) text = std::to_string(*number), type = int8;
        else text = fmt::format("{}", std::get<double>(parameter)), type = float8;
    }
};

// "?1" is "$1" there. No statement has a question mark for anything else.
std::string translated(std::string statement) {
    std::replace(statement.begin(), statement.end(), '?', '$');
    return statement;
}

class PostgresRow : public Row {
public:
    PostgresRow(const PGresult* result, int row) : result_(result), row_(row) {}
    std::string text(int column) const override {
        return {PQgetvalue(result_, row_, column), static_cast<size_t>(PQgetlength(result_, row_, column))};
    }
    int64_t integer(int column) const override { return std::atoll(PQgetvalue(result_, row_, column)); }
    double real(int column) const override { return std::strtod(PQgetvalue(result_, row_, column), nullptr); }

private:
    const PGresult* result_;
    int row_;
};

class PostgresConnection : public Connection {
public:
    PostgresConnection(const StoreAddress& address, std::chrono::milliseconds patience, Store::Access access)
        : address_(address),
          shown_(address.shown()),
          patience_(patience),
          lock_patience_(patience),
          access_(access) {
        try {
            connect();
        } catch (const Gone& gone) {
            throw unreachable(gone.why);
        }
    }

    // True once there are tables that fit.
    bool prepare(bool make) { return prepare_postgres(*this, shown_, access_, make); }

    void query(const std::string& statement, const SqlValues& parameters, const RowReader& each) override {
        std::lock_guard lock(mutex_);
        Result result(nullptr, PQclear);
        lasting([&] { result = ask(statement, parameters); });
        for (int row = 0; row < PQntuples(result.get()); ++row) each(PostgresRow(result.get(), row));
    }

    void transaction(const std::function<void()>& work) override {
        std::lock_guard lock(mutex_);
        lasting([&] {
            ask("BEGIN", {});
            in_transaction_ = true;
            try {
                work();
                ask("COMMIT", {});
            } catch (...) {
                roll_back();
                throw;
            }
            in_transaction_ = false;
        });
    }

    std::string now() const override { return "floor(extract(epoch FROM clock_timestamp()))::bigint"; }

    std::string contains(const std::string& column, const std::string& parameter) const override {
        return fmt::format("strpos({}, {}) > 0", column, parameter);
    }

    void be_patient(std::chrono::milliseconds patience) override { patience_ = patience; }
    void tell(std::function<void(const std::string&)> say) override {
        say_ = std::move(say);
        hearing_ = std::this_thread::get_id();
    }

private:
    void say(const std::string& line) const {
        if (say_ && std::this_thread::get_id() == hearing_) say_(line);
    }

    EnvironmentError unreachable(const std::string& why) const {
        std::string hint = "is the server up, and is its address right?";
        if (why.find("password") != std::string::npos)
            hint = "put the password into ~/.pgpass (a file that PGPASSFILE names), or into PGPASSWORD";
        else if (why.find("database") != std::string::npos && why.find("does not exist") != std::string::npos)
            hint = "createdb makes a database; the tables come by themselves";
        return EnvironmentError(fmt::format("{}: cannot be reached: {}", shown_, why), hint);
    }

    // Parameters of the address go first. A connection to a machine that is gone is noticed within half a minute.
    std::map<std::string, std::string> connection_options() const {
        std::map<std::string, std::string> options = address_.options();
        options["client_encoding"] = "UTF8";
        options.emplace("fallback_application_name", "strop");
        if (!std::getenv("PGCONNECT_TIMEOUT")) options.emplace("connect_timeout", "5");
        options.emplace("tcp_user_timeout", "20000");
        options.emplace("keepalives_idle", "10");
        options.emplace("keepalives_interval", "5");
        options.emplace("keepalives_count", "3");
        if (!hidden_password().empty()) options.emplace("password", hidden_password());
        return options;
    }

    void connect() {
        const std::map<std::string, std::string> options = connection_options();
        std::vector<const char*> names, values;
        for (const auto& [name, value] : options) {
            names.push_back(name.c_str());
            values.push_back(value.c_str());
        }
        names.push_back(nullptr);
        values.push_back(nullptr);
        connection_.reset(PQconnectdbParams(names.data(), values.data(), 0));
        if (!connection_) throw std::bad_alloc();
        if (PQstatus(connection_.get()) != CONNECTION_OK) throw Gone{first_line(PQerrorMessage(connection_.get()))};
        PQsetNoticeProcessor(connection_.get(), [](void*, const char*) {}, nullptr);
        if (PQserverVersion(connection_.get()) < oldest_server)
            throw EnvironmentError(
                fmt::format("{}: is PostgreSQL {}", shown_, PQserverVersion(connection_.get()) / 10000),
                fmt::format("a store needs PostgreSQL {} or newer", oldest_server / 10000));
        // Who waits for a lock is told, as by SQLite; who holds one and says nothing loses it.
        ask(fmt::format("SET lock_timeout = {}", std::max<int64_t>(lock_patience_.count(), 1)), {});
        ask("SET idle_in_transaction_session_timeout = '60s'", {});
        if (access_ == Store::Access::read) ask("SET default_transaction_read_only = on", {});
    }

    // Does it, and does it again when the connection was lost or another writer was faster.
    template <class Work>
    void lasting(Work work) {
        if (in_transaction_) return work();  // all of it is done again
        std::optional<Clock::time_point> lost;
        for (int collisions = 0;;) {
            try {
                if (!connection_ || PQstatus(connection_.get()) != CONNECTION_OK) connect();
                work();
                if (lost) say(fmt::format("{} is back", shown_));
                return;
            } catch (const Gone& gone) {
                connection_.reset();
                wait_for_server(lost, gone.why);
            } catch (const Collision& collision) {
                if (++collisions > most_collisions) throw locked(collision.why);
                std::this_thread::sleep_for(std::chrono::microseconds(200 + random_() % 5000));
            }
        }
    }

    void wait_for_server(std::optional<Clock::time_point>& lost, const std::string& why) {
        if (!lost) {
            lost = Clock::now();
            say(fmt::format("{} was lost ({}); waiting for it, at most {} s", shown_, why,
                            std::chrono::ceil<std::chrono::seconds>(patience_).count()));
        }
        if (interrupted() || Clock::now() - *lost >= patience_)
            throw LostStore(fmt::format("{}: was lost and does not come back: {}", shown_, why),
                            "is the server up? what was recorded before is in it");
        std::this_thread::sleep_for(look_again);
    }

    void roll_back() {
        if (connection_ && PQstatus(connection_.get()) == CONNECTION_OK) try {
                ask("ROLLBACK", {});
            } catch (...) {
                connection_.reset();  // which rolls back too
            }
        in_transaction_ = false;
    }

    // One statement, and its answer. Waits where an interrupt is noticed.
    Result ask(const std::string& statement, const SqlValues& parameters) {
        const std::string text = translated(statement);
        std::vector<Bound> bound;
        for (const SqlValue& parameter : parameters) bound.emplace_back(parameter);
        std::vector<const char*> values;
        std::vector<Oid> types;
        for (const Bound& one : bound) {
            values.push_back(one.text.c_str());
            types.push_back(one.type);
        }
        if (!connection_) throw Gone{"the connection was closed"};
        if (!PQsendQueryParams(connection_.get(), text.c_str(), static_cast<int>(values.size()), types.data(),
                               values.data(), nullptr, nullptr, 0))
            throw Gone{first_line(PQerrorMessage(connection_.get()))};
        Result answer(nullptr, PQclear);
        for (;;) {
            wait_for_answer();
            PGresult* next = PQgetResult(connection_.get());
            if (!next) break;
            answer.reset(next);
        }
        check(answer.get());
        return answer;
    }

    void wait_for_answer() {
        const Clock::time_point start = Clock::now();
        while (PQisBusy(connection_.get())) {
            pollfd socket = {PQsocket(connection_.get()), POLLIN, 0};
            ::poll(&socket, 1, static_cast<int>(look_again.count()));
            const auto waited = Clock::now() - start;
            if (waited > longest_statement || (interrupted() && waited > after_interrupt)) {
                connection_.reset();
                throw Gone{"it does not answer"};
            }
            if (!PQconsumeInput(connection_.get())) throw Gone{first_line(PQerrorMessage(connection_.get()))};
        }
    }

    void check(const PGresult* answer) {
        const ExecStatusType status = PQresultStatus(answer);
        if (status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK) return;
        const char* field = answer ? PQresultErrorField(answer, PG_DIAG_SQLSTATE) : nullptr;
        const std::string state = field ? field : "";
        const char* primary = answer ? PQresultErrorField(answer, PG_DIAG_MESSAGE_PRIMARY) : nullptr;
        const std::string why = first_line(primary ? primary : PQerrorMessage(connection_.get()));
        // Shut down, crashed, not yet ready, or the connection broke.
        if (state.empty() || state.starts_with("08") || state.starts_with("57P") ||
            PQstatus(connection_.get()) != CONNECTION_OK)
            throw Gone{why};
        // Serialization, a deadlock, or a number that another writer took first: known keys are no errors anywhere.
        if (state == "40001" || state == "40P01" || state == "23505") throw Collision{why};
        throw explained(state, why);
    }

    EnvironmentError locked(const std::string& why) const {
        return EnvironmentError(fmt::format("{}: is locked by another process: {}", shown_, why),
                                "wait for the other one to finish, then try again");
    }

    EnvironmentError explained(const std::string& state, const std::string& why) const {
        auto make = [&](const std::string& phrase, const std::string& hint) {
            return EnvironmentError(fmt::format("{}: {}", shown_, phrase), hint);
        };
        if (state == "55P03") return locked(why);
        if (state == "53100")
            return make("the server's disk is full", "free some disk space there, then resume the run");
        if (state == "25006") return make("is read-only", "name the server that may be written");
        if (state == "42501")
            return make(why, "its owner may GRANT what is missing (docs/knowledge.md names the tables)");
        if (state.starts_with("42P"))
            return make("is damaged: " + why, "restore the database from a backup, or start another one");
        return make("the database failed: " + why, "see the server's log");
    }

    struct Close {
        void operator()(PGconn* connection) const { PQfinish(connection); }
    };

    StoreAddress address_;
    std::string shown_;
    std::chrono::milliseconds patience_, lock_patience_;
    Store::Access access_;
    std::function<void(const std::string&)> say_;
    std::thread::id hearing_;
    std::recursive_mutex mutex_;  // a transaction asks too
    bool in_transaction_ = false;
    std::unique_ptr<PGconn, Close> connection_;
    std::minstd_rand random_{std::random_device{}()};
};

}  // namespace

std::unique_ptr<Connection> connect_postgres(const StoreAddress& address, std::chrono::milliseconds patience,
                                             Store::Access access, bool make) {
    auto connection = std::make_unique<PostgresConnection>(address, patience, access);
    if (!connection->prepare(make)) return nullptr;
    return connection;
}

}  // namespace strop
