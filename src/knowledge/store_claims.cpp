// Work that several runs share. Claims are texts like all others: whoever may write them may write evaluations too, and
// what a run ends with it has judged by itself.
#include <algorithm>
#include <cmath>
#include <numeric>

#include <fmt/format.h>

#include "core/json.h"
#include "knowledge/database.h"

namespace strop {

namespace {

// Another's may be damaged, or of another version: then it is nobody's loss.
std::optional<Evaluation> readable(const std::string& text) try {
    return Json::parse(text).get<Evaluation>();
} catch (const Json::exception&) {
    return std::nullopt;
} catch (const Error&) {
    return std::nullopt;
}

int64_t whole(Seconds seconds) { return static_cast<int64_t>(std::ceil(seconds.count())); }

constexpr const char* done_by_its_run =
    "coalesce((SELECT evaluation FROM evaluations WHERE evaluations.run = claims.run AND evaluations.key = claims.key "
    "ORDER BY +sequence DESC LIMIT 1), '')";

}  // namespace

// In one order, so that two that claim the same do not wait for each other.
std::vector<Claim> Store::claim(const std::string& run, const std::string& work, const std::vector<std::string>& keys,
                                size_t most, Seconds lasting, Seconds recent) {
    Connection& connection = *database_->connection;
    const std::string now = connection.now();
    const std::string look = fmt::format(
        "SELECT run, CASE WHEN claimed < {0} - ?2 THEN 1 ELSE 0 END, "
        "CASE WHEN claimed < {0} - ?3 OR work <> ?4 THEN 1 ELSE 0 END, {1} FROM claims WHERE key = ?1",
        now, done_by_its_run);
    const std::string take = fmt::format(
        "INSERT INTO claims VALUES (?1, ?2, ?3, {0}) ON CONFLICT (key) DO UPDATE SET work = excluded.work, run = "
        "excluded.run, claimed = excluded.claimed WHERE claims.run = excluded.run OR claims.claimed < {0} - ?5 OR "
        "claims.work <> excluded.work OR (claims.claimed < {0} - ?4 AND {1} = '')",
        now, done_by_its_run);
    std::vector<size_t> order(keys.size());
    std::iota(order.begin(), order.end(), 0);
    std::sort(order.begin(), order.end(), [&](size_t a, size_t b) { return keys[a] < keys[b]; });
    std::vector<Claim> claims;
    connection.transaction([&] {
        claims.assign(keys.size(), {});
        std::vector<bool> is_free(keys.size(), true);
        for (size_t i = 0; i < keys.size(); ++i)
            connection.query(look, {keys[i], whole(lasting), whole(recent), work}, [&](const Row& row) {
                const bool is_over = row.integer(1) != 0, is_old = row.integer(2) != 0;
                const std::string owner = row.text(0), evaluation = row.text(3);
                if (owner != run && !is_old && !evaluation.empty())
                    claims[i] = {Claim::State::done, readable(evaluation), owner};
                is_free[i] = owner == run || is_old || (evaluation.empty() && is_over);
            });
        std::vector<bool> wanted(keys.size(), false);
        for (size_t i = 0, left = most; i < keys.size() && left > 0; ++i)
            if (is_free[i]) wanted[i] = true, --left;
        for (size_t i : order) {
            if (!wanted[i]) continue;
            connection.execute(take, {keys[i], work, run, whole(lasting), whole(recent)});
            if (connection.one_text("SELECT run FROM claims WHERE key = ?1", {keys[i]}) == run)
                claims[i].state = Claim::State::mine;
        }
    });
    return claims;
}

void Store::give_up(const std::string& run, const std::vector<std::string>& keys) {
    const std::string statement =
        fmt::format("DELETE FROM claims WHERE key = ?1 AND run = ?2 AND {} = ''", done_by_its_run);
    database_->connection->transaction([&] {
        for (const std::string& key : keys) database_->connection->execute(statement, {key, run});
    });
}

int Store::others_at(const std::string& run, const std::string& work, Seconds lasting) {
    Connection& connection = *database_->connection;
    connection.execute(fmt::format("INSERT INTO claims VALUES (?1, ?2, ?1, {}) ON CONFLICT (key) DO UPDATE SET work = "
                                   "excluded.work, claimed = excluded.claimed",
                                   connection.now()),
                       {run, work});
    int64_t others = 0;
    connection.query(
        fmt::format("SELECT count(*) FROM claims WHERE work = ?1 AND key = run AND run <> ?2 AND claimed >= {} - ?3",
                    connection.now()),
        {work, run, whole(lasting)}, [&](const Row& row) { others = row.integer(0); });
    return static_cast<int>(others);
}

}  // namespace strop
