// The store's digests, relatives, lessons and quarantine.
#include <algorithm>
#include <limits>
#include <set>

#include <fmt/format.h>

#include "base/strings.h"
#include "core/json.h"
#include "knowledge/database.h"
#include "knowledge/digest.h"
#include "knowledge/learning.h"

namespace strop {

namespace {

constexpr size_t most_signatures_asked = 500;  // at a time

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

Testimony testimony_at(const Row& row) {
    Testimony said{row.text(0), row.text(1), Testimony::Kind::drew, row.text(3)};
    for (Testimony::Kind kind : {Testimony::Kind::confirms, Testimony::Kind::contradicts, Testimony::Kind::undecided})
        if (row.text(2) == name_of(kind)) said.kind = kind;
    return said;
}

std::map<std::string, int> operations_of(const std::string& text) {
    return Json::parse(text).get<std::map<std::string, int>>();
}

}  // namespace

void put_digest(Connection& connection, const RunRecord& record) {
    const Digest digest = digest_of(record);
    Json json = digest, effects = json.at("effects");
    json.erase("effects");  // many, and a question about winners would read them all
    const std::string hardware =
        words({digest.cpu, digest.isa, record.machine.architecture, record.device, digest.language, digest.hardware});
    connection.execute(
        "INSERT INTO digests VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10) ON CONFLICT (run) DO UPDATE "
        "SET started = excluded.started, origin = excluded.origin, problem_hash = excluded.problem_hash, "
        "fingerprint = excluded.fingerprint, language = excluded.language, hardware = excluded.hardware, "
        "tags = excluded.tags, digest = excluded.digest, effects = excluded.effects",
        {digest.run, digest.started, digest.origin, digest.problem_hash, digest.fingerprint, digest.language, hardware,
         words(tags_of(digest)), dump(json), dump(effects)});
}

void put_lesson(Connection& connection, const Lesson& lesson, const std::string& origin) {
    connection.execute(
        "INSERT INTO lessons VALUES (?1, ?2, ?3) ON CONFLICT (lesson) DO UPDATE "
        "SET origin = excluded.origin, document = excluded.document WHERE excluded.origin = ''",
        {id_of(lesson), origin, dump(Json(lesson))});
}

void put_testimony(Connection& connection, const Testimony& testimony) {
    connection.execute(
        "INSERT INTO testimonies VALUES (?1, ?2, ?3, ?4) ON CONFLICT (lesson, run) DO UPDATE "
        "SET kind = excluded.kind, note = excluded.note",
        {testimony.lesson, testimony.run, name_of(testimony.kind), testimony.note});
}

int KnownLesson::count(Testimony::Kind kind) const {
    return static_cast<int>(
        std::count_if(said.begin(), said.end(), [&](const Testimony& one) { return one.kind == kind; }));
}

std::optional<Signature> Store::signature(const std::string& run) {
    std::optional<Signature> found;
    database_->guard([&] {
        database_->connection->query(
            "SELECT signature, operations FROM signatures WHERE run = ?1", {run},
            [&](const Row& row) { found = Signature{row.text(0), operations_of(row.text(1))}; });
    });
    return found;
}

// Runs are many, what they compute is not.
std::vector<std::pair<double, std::string>> Store::similar(const Signature& signature, double least_similarity) {
    std::vector<std::pair<double, std::string>> near;
    database_->guard([&] {
        database_->connection->query("SELECT signature, min(operations) FROM signatures GROUP BY 1", {},
                                     [&](const Row& row) {
                                         const Signature other{row.text(0), operations_of(row.text(1))};
                                         const double alike = similarity(signature, other);
                                         if (alike >= least_similarity) near.emplace_back(alike, other.exact);
                                     });
    });
    std::stable_sort(near.begin(), near.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
    return near;
}

std::vector<Relative> Store::relatives(const Signature& signature, double least_similarity, const std::string& isa) {
    const std::vector<std::pair<double, std::string>> near = similar(signature, least_similarity);
    std::map<std::string, std::vector<Relative>> runs;  // by signature, the newest first
    for (size_t first = 0; first < near.size(); first += most_signatures_asked) {
        const size_t end = std::min(near.size(), first + most_signatures_asked);
        SqlValues parameters = {isa};
        std::string places;
        for (size_t i = first; i < end; ++i) {
            parameters.push_back(near[i].second);
            places += fmt::format("{}?{}", places.empty() ? "" : ", ", parameters.size());
        }
        database_->connection->query(
            fmt::format("SELECT signature, run, origin, cores FROM signatures JOIN digests USING (run) WHERE signature "
                        "IN ({}) AND (?1 = '' OR isa = ?1) ORDER BY started DESC, digests.rowid DESC",
                        places),
            parameters, [&](const Row& row) {
                runs[row.text(0)].push_back({0, row.text(1), row.text(2), static_cast<int>(row.integer(3))});
            });
    }
    std::vector<Relative> found;
    for (const auto& [alike, exact] : near)
        for (Relative& relative : runs[exact]) {
            relative.similarity = alike;
            found.push_back(std::move(relative));
        }
    return found;
}

std::vector<Digest> Store::digests(const DigestQuery& query) {
    Connection& connection = *database_->connection;
    std::string where;
    SqlValues parameters;
    auto place = [&](const std::string& value) {
        parameters.push_back(value);
        return fmt::format("?{}", parameters.size());
    };
    auto require = [&](const std::string& condition) { where += (where.empty() ? "WHERE " : " AND ") + condition; };
    for (const std::string& word : split(lower(query.hardware), ' '))
        if (!word.empty()) require(connection.contains("hardware", place(word)));
    for (const std::string& tag : query.tags) require(connection.contains("tags", place(words({tag}))));
    if (!query.language.empty()) require("language = " + place(query.language));
    if (!query.problem_hash.empty()) require("problem_hash = " + place(query.problem_hash));
    if (!query.fingerprint.empty()) require("fingerprint = " + place(query.fingerprint));
    if (!query.signature.empty())
        require(fmt::format("run IN (SELECT run FROM signatures WHERE signature = {})", place(query.signature)));
    parameters.emplace_back(query.count < 0 ? std::numeric_limits<int64_t>::max() : query.count);
    std::vector<Digest> found;
    database_->guard([&] {
        connection.query(
            fmt::format(
                "SELECT digest FROM digests WHERE rowid IN (SELECT rowid FROM digests {} "  // in the index alone
                "ORDER BY started DESC, rowid DESC LIMIT ?{}) ORDER BY started DESC, rowid DESC",
                where, parameters.size()),
            parameters, [&](const Row& row) { found.push_back(Json::parse(row.text(0)).get<Digest>()); });
    });
    return found;
}

std::optional<Digest> Store::digest(const std::string& run) {
    std::optional<Digest> found;
    database_->guard([&] {
        database_->connection->query("SELECT digest, effects FROM digests WHERE run = ?1", {run}, [&](const Row& row) {
            Json json = Json::parse(row.text(0));
            json["effects"] = Json::parse(row.text(1));
            found = json.get<Digest>();
        });
    });
    return found;
}

void Store::add_lesson(const Lesson& lesson, const std::string& origin) {
    put_lesson(*database_->connection, lesson, origin);
}

void Store::add_testimony(const Testimony& testimony) { put_testimony(*database_->connection, testimony); }

std::vector<KnownLesson> Store::lessons() {
    std::map<std::string, std::vector<Testimony>> said;
    database_->connection->query("SELECT lesson, run, kind, note FROM testimonies ORDER BY lesson, run", {},
                                 [&](const Row& row) { said[row.text(0)].push_back(testimony_at(row)); });
    std::vector<KnownLesson> found;
    database_->guard([&] {
        database_->connection->query(
            "SELECT lesson, origin, document FROM lessons ORDER BY 1", {}, [&](const Row& row) {
                found.push_back({Json::parse(row.text(2)).get<Lesson>(), row.text(1), said[row.text(0)]});
            });
    });
    return found;
}

void Store::forget_lesson(const std::string& id) {
    Connection& connection = *database_->connection;
    connection.transaction([&] {
        connection.execute("DELETE FROM testimonies WHERE lesson = ?1", {id});
        connection.execute("DELETE FROM lessons WHERE lesson = ?1", {id});
    });
}

std::vector<Testimony> Store::testimonies(const std::string& run) {
    std::vector<Testimony> found;
    database_->connection->query("SELECT lesson, run, kind, note FROM testimonies WHERE run = ?1 ORDER BY lesson",
                                 {run}, [&](const Row& row) { found.push_back(testimony_at(row)); });
    return found;
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
    Connection& connection = *database_->connection;
    connection.transaction([&] {
        fresh.clear();
        for (const Testimony& one : said) put_testimony(connection, one);
        for (const Drawn& one : drawn) {
            if (ids.count(one.testimony.lesson)) continue;
            put_lesson(connection, one.lesson, "");
            put_testimony(connection, one.testimony);
            fresh.push_back(one.lesson);
        }
    });
    return fresh;
}

void Store::quarantine(const Quarantined& run) {
    database_->connection->execute(
        "INSERT INTO quarantine VALUES (?1, ?2, ?3, ?4) ON CONFLICT (run) DO UPDATE "
        "SET origin = excluded.origin, reason = excluded.reason, document = excluded.document",
        {run.run, run.origin, run.reason, run.document});
}

void Store::release(const std::string& run) {
    database_->connection->execute("DELETE FROM quarantine WHERE run = ?1", {run});
}

std::vector<Quarantined> Store::quarantined() {
    std::vector<Quarantined> found;
    database_->connection->query(
        "SELECT run, origin, reason, document FROM quarantine ORDER BY run", {},
        [&](const Row& row) { found.push_back({row.text(0), row.text(1), row.text(2), row.text(3)}); });
    return found;
}

}  // namespace strop
