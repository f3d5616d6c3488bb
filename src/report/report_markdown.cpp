#include <algorithm>

#include <fmt/format.h>

#include "base/strings.h"
#include "report/facts.h"
#include "report/format.h"
#include "report/markdown.h"
#include "report/report.h"

namespace strop::report {

using namespace markdown_text;

namespace {

std::string summary(const RunRecord& record) {
    std::string text = fmt::format("## {}: {}\n\n", escaped(record.problem), escaped(headline(record)));
    std::string meaning = headline_meaning(record);
    if (!meaning.empty()) text += fmt::format("{}. ", escaped(meaning));
    text += fmt::format("Measured on {} with {}; {}.\n\n", escaped(measured_on(record)), escaped(record.compiler),
                        escaped(verification_text(record) + "; " + sanitizers_text(record)));
    for (const std::string& line : caveats(record)) text += fmt::format("- {}\n", escaped(line));
    return text + (caveats(record).empty() ? "" : "\n");
}

std::string shapes(const RunRecord& record) {
    if (record.shapes.empty()) return {};
    std::vector<std::string> names = baseline_names(record);
    std::vector<std::string> titles = {"shape", "dimensions", "time", "±", "speedup over the best", "95%"};
    for (const std::string& name : names) titles.push_back(escaped(name));
    titles.insert(titles.end(), {"of roofline", "cold", "kernel"});
    std::vector<std::vector<std::string>> rows;
    for (const ShapeReport& shape : record.shapes) {
        bool compared = !shape.best_baseline.empty();
        std::vector<std::string> cells = {
            escaped(shape.label),
            escaped(describe(shape.dims)),
            time_text(shape.nanoseconds),
            spread_text(shape.nanoseconds, shape.low_ns, shape.high_ns),
            compared ? fmt::format("**{}** {}", ratio_text(shape.speedup.ratio), escaped(shape.best_baseline)) : "–",
            compared ? interval_text(shape.speedup) : "–"};
        for (const std::string& name : names) {
            const Ratio* ratio = speedup_over(shape, name);
            auto time = shape.baselines.find(name);
            cells.push_back(fmt::format("{} ({})", time == shape.baselines.end() ? "–" : time_text(time->second),
                                        ratio ? ratio_text(ratio->ratio) : "–"));
        }
        cells.push_back(escaped(roofline_text(shape)));
        cells.push_back(fmt::format("{} ({})", cold_text(shape), cold_ratio_text(shape)));
        cells.push_back(code(shape.kernel));
        rows.push_back(cells);
    }
    return "### Shapes\n\n" + table(titles, "llrrrr" + std::string(names.size() + 2, 'r') + "l", rows) +
           "Columns of baselines: their time, and in brackets how many times faster the kernel is. " + how_measured() +
           "\n\n";
}

std::string regimes(const RunRecord& record) {
    if (record.regimes.empty()) return {};
    std::vector<std::vector<std::string>> rows;
    for (const Regime& regime : record.regimes)
        rows.push_back({code(regime.condition), code(regime.kernel), code(describe(regime.configuration)),
                        escaped(join(regime.points, ", "))});
    return "### Regimes\n\n" + table({"when", "kernel", "configuration", "shapes"}, "llll", rows) +
           escaped(dispatch_text(record)) + ".\n\n";
}

std::string experiments(const RunRecord& record, const Strategy& strategy, const std::string& indent) {
    std::string text;
    for (const Experiment& experiment : record.experiments) {
        if (experiment.strategy != strategy.id) continue;
        text += fmt::format("{}- experiment: {}\n", indent, escaped(experiment.hypothesis));
        for (const Probe& probe : experiment.probes)
            text += fmt::format("{}  - probe {}\n", indent, escaped(describe(experiment, probe)));
    }
    return text;
}

std::string strategies(const RunRecord& record) {
    if (record.strategies.empty()) return {};
    std::string text = "### Strategies\n\n";
    for (const StrategyLine& line : strategy_tree(record)) {
        const Strategy& strategy = *line.strategy;
        text += fmt::format("{}- **{}** {} ({}, {})", std::string(2 * static_cast<size_t>(line.depth), ' '),
                            name_of(strategy.state), code(strategy.id), escaped(strategy.family),
                            escaped(strategy.proposer));
        if (!strategy.reason.empty()) text += ": " + escaped(strategy.reason);
        text += "\n" + experiments(record, strategy, std::string(2 * static_cast<size_t>(line.depth) + 2, ' '));
    }
    return text + "\n";
}

std::string search(const RunRecord& record) {
    std::string text = fmt::format("### Search\n\nThe search {}: {}.\n\n", escaped(stopped_text(record)),
                                   escaped(verdicts_text(record)));
    std::vector<Failure> found = failures(record);
    if (!found.empty()) {
        std::vector<std::vector<std::string>> rows;
        for (const Failure& failure : found)
            rows.push_back({name_of(failure.verdict), code(failure.kernel), std::to_string(failure.count),
                            escaped(truncated(failure.evidence, 200))});
        text += table({"verdict", "kernel", "times", "first evidence"}, "llrl", rows);
    }
    std::vector<std::string> titles, values;
    for (const Phase& phase : phases(record.seconds)) {
        titles.push_back(phase.name);
        values.push_back(seconds_text(phase.seconds));
    }
    return text + table(titles, std::string(titles.size(), 'r'), {values});
}

std::string facts_table(std::string_view title, const std::vector<Row>& rows) {
    std::vector<std::vector<std::string>> cells;
    for (const Row& row_of_two : rows) cells.push_back({escaped(row_of_two.name), escaped(row_of_two.value)});
    return fmt::format("<details><summary>{}</summary>\n\n", title) + table({"", ""}, "ll", cells) + "</details>\n\n";
}

std::string from_python(const RunRecord& record) {
    const std::vector<Row> rows = in_process_rows(record);
    return rows.empty() ? "" : facts_table("From Python beside " + escaped(record.in_process.framework), rows);
}

std::string learned(const RunRecord& record) {
    std::vector<Row> rows;
    for (const std::string& lesson : record.lessons) rows.push_back({"learned", lesson});
    return rows.empty() ? "" : facts_table("What was learned", rows);
}

std::string models(const RunRecord& record) {
    if (record.models.empty()) return {};
    std::vector<Row> rows = model_rows(record);
    rows.push_back({"in all", models_text(record)});
    return facts_table("Language models", rows);
}

std::string kernels(const RunRecord& record) {
    std::string text;
    for (const Kernel& kernel : record.kernels) {
        text += fmt::format("<details><summary>Kernel {}, by {}</summary>\n\n{}\n\n</details>\n\n", escaped(kernel.id),
                            escaped(kernel.author), fenced(kernel.source, name_of(kernel.language)));
    }
    return text;
}

}  // namespace

std::string markdown(const RunRecord& record) {
    std::string text = summary(record) + shapes(record) + from_python(record) + regimes(record) + strategies(record) +
                       search(record) + learned(record) + models(record) +
                       facts_table("Machine", machine_rows(record)) + facts_table("Settings", settings_rows(record)) +
                       kernels(record);
    return text + fmt::format("Again: {}\n", code(reproduce_command(record)));
}

}  // namespace strop::report
