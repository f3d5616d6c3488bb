#include "knowledge/postgres_schema.h"

#include <cstdlib>
#include <iterator>

#include <fmt/format.h>

#include "base/error.h"

namespace strop {

namespace {

// As in a file, with what SQLite has by itself: a number of each row in the order of insertion, which is last because
// statements name no columns, and texts in the order of their bytes. The table of one row is the version.
// A record is a long document, so that who ran where is taken out of it when it is written.
constexpr const char* create_tables[] = {
    R"(CREATE TABLE strop_store (
        only_row boolean PRIMARY KEY DEFAULT true CHECK (only_row), version integer NOT NULL))",
    R"(CREATE TABLE runs (
        run text COLLATE "C" PRIMARY KEY, problem text COLLATE "C" NOT NULL, started text COLLATE "C" NOT NULL,
        outcome text NOT NULL, speedup double precision NOT NULL, baseline text NOT NULL,
        seconds double precision NOT NULL, evaluations integer NOT NULL, result text NOT NULL, record text NOT NULL,
        machine text GENERATED ALWAYS AS (
            CASE WHEN strpos(record, '\u0000') = 0 THEN record::json #>> '{machine,cpu}' END) STORED,
        rowid bigint GENERATED ALWAYS AS IDENTITY))",
    "CREATE INDEX runs_by_start ON runs (started)",
    "CREATE INDEX runs_by_problem ON runs (problem, started)",
    R"(CREATE TABLE evaluations (
        run text COLLATE "C" NOT NULL, sequence bigint NOT NULL, key text COLLATE "C" NOT NULL,
        evaluation text NOT NULL, PRIMARY KEY (run, sequence)))",
    "CREATE INDEX evaluations_by_key ON evaluations (run, key)",
    R"(CREATE TABLE documents (
        run text COLLATE "C" NOT NULL, key text COLLATE "C" NOT NULL, document text NOT NULL, PRIMARY KEY (run, key)))",
    R"(CREATE TABLE signatures (
        run text COLLATE "C" PRIMARY KEY, signature text COLLATE "C" NOT NULL, isa text NOT NULL,
        cores integer NOT NULL, operations text COLLATE "C" NOT NULL))",
    "CREATE INDEX signatures_by_isa ON signatures (isa)",
    "CREATE INDEX signatures_by_signature ON signatures (signature)",
    R"(CREATE TABLE digests (
        run text COLLATE "C" PRIMARY KEY, started text COLLATE "C" NOT NULL, origin text NOT NULL,
        problem_hash text COLLATE "C" NOT NULL, fingerprint text COLLATE "C" NOT NULL, language text NOT NULL,
        hardware text NOT NULL, tags text NOT NULL, digest text NOT NULL, effects text NOT NULL,
        rowid bigint GENERATED ALWAYS AS IDENTITY UNIQUE))",
    "CREATE INDEX digests_by_start ON digests (started)",
    "CREATE INDEX digests_by_problem ON digests (problem_hash, fingerprint)",
    R"(CREATE TABLE lessons (lesson text COLLATE "C" PRIMARY KEY, origin text NOT NULL, document text NOT NULL))",
    R"(CREATE TABLE testimonies (
        lesson text COLLATE "C" NOT NULL, run text COLLATE "C" NOT NULL, kind text NOT NULL, note text NOT NULL,
        PRIMARY KEY (lesson, run)))",
    "CREATE INDEX testimonies_by_run ON testimonies (run)",
    R"(CREATE TABLE quarantine (
        run text COLLATE "C" PRIMARY KEY, origin text NOT NULL, reason text NOT NULL, document text NOT NULL))",
};

constexpr const char* create_claims[] = {
    R"(CREATE TABLE claims (
        key text COLLATE "C" PRIMARY KEY, work text COLLATE "C" NOT NULL, run text COLLATE "C" NOT NULL,
        claimed bigint NOT NULL))",
    "CREATE INDEX claims_by_work ON claims (work)",
};

