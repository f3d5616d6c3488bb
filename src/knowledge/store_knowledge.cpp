// The store's digests, relatives, lessons and quarantine.
#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "base/strings.h"
#include "core/json.h"
#include "knowledge/database.h"
#include "knowledge/digest.h"
#include "knowledge/learning.h"

namespace strop {

namespace {

// " a b c ", so that a whole word can be looked for.
std::string words(const std::set<std::string>& each) {
    std::string text = " ";
    for (const std::string& word : each)
        if (!word.empty()) text += lower(word) + " ";
    return text;
}

std::set<std::string> tags_of(const Digest& digest) {
    std::set<std::string> tags(digest.tags.begin(), digest.tags.end());
    tags.insert(digest.problem);
    for (const Digest::Winner& winner : digest.winners) tags.insert(winner.family);
    for (const Digest::DeadEnd& end : digest.dead_ends) tags.insert(end.family);
    return tags;
}

Testimony testimony_at(SQLite::Statement& row) {
    Testimony said{row.getColumn(0).getString(), row.getColumn(1).getString(), Testimony::Kind::drew,
                   row.getColumn(3).getString()};
    for (Testimony::Kind kind : {Testimony::Kind::confirms, Testimony::Kind::contradicts})
        if (row.getColumn(2).getString() == name_of(kind)) said.kind = kind;
    return said;
}

}  // namespace

void put_digest(SQLite::Database& connection, const RunRecord& record) {
    const Digest digest = digest_of(record);
    SQLite::Statement statement(connection, "INSERT OR REPLACE INTO digests VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");
    statement.bind(1, digest.run);
    statement.bind(2, digest.started);
    statement.bind(3, digest.origin);
    statement.bind(4, digest.problem_hash);
    statement.bind(5, digest.fingerprint);
    statement.bind(6, digest.language);
    statement.bind(7, words({digest.cpu, digest.isa, record.machine.architecture, record.device, digest.language,
                             digest.hardware}));
    statement.bind(8, words(tags_of(digest)));
    Json json = digest, effects = json.at("effects");
    json.erase("effects");  // many, and a question about winners would read them all
    statement.bind(9, dump(json));
    statement.bind(10, dump(effects));
    statement.exec();
}

void put_lesson(SQLite::Database& connection, const Lesson& lesson, const std::string& origin) {
    SQLite::Statement statement(
        connection,
        "INSERT INTO lessons VALUES (?, ?, ?) ON CONFLICT (lesson) DO UPDATE "
        "SET origin = excluded.origin, document = excluded.document WHERE excluded.origin = ''");
    statement.bind(1, id_of(lesson));
    statement.bind(2, origin);
    statement.bind(3, dump(Json(lesson)));
    statement.exec();
}

void put_testimony(SQLite::Database& connection, const Testimony& testimony) {
    SQLite::Statement statement(connection, "INSERT OR REPLACE INTO testimonies VALUES (?, ?, ?, ?)");
    statement.bind(1, testimony.lesson);
    statement.bind(2, testimony.run);
    statement.bind(3, name_of(testimony.kind));
    statement.bind(4, testimony.note);
    statement.exec();
}

int KnownLesson::count(Testimony::Kind kind) const {
    return static_cast<int>(
        std::count_if(said.begin(), said.end(), [&](const Testimony& one) { return one.kind == kind; }));
}

std::optional<Signature> Store::signature(const std::string& run) {
    return database_->guard([&]() -> std::optional<Signature> {
        SQLite::Statement statement(*database_->connection,
                                    "SELECT signature, operations FROM signatures WHERE run = ?");
        statement.bind(1, run);
        if (!statement.executeStep()) return std::nullopt;
        return Signature{statement.getColumn(0).getString(),
                         Json::parse(statement.getColumn(1).getString()).get<std::map<std::string, int>>()};
    });
}

// Runs are many, what they compute is not.
std::vector<std::pair<double, std::string>> Store::similar(const Signature& signature, double least_similarity) {
    return database_->guard([&] {
        std::vector<std::pair<double, std::string>> near;
        SQLite::Statement each(*database_->connection, "SELECT signature, min(operations) FROM signatures GROUP BY 1");
        while (each.executeStep()) {
            const Signature other{each.getColumn(0).getString(),
                                  Json::parse(each.getColumn(1).getString()).get<std::map<std::string, int>>()};
            const double alike = similarity(signature, other);
            if (alike >= least_similarity) near.emplace_back(alike, other.exact);
        }
        std::stable_sort(near.begin(), near.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
        return near;
    });
}

std::vector<Relative> Store::relatives(const Signature& signature, double least_similarity, const std::string& isa) {
    const std::vector<std::pair<double, std::string>> near = similar(signature, least_similarity);
    return database_->guard([&] {
        std::vector<Relative> found;
        SQLite::Statement runs(*database_->connection,
                               "SELECT run, origin, cores FROM signatures JOIN digests USING (run) WHERE signature = "
                               "?1 AND (?2 = '' OR isa = ?2) ORDER BY started DESC, digests.rowid DESC");
        for (const auto& [alike, exact] : near) {
            runs.reset();
            runs.bind(1, exact);
            runs.bind(2, isa);
            while (runs.executeStep())
                found.push_back(
                    {alike, runs.getColumn(0).getString(), runs.getColumn(1).getString(), runs.getColumn(2).getInt()});
        }
        return found;
    });
}

std::vector<Digest> Store::digests(const DigestQuery& query) {
    return database_->guard([&] {
        std::string where;
        std::vector<std::string> values;
        auto require = [&](const std::string& condition, const std::string& value) {
            where += (where.empty() ? "WHERE " : " AND ") + condition;
            values.push_back(value);
        };
        for (const std::string& word : split(lower(query.hardware), ' '))
            if (!word.empty()) require("instr(hardware, ?) > 0", word);
        for (const std::string& tag : query.tags) require("instr(tags, ?) > 0", words({tag}));
        if (!query.language.empty()) require("language = ?", query.language);
        if (!query.problem_hash.empty()) require("problem_hash = ?", query.problem_hash);
        if (!query.fingerprint.empty()) require("fingerprint = ?", query.fingerprint);
        if (!query.signature.empty())
            require("run IN (SELECT run FROM signatures WHERE signature = ?)", query.signature);
        SQLite::Statement statement(
            *database_->connection,
            fmt::format(
                "SELECT digest FROM digests WHERE rowid IN (SELECT rowid FROM digests {} "  // in the index alone
                "ORDER BY started DESC, rowid DESC LIMIT ?) ORDER BY started DESC, rowid DESC",
                where));
        int place = 0;
        for (const std::string& value : values) statement.bind(++place, value);
        statement.bind(++place, query.count);
        std::vector<Digest> found;
        while (statement.executeStep()) found.push_back(Json::parse(statement.getColumn(0).getString()).get<Digest>());
        return found;
    });
}

std::optional<Digest> Store::digest(const std::string& run) {
    return database_->guard([&]() -> std::optional<Digest> {
        SQLite::Statement statement(*database_->connection, "SELECT digest, effects FROM digests WHERE run = ?");
        statement.bind(1, run);
        if (!statement.executeStep()) return std::nullopt;
        Json json = Json::parse(statement.getColumn(0).getString());
        json["effects"] = Json::parse(statement.getColumn(1).getString());
        return json.get<Digest>();
    });
}

void Store::add_lesson(const Lesson& lesson, const std::string& origin) {
    database_->guard([&] { put_lesson(*database_->connection, lesson, origin); });
}

void Store::add_testimony(const Testimony& testimony) {
    database_->guard([&] { put_testimony(*database_->connection, testimony); });
}

std::vector<KnownLesson> Store::lessons() {
    return database_->guard([&] {
        std::map<std::string, std::vector<Testimony>> said;
        SQLite::Statement each(*database_->connection, "SELECT * FROM testimonies ORDER BY lesson, run");
        while (each.executeStep()) {
            Testimony one = testimony_at(each);
            said[one.lesson].push_back(std::move(one));
        }
        std::vector<KnownLesson> found;
        SQLite::Statement statement(*database_->connection, "SELECT lesson, origin, document FROM lessons ORDER BY 1");
        while (statement.executeStep())
            found.push_back({Json::parse(statement.getColumn(2).getString()).get<Lesson>(),
                             statement.getColumn(1).getString(), said[statement.getColumn(0).getString()]});
        return found;
    });
}

std::vector<Testimony> Store::testimonies(const std::string& run) {
    return database_->guard([&] {
        SQLite::Statement statement(*database_->connection, "SELECT * FROM testimonies WHERE run = ? ORDER BY lesson");
        statement.bind(1, run);
        std::vector<Testimony> found;
        while (statement.executeStep()) found.push_back(testimony_at(statement));
        return found;
    });
}

std::vector<Lesson> Store::learn(const Digest& digest) {
    std::vector<Lesson> known, fresh;
    std::set<std::string> ids;  // that others drew
    for (const KnownLesson& one : lessons()) {
        known.push_back(one.lesson);
        if (std::any_of(one.said.begin(), one.said.end(), [&](const Testimony& t) { return t.run != digest.run; }))
            ids.insert(id_of(one.lesson));
    }
    const std::vector<Testimony> said = strop::testimonies(digest, known);
    const std::vector<Drawn> drawn = lessons_of(digest);
    database_->guard([&] {
        SQLite::Transaction transaction(*database_->connection, SQLite::TransactionBehavior::IMMEDIATE);
        for (const Testimony& one : said) put_testimony(*database_->connection, one);
        for (const Drawn& one : drawn) {
            if (ids.count(one.testimony.lesson)) continue;
            put_lesson(*database_->connection, one.lesson, "");
            put_testimony(*database_->connection, one.testimony);
            fresh.push_back(one.lesson);
        }
        transaction.commit();
    });
    return fresh;
}

void Store::quarantine(const Quarantined& run) {
    database_->guard([&] {
        SQLite::Statement statement(*database_->connection, "INSERT OR REPLACE INTO quarantine VALUES (?, ?, ?, ?)");
        statement.bind(1, run.run);
        statement.bind(2, run.origin);
        statement.bind(3, run.reason);
        statement.bind(4, run.document);
        statement.exec();
    });
}

void Store::release(const std::string& run) {
    database_->guard([&] {
        SQLite::Statement statement(*database_->connection, "DELETE FROM quarantine WHERE run = ?");
        statement.bind(1, run);
        statement.exec();
    });
}

std::vector<Quarantined> Store::quarantined() {
    return database_->guard([&] {
        SQLite::Statement statement(*database_->connection,
                                    "SELECT run, origin, reason, document FROM quarantine ORDER BY run");
        std::vector<Quarantined> found;
        while (statement.executeStep())
            found.push_back({statement.getColumn(0).getString(), statement.getColumn(1).getString(),
                             statement.getColumn(2).getString(), statement.getColumn(3).getString()});
        return found;
    });
}

}  // namespace strop
