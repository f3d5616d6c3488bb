#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "base/strings.h"
#include "report/facts.h"
#include "report/figures.h"
#include "report/format.h"
#include "report/page.h"
#include "report/report.h"
#include "report/svg.h"
#include "stats/sample.h"

namespace strop::report {

namespace {

std::string css_of(const Ratio& ratio) {
    switch (standing(ratio)) {
        case Standing::ahead: return "good";
        case Standing::behind: return "bad";
        case Standing::even: break;
    }
    return {};
}

std::string fact(std::string_view value, std::string_view meaning, std::string_view css = {}) {
    return fmt::format("<div><b class=\"{}\">{}</b><span>{}</span></div>\n", css, escaped(value), escaped(meaning));
}

std::string facts_strip(const RunRecord& record) {
    if (record.shapes.empty()) return {};
    int ahead = 0, compared = 0;
    std::vector<double> shares;
    for (const ShapeReport& shape : record.shapes) {
        compared += !shape.best_baseline.empty();
        ahead += !shape.best_baseline.empty() && standing(shape.speedup) == Standing::ahead;
        if (shape.roofline_share > 0 && !shape.bound_is_beaten()) shares.push_back(shape.roofline_share);
    }
    std::string text = "<div class=\"facts\">\n";
    if (compared > 0) {
        text += fact(ratio_text(record.headline.ratio), "95% interval " + interval_text(record.headline),
                     css_of(record.headline));
        text += fact(fmt::format("{} of {}", ahead, compared), "shapes faster than their best baseline, beyond doubt");
    }
    if (!shares.empty()) text += fact(percent_text(stats::median(shares)), "of the roofline, median over the shapes");
    std::string held_out = dispatch_text(record);
    text += fact(record.verified ? "verified" : "not verified", held_out.substr(0, held_out.find(';')),
                 record.verified ? "good" : "bad");
    return text + "</div>\n";
}

std::string summary(const RunRecord& record) {
    std::string text = fmt::format("<p class=\"kicker\"><b>{}</b> &nbsp;·&nbsp; {} &nbsp;·&nbsp; {}</p>\n",
                                   escaped(record.problem), escaped(record.run), escaped(record.started));
    text += fmt::format("<h1>{}</h1>\n", escaped(capitalized(headline(record))));
    std::string meaning = headline_meaning(record);
    text += fmt::format("<p class=\"lead\">{}{} on {}, {}.</p>\n", escaped(capitalized(meaning)),
                        meaning.empty() ? "Measured" : "; measured", escaped(measured_on(record)),
                        escaped(record.compiler));
    text += facts_strip(record);
    std::vector<std::string> lines = caveats(record);
    if (lines.empty()) return text;
    text += "<ul class=\"caveats\">\n";
    for (const std::string& line : lines) text += fmt::format("<li>{}</li>\n", escaped(line));
    return text + "</ul>\n";
}

std::string shape_row(const ShapeReport& shape, const std::vector<std::string>& names) {
    std::string text =
        fmt::format("<tr><td class=\"label\">{}<small>{}</small></td><td class=\"r\">{}<small>{}</small></td>",
                    escaped_name(shape.label), escaped(describe(shape.dims)), time_text(shape.nanoseconds),
                    spread_text(shape.nanoseconds, shape.low_ns, shape.high_ns));
    if (shape.best_baseline.empty()) text += "<td class=\"r\">–</td>";
    else
        text += fmt::format("<td class=\"r\"><b class=\"{}\">{}</b><small>{}</small></td>", css_of(shape.speedup),
                            ratio_text(shape.speedup.ratio), interval_text(shape.speedup));
    for (const std::string& name : names) {
        const Ratio* ratio = speedup_over(shape, name);
        auto time = shape.baselines.find(name);
        text += fmt::format("<td class=\"r\"><span class=\"{}\">{}</span><small>{}</small></td>",
                            ratio ? css_of(*ratio) : "dim", ratio ? ratio_text(ratio->ratio) : "–",
                            time == shape.baselines.end() ? "not measured" : time_text(time->second));
    }
    return text + fmt::format(
                      "<td class=\"r\">{}<small>{}</small></td><td class=\"r\">{}<small>{}</small></td>"
                      "<td><code>{}</code></td></tr>\n",
                      shape.bound_is_beaten() ? "–" : percent_text(shape.roofline_share),
                      shape.bound_is_beaten() ? "not a bound" : escaped(shape.bound), cold_text(shape),
                      cold_ratio_text(shape), escaped_name(shape.kernel));
}

// What calling a baseline from its host language costs, which the times leave out.
std::string overhead_note(const RunRecord& record) {
    std::map<std::string, double> largest;
    for (const ShapeReport& shape : record.shapes)
        for (const auto& [name, nanoseconds] : shape.baseline_overhead)
            if (nanoseconds > 0) largest[name] = std::max(largest[name], nanoseconds);
    std::vector<std::string> parts;
    for (const auto& [name, nanoseconds] : largest) parts.push_back(fmt::format("{} {}", name, time_text(nanoseconds)));
    return parts.empty() ? "" : " Left out of the times, for each call: " + join(parts, ", ") + ".";
}

std::string shapes(const RunRecord& record) {
    if (record.shapes.empty()) return {};
    std::vector<std::string> names = baseline_names(record);
    std::string text =
        "<h2>Shape by shape</h2>\n<div class=\"scroll\"><table><thead><tr><th>shape</th><th class=\"r\">time"
        "<small>95%</small></th><th class=\"r\">over the best<small>95% interval</small></th>";
    for (const std::string& name : names)
        text += fmt::format("<th class=\"r\">over {}<small>its time</small></th>",
                            escaped_name(truncated(one_line(name), 24)));
    text +=
        "<th class=\"r\">roofline<small>bound by</small></th><th class=\"r\">cold<small>over the best</small></th><th "
        "class=\"name\">kernel</th></tr></thead><tbody>\n";
    for (const ShapeReport& shape : record.shapes) text += shape_row(shape, names);
    return text + fmt::format("</tbody></table></div>\n<p class=\"note\">{}{}</p>\n", escaped(how_measured()),
                              escaped(overhead_note(record)));
}

std::string regimes(const RunRecord& record) {
    if (record.regimes.empty()) return {};
    std::string text =
        "<h2>Regimes and dispatch</h2>\n<div class=\"scroll\"><table><thead><tr><th>when</th><th>kernel</th>"
        "<th>configuration</th><th>shapes of the sweep</th></tr></thead><tbody>\n";
    for (const Regime& regime : record.regimes)
        text += fmt::format(
            "<tr><td><code>{}</code></td><td><code>{}</code></td><td><code>{}</code></td><td>{}</td></tr>\n",
            escaped(regime.condition), escaped_name(regime.kernel), escaped(describe(regime.configuration)),
            escaped_name(join(regime.points, ", ")));
    return text + fmt::format("</tbody></table></div>\n<p>Checked on shapes that nothing saw before: {}.</p>\n",
                              escaped(dispatch_text(record)));
}

std::string verification(const RunRecord& record) {
    return fmt::format("<h2>Verification</h2>\n<p>{}.</p>\n<p>{}.</p>\n",
                       escaped(capitalized(verification_text(record))), escaped(capitalized(sanitizers_text(record))));
}

std::string failure_table(const RunRecord& record) {
    std::vector<Failure> found = failures(record);
    if (found.empty()) return {};
    std::string text = fmt::format(
        "<details><summary>Evaluations that failed ({} kinds)</summary>\n<div class=\"scroll\">"
        "<table><thead><tr><th>verdict</th><th>kernel</th><th class=\"r\">times</th>"
        "<th>first evidence</th></tr></thead><tbody>\n",
        found.size());
    for (const Failure& failure : found)
        text += fmt::format("<tr><td>{}</td><td><code>{}</code></td><td class=\"r\">{}</td><td>{}</td></tr>\n",
                            name_of(failure.verdict), escaped_name(failure.kernel), failure.count,
                            escaped(truncated(failure.evidence, 400)));
    return text + "</tbody></table></div></details>\n";
}

// As a picture: a page's policy may allow no style in its elements.
std::string phase_bar(const std::vector<Phase>& phases) {
    double whole = 0, begin = 0;
    for (const Phase& phase : phases) whole += std::max(phase.seconds, 0.0);
    if (whole <= 0) return {};
    std::string bar = "<svg class=\"bar\" viewBox=\"0 0 1000 12\" preserveAspectRatio=\"none\" aria-hidden=\"true\">";
    for (size_t i = 0; i < phases.size(); ++i) {
        const double width = 1000 * std::max(phases[i].seconds, 0.0) / whole;
        bar += fmt::format("<rect class=\"b{}\" x=\"{:.2f}\" width=\"{:.2f}\" height=\"12\"/>", i, begin, width);
        begin += width;
    }
    return bar + "</svg>\n";
}

std::string search(const RunRecord& record) {
    const std::vector<Phase> rows = phases(record.seconds);
    std::string keys;
    for (size_t i = 0; i < rows.size(); ++i)
        keys += fmt::format("<span><i class=\"b{}\"></i>{} {}</span>", i, rows[i].name, seconds_text(rows[i].seconds));
    return fmt::format("<h2>Where the time went</h2>\n<p>The search {}: {}.</p>\n{}<div class=\"keys\">{}</div>\n",
                       escaped(stopped_text(record)), escaped(verdicts_text(record)), phase_bar(rows), keys) +
           failure_table(record);
}

std::string pairs(std::string_view title, const std::vector<Row>& rows) {
    std::string text = fmt::format("<h2>{}</h2>\n<table class=\"pairs\"><tbody>\n", title);
    for (const Row& row : rows)
        text += fmt::format("<tr><td>{}</td><td>{}</td></tr>\n", escaped(row.name), escaped(row.value));
    return text + "</tbody></table>\n";
}

std::string experiments(const RunRecord& record) {
    return record.experiments.empty() ? "" : pairs("Experiments", experiment_rows(record));
}

std::string from_python(const RunRecord& record) {
    const std::vector<Row> rows = in_process_rows(record);
    return rows.empty() ? "" : pairs("From Python beside " + escaped(record.in_process.framework), rows);
}

std::string learned(const RunRecord& record) {
    std::vector<Row> rows;
    for (const std::string& lesson : record.lessons) rows.push_back({"learned", lesson});
    return rows.empty() ? "" : pairs("What was learned", rows);
}

std::string models(const RunRecord& record) {
    if (record.models.empty()) return {};
    std::vector<Row> rows = model_rows(record);
    rows.push_back({"in all", models_text(record)});
    return pairs("Language models", rows);
}

std::string kernels(const RunRecord& record) {
    if (record.kernels.empty()) return {};
    std::string text = "<h2>Kernels</h2>\n";
    for (const Kernel& kernel : record.kernels)
        text += fmt::format(
            "<details><summary><code>{}</code> <span class=\"dim\">{}, by {}{}</span></summary>\n"
            "<pre>{}</pre>\n</details>\n",
            escaped(kernel.id), name_of(kernel.language), escaped(kernel.author),
            kernel.condition ? escaped(", where " + kernel.condition->text()) : "", escaped(kernel.source));
    return text;
}

std::string pictures_before_regimes(const RunRecord& record) {
    return figure("Speedup at each shape", speedup_figure(record),
                  "Logarithmic. One mark a baseline with its 95% interval; at the right, the ratio over the "
                  "best baseline of "
                  "that shape. Left of the line at 1× the baseline is faster.");
}

std::string pictures_of_search(const RunRecord& record) {
    return figure("Roofline", roofline_figure(record.shapes, record.machine),
                  "Both axes logarithmic. The lines are bandwidths and the multiply-add rate measured on "
                  "this machine; "
                  "a dot under its line could still gain the distance between them. The share is of the "
                  "least time that the "
                  "ceilings allow for that shape.") +
           figure("Strategies", strategy_figure(record),
                  "What was tried, what it was expected to do, and why it won or was given up. Indented: "
                  "what came out of "
                  "deepening the strategy above.") +
           experiments(record) +
           figure("Search history", history_figure(record),
                  "Each dot is one evaluation, the geometric mean over its shapes, as screened during the "
                  "search (the table "
                  "has the confirmed times). The thick line is the best so far over all shapes, thin lines "
                  "are single "
                  "shapes. Red marks failed, one line a verdict.");
}

}  // namespace

std::string html_body(const RunRecord& record) {
    return summary(record) + shapes(record) + pictures_before_regimes(record) + from_python(record) + regimes(record) +
           verification(record) + pictures_of_search(record) + search(record) + learned(record) + models(record) +
           pairs("Machine", machine_rows(record)) + pairs("Settings", settings_rows(record)) + kernels(record);
}

std::string html_footer(const RunRecord& record) {
    return fmt::format("Made by Strop {}. Again: <code>{}</code>", escaped(record.strop_version),
                       escaped(reproduce_command(record)));
}

std::string html(const RunRecord& record) {
    return page({escaped(record.problem) + ": " + escaped(headline(record)), html_body(record), html_footer(record)});
}

}  // namespace strop::report
