// strop query: what finished runs found, of all problems or of those that compute like one.
#include <algorithm>

#include <fmt/format.h>

#include "base/error.h"
#include "cli/commands.h"
#include "cli/problem_argument.h"
#include "cli/store_access.h"
#include "core/json.h"
#include "graph/signature.h"
#include "problem/trace.h"
#include "run/earlier.h"

namespace strop::cli {

namespace {

constexpr size_t most_runs = 20;

struct Found {
    RunRecord record;
    double similarity = 0;   // only with --similar
};

Signature signature_of_problem(const std::string& given) {
    const Problem problem = problem_argument(given);
    const Graph graph = parse_graph(trace_reference(problem));
    if (!graph.untraceable.empty())
        throw UsageError(fmt::format("{}: the reference cannot be traced: {}", problem.name, graph.untraceable),
                         "leave --similar out to see all runs");
    return signature_of(simplify(graph));
}

std::vector<Found> find(Store& store, const std::string& like) {
    std::vector<std::pair<double, std::string>> near;
    const Signature wanted = like.empty() ? Signature{} : signature_of_problem(like);
    for (const SignedRun& run : store.signed_runs()) {
        const double alike = similarity(wanted, run.signature);
        if (like.empty() || alike >= least_similarity) near.emplace_back(alike, run.run);
    }
    std::stable_sort(near.begin(), near.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
    near.resize(std::min(near.size(), most_runs));
    std::vector<Found> found;
    for (const auto& [alike, run] : near)
        if (std::optional<RunRecord> record = store.load_run(run)) found.push_back({std::move(*record), alike});
    return found;
}

Json to_document(const std::vector<Found>& found, bool similar) {
    Json document = Json::array();
    for (const auto& [record, alike] : found) {
        Json winners = Json::array(), lost = Json::array();
        for (const Regime& regime : record.regimes)
            winners.push_back({{"strategy", regime.strategy},
                               {"configuration", configuration_to_json(regime.configuration)},
                               {"points", regime.points}});
        for (const Strategy& strategy : record.strategies)
            if (strategy.state == Strategy::State::pruned)
                lost.push_back({{"strategy", strategy.id}, {"reason", strategy.reason}});
        document.push_back({{"run", record.run}, {"problem", record.problem}, {"cpu", record.machine.cpu},
                            {"isa", record.machine.isa}, {"cores", record.machine.cores},
                            {"outcome", name_of(record.outcome)}, {"speedup", record.headline.ratio},
                            {"baseline", record.headline_baseline}, {"winners", winners}, {"lost", lost}});
        if (similar) document.back()["similarity"] = alike;
    }
    return document;
}

std::string to_text(const std::vector<Found>& found, bool similar) {
    if (found.empty()) return "nothing is known; `strop optimize PROBLEM` finds out\n";
    std::string text;
    for (const auto& [record, alike] : found) {
        text += fmt::format("{} on {}, {} cores ({})", record.problem, record.machine.isa, record.machine.cores, record.run);
        if (similar) text += fmt::format(", {:.0f}% alike", 100 * alike);
        if (!record.headline_baseline.empty())
            text += fmt::format(": {:.2f}x over {}", record.headline.ratio, record.headline_baseline);
        text += "\n";
        for (const Regime& regime : record.regimes)
            text += fmt::format("  won   {}  {}\n", regime.strategy, describe(regime.configuration));
        for (const Strategy& strategy : record.strategies)
            if (strategy.state == Strategy::State::pruned)
                text += fmt::format("  lost  {}: {}\n", strategy.id, strategy.reason);
    }
    return text;
}

}  // namespace

int command_query(const Arguments& arguments) {
    std::vector<Found> found;
    const std::string like = arguments.text("--similar");
    if (std::unique_ptr<Store> store = existing_store(arguments)) found = find(*store, like);
    fmt::print("{}", arguments.has("--json") ? dump(to_document(found, !like.empty()), 2) + "\n"
                                             : to_text(found, !like.empty()));
    return 0;
}

}  // namespace strop::cli
