#include "cli/explanation.h"

#include <algorithm>
#include <limits>

#include <fmt/format.h>

#include "base/strings.h"
#include "cli/table.h"
#include "tune/explain.h"

namespace strop::cli {

namespace {

constexpr size_t best_shown = 5;
constexpr size_t impacts_shown = 12;

tune::Explanation explanation_of(const tune::Space& space, const tune::MeasuredSpace& measured) {
    std::vector<size_t> rows;
    std::vector<double> costs;
    for (const tune::Measured& entry : measured.entries)
        if (std::optional<size_t> row = space.find(entry.configuration)) {
            rows.push_back(*row);
            costs.push_back(cost_of(measured, entry));
        }
    return tune::explain(space, rows, costs);
}

// Successes, the best first.
std::vector<const tune::Measured*> ranked(const tune::MeasuredSpace& measured) {
    std::vector<const tune::Measured*> entries;
    for (const tune::Measured& entry : measured.entries)
        if (entry.failure == tune::Measured::Failure::none) entries.push_back(&entry);
    std::stable_sort(entries.begin(), entries.end(),
                     [&](const auto* a, const auto* b) { return cost_of(measured, *a) < cost_of(measured, *b); });
    return entries;
}

// How much slower a configuration is at each shape than the best for that shape.
std::map<std::string, double> over_shapes(const tune::MeasuredSpace& measured, const tune::Measured& of) {
    std::map<std::string, double> result;
    for (const auto& [name, value] : of.metrics) {
        if (!name.starts_with("time_")) continue;
        double best = std::numeric_limits<double>::infinity();
        for (const tune::Measured& entry : measured.entries)
            if (auto found = entry.metrics.find(name); found != entry.metrics.end())
                best = std::min(best, found->second);
        result[name.substr(5)] = value / best;
    }
    return result;
}

void print_best(const tune::MeasuredSpace& measured) {
    std::vector<const tune::Measured*> entries = ranked(measured);
    fmt::print("\nbest configurations\n");
    for (size_t i = 0; i < std::min(entries.size(), best_shown); ++i) {
        std::vector<std::string> shapes;
        for (const auto& [label, ratio] : over_shapes(measured, *entries[i]))
            shapes.push_back(fmt::format("{} {:.2f}×", label, ratio));
        fmt::print("  {:.6g}  {}{}\n", entries[i]->value, describe(entries[i]->configuration),
                   shapes.empty() ? "" : "  (of each shape's best: " + join(shapes, ", ") + ")");
    }
}

}  // namespace

void print_explanation(const tune::Space& space, const tune::MeasuredSpace& measured) {
    tune::Explanation explanation = explanation_of(space, measured);
    if (explanation.impacts.empty())
        return fmt::print("\n{} configurations worked: too few, or too alike, to tell what matters\n",
                          explanation.measured);
    fmt::print("\nwhat matters, from a model of {} measurements (it is off by {:.1f}% where it was not shown one)\n",
               explanation.measured, 100 * explanation.error);
    std::vector<std::vector<std::string>> rows = {{"TUNABLE", "SHARE OF THE VARIANCE"}};
    for (size_t i = 0; i < std::min(explanation.impacts.size(), impacts_shown); ++i)
        rows.push_back({join(explanation.impacts[i].tunables, " with "),
                        fmt::format("{:.1f}%", 100 * explanation.impacts[i].share)});
    fmt::print("{}", table(rows));
    fmt::print("\nwhat a value costs on average, over its tunable's cheapest\n");
    std::map<std::string, std::vector<std::string>> values;
    for (const tune::ValueEffect& effect : explanation.values)
        values[effect.tunable].push_back(fmt::format("{} {:.2f}×", to_string(effect.value), effect.ratio));
    for (const auto& [name, texts] : values) fmt::print("  {}: {}\n", name, join(texts, ", "));
    print_best(measured);
}

Json explanation_to_json(const tune::Space& space, const tune::MeasuredSpace& measured) {
    tune::Explanation explanation = explanation_of(space, measured);
    Json impacts = Json::array(), values = Json::array(), best = Json::array();
    for (const tune::Impact& impact : explanation.impacts)
        impacts.push_back({{"tunables", impact.tunables}, {"share", impact.share}});
    for (const tune::ValueEffect& effect : explanation.values)
        values.push_back({{"tunable", effect.tunable},
                          {"value", configuration_to_json({{"value", effect.value}}).at("value")},
                          {"ratio", effect.ratio}});
    std::vector<const tune::Measured*> entries = ranked(measured);
    for (size_t i = 0; i < std::min(entries.size(), best_shown); ++i)
        best.push_back({{"configuration", configuration_to_json(entries[i]->configuration)},
                        {"value", entries[i]->value},
                        {"over_shapes", over_shapes(measured, *entries[i])}});
    return {{"measured", explanation.measured},
            {"error", explanation.error},
            {"impacts", impacts},
            {"values", values},
            {"best", best}};
}

}  // namespace strop::cli
