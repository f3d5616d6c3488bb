// strop query: what finished runs found: on some hardware, under some tags, or of problems that compute like one.
#include <algorithm>

#include <fmt/format.h>

#include "base/error.h"
#include "base/line.h"
#include "base/strings.h"
#include "cli/commands.h"
#include "cli/lesson_line.h"
#include "cli/problem_argument.h"
#include "cli/store_access.h"
#include "core/json.h"
#include "graph/signature.h"
#include "knowledge/learning.h"
#include "problem/trace.h"
#include "run/earlier.h"

namespace strop::cli {

namespace {

constexpr int64_t most_runs = 20;

struct Found {
    Digest digest;
    double similarity = 0;  // only with --similar
};

struct Answer {
    std::vector<Found> runs;
    std::vector<KnownLesson> lessons;  // on the hardware and families of those runs
};

// Known of a run of the same problem, else traced.
Signature signature_of_problem(Store& store, const std::string& given) {
    const Problem problem = problem_argument(given);
    DigestQuery same;
    same.problem_hash = problem.hash;
    same.count = 1;
    for (const Digest& digest : store.digests(same))
        if (std::optional<Signature> known = store.signature(digest.run)) return *known;
    const Graph graph = parse_graph(trace_reference(problem));
    if (!graph.untraceable.empty())
        throw UsageError(fmt::format("{}: the reference cannot be traced: {}", problem.name, graph.untraceable),
                         "leave --similar out to see all runs");
    return signature_of(simplify(graph));
}

DigestQuery query_of(const Arguments& arguments) {
    DigestQuery query;
    query.hardware = arguments.text("HARDWARE");
    query.language = arguments.text("--language");
    query.count = most_runs;
    for (const std::string& tag : split(arguments.text("--tags"), ','))
        if (!trim(tag).empty()) query.tags.emplace_back(trim(tag));
    return query;
}

std::vector<Found> find_runs(Store& store, const Arguments& arguments) {
    DigestQuery query = query_of(arguments);
    std::vector<Found> found;
    auto take = [&](double similarity) {
        for (Digest& digest : store.digests(query)) found.push_back({std::move(digest), similarity});
        query.count = most_runs - static_cast<int64_t>(found.size());
    };
    if (!arguments.has("--similar")) {
        take(0);
        return found;
    }
    const Signature wanted = signature_of_problem(store, arguments.text("--similar"));
    for (const auto& [similarity, signature] : store.similar(wanted, least_similarity)) {
        if (query.count == 0) break;
        query.signature = signature;
        take(similarity);
    }
    return found;
}

Answer find(Store& store, const Arguments& arguments) {
    Answer answer{find_runs(store, arguments), {}};
    if (store.runs({}, 0, 1).empty()) answer.lessons = store.lessons();  // of documents
    if (answer.runs.empty()) return answer;
    for (KnownLesson& known : store.lessons())
        if (std::any_of(answer.runs.begin(), answer.runs.end(),
                        [&](const Found& found) { return concerns(known.lesson, found.digest); }))
            answer.lessons.push_back(std::move(known));
    return answer;
}

Json run_document(const Digest& digest) {
    Json winners = Json::array(), lost = Json::array();
    for (const Digest::Winner& winner : digest.winners)
        winners.push_back({{"strategy", winner.strategy},
                           {"configuration", configuration_to_json(winner.configuration)},
                           {"points", winner.points},
                           {"bound", winner.bound},
                           {"roofline_share", winner.roofline_share}});
    for (const Digest::DeadEnd& end : digest.dead_ends)
        lost.push_back({{"strategy", end.strategy}, {"reason", end.reason}});
    return {{"run", digest.run},           {"problem", digest.problem}, {"origin", digest.origin},
            {"cpu", digest.cpu},           {"isa", digest.isa},         {"cores", digest.cores},
            {"language", digest.language}, {"outcome", digest.outcome}, {"speedup", digest.speedup},
            {"baseline", digest.baseline}, {"winners", winners},        {"lost", lost},
            {"open", digest.open}};
}

Json to_document(const Answer& answer, bool similar) {
    Json runs = Json::array(), lessons = Json::array();
    for (const auto& [digest, alike] : answer.runs) {
        runs.push_back(run_document(digest));
        if (similar) runs.back()["similarity"] = alike;
    }
    for (const KnownLesson& known : answer.lessons)
        lessons.push_back({{"lesson", known.lesson},
                           {"origin", known.origin},
                           {"confirmations", known.count(Testimony::Kind::confirms)},
                           {"contradictions", known.count(Testimony::Kind::contradicts)},
                           {"withdrawn", known.withdrawn()},
                           {"said", known.said}});
    return {{"runs", runs}, {"lessons", lessons}};
}

std::string run_text(const Digest& digest, const std::string& alike) {
    std::string text = fmt::format("{} on {}, {} cores ({}{}){}", digest.problem, digest.isa, digest.cores, digest.run,
                                   digest.origin.empty() ? "" : ", imported from " + digest.origin, alike);
    if (digest.speedup > 0) text += fmt::format(": {:.2f}x over {}", digest.speedup, digest.baseline);
    text = one_line(text) + "\n";
    for (const Digest::Winner& winner : digest.winners) {
        text += fmt::format("  won   {}  {}", one_line(winner.strategy), one_line(describe(winner.configuration)));
        if (winner.roofline_share > 0)
            text += fmt::format("  {:.0f}% of the roofline ({})", 100 * winner.roofline_share, one_line(winner.bound));
        text += "\n";
    }
    for (const Digest::DeadEnd& end : digest.dead_ends)
        text += "  lost  " + one_line(fmt::format("{}: {}", end.strategy, end.reason)) + "\n";
    for (const std::string& strategy : digest.open)
        text += "  open  " + one_line(strategy + ": was planned and never measured") + "\n";
    return text;
}

std::string to_text(const Answer& answer, bool similar) {
    if (answer.runs.empty() && answer.lessons.empty()) return "nothing is known; `strop optimize PROBLEM` finds out\n";
    std::string text;
    for (const auto& [digest, alike] : answer.runs)
        text += run_text(digest, similar ? fmt::format(", {:.0f}% alike", 100 * alike) : "");
    if (!answer.lessons.empty()) text += "lessons\n";
    for (const KnownLesson& known : answer.lessons) text += "  " + lesson_line(known) + "\n";
    return text;
}

}  // namespace

int command_query(const Arguments& arguments) {
    Answer answer;
    if (std::unique_ptr<Store> store = existing_store(arguments)) answer = find(*store, arguments);
    const bool similar = arguments.has("--similar");
    fmt::print("{}", arguments.has("--json") ? dump(to_document(answer, similar), 2) + "\n" : to_text(answer, similar));
    return 0;
}

}  // namespace strop::cli