// For people. A document with a zero byte in one of its texts is shown without what is in it, because PostgreSQL gives
// nothing of such a document.
constexpr const char* create_views[] = {
    R"(CREATE OR REPLACE VIEW runs_view AS
        SELECT run, problem, machine, started::timestamptz AS started, outcome, nullif(speedup, 0) AS speedup,
            nullif(baseline, '') AS baseline, seconds, evaluations,
            nullif((SELECT origin FROM digests WHERE digests.run = runs.run), '') AS origin
        FROM runs)",
    R"(CREATE OR REPLACE VIEW evaluations_view AS
        SELECT evaluations.run, runs.problem, runs.machine, evaluations.sequence,
            CASE WHEN strpos(documents.document, '\u0000') = 0 THEN documents.document::json ->> 'strategy'
            END AS strategy,
            judged.document ->> 'kernel' AS kernel,
            judged.document ->> 'configuration' AS configuration,
            point.value #>> '{point,label}' AS shape,
            CASE WHEN (point.value #>> '{time,median_ns}') ~ '^[0-9.e+-]+$'
                THEN nullif((point.value #>> '{time,median_ns}')::double precision, 0) / 1e9 END AS median_seconds,
            coalesce(point.value ->> 'verdict', judged.document ->> 'verdict') AS verdict
        FROM evaluations
        JOIN runs ON runs.run = evaluations.run
        CROSS JOIN LATERAL (SELECT CASE WHEN strpos(evaluations.evaluation, '\u0000') = 0
            THEN evaluations.evaluation::json END AS document) AS judged
        LEFT JOIN LATERAL json_array_elements(judged.document -> 'points') AS point (value) ON true
        LEFT JOIN documents ON documents.run = evaluations.run
            AND documents.key = 'kernel:' || (judged.document ->> 'kernel'))",
};

// What brings a store to each version, from the first that was in a server on.
struct Step {
    int version;
    void (*apply)(Connection&);
};

constexpr Step steps[] = {{3,
                           [](Connection& connection) {
                               for (const char* statement : create_tables) connection.execute(statement);
                           }},
                          {4, [](Connection& connection) {
                               for (const char* statement : create_claims) connection.execute(statement);
                           }}};
static_assert(steps[std::size(steps) - 1].version == store_version);

// Of a table or view. Not to_regclass, which may answer from what was there when the transaction began.
bool is_there(Connection& connection, const std::string& name) {
    return connection.one_text("SELECT 1 FROM pg_class WHERE relname = ?1 AND pg_table_is_visible(oid)", {name})
        .has_value();
}

// 0: there is no store.
int version_of(Connection& connection) {
    if (!is_there(connection, "strop_store")) return 0;
    return std::atoi(connection.one_text("SELECT version FROM strop_store", {}).value_or("0").c_str());
}

void check_encoding(Connection& connection, const std::string& shown) {
    const std::string encoding = connection.one_text("SHOW server_encoding", {}).value_or("");
    if (encoding != "UTF8")
        throw EnvironmentError(fmt::format("{}: its texts are in {}", shown, encoding),
                               "createdb -T template0 -E UTF8 makes one that takes all texts");
}

void check_place(Connection& connection, const std::string& shown) {
    for (const char* table : {"runs", "evaluations", "documents", "signatures", "digests", "lessons", "testimonies",
                              "quarantine", "claims", "runs_view", "evaluations_view"})
        if (is_there(connection, table))
            throw EnvironmentError(fmt::format("{}: has a table '{}' of another program", shown, table),
                                   "give the store a database of its own: createdb NAME");
}

// One at a time; who comes second finds the work done.
void bring_up_to_date(Connection& connection, const std::string& shown) {
    check_encoding(connection, shown);
    connection.transaction([&] {
        connection.execute("SELECT pg_advisory_xact_lock(hashtext('strop_store'))");
        const int version = version_of(connection);
        if (version == 0) check_place(connection, shown);
        for (const Step& step : steps)
            if (version < step.version) step.apply(connection);
        if (version == store_version) return;
        for (const char* statement : create_views) connection.execute(statement);
        connection.execute(
            "INSERT INTO strop_store (version) VALUES (?1) ON CONFLICT (only_row) DO UPDATE "
            "SET version = excluded.version",
            {store_version});
    });
}

}  // namespace

bool prepare_postgres(Connection& connection, const std::string& shown, Store::Access access, bool make) {
    const int version = version_of(connection);
    if (version > store_version)
        throw EnvironmentError(fmt::format("{}: was written by a newer Strop (store version {}, this one knows {})",
                                           shown, version, store_version),
                               "update Strop, or choose another place with --store or STROP_STORE");
    if (version == store_version) return true;
    if (access == Store::Access::read)
        throw EnvironmentError(version == 0 ? fmt::format("{}: holds no store", shown)
                                            : fmt::format("{}: was written by an older Strop", shown),
                               version == 0 ? "`strop optimize --store URL` makes one"
                                            : fmt::format("`strop runs --store {}` brings it up to date", shown));
    if (version == 0 && !make) return false;
    bring_up_to_date(connection, shown);
    return true;
}

}  // namespace strop
