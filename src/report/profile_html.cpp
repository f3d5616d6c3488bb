// A profile as a page.
#include <fmt/format.h>

#include "base/strings.h"
#include "report/figures.h"
#include "report/format.h"
#include "report/page.h"
#include "report/profile_report.h"
#include "report/svg.h"

namespace strop::report {

namespace {

std::string bars(const Diagnosis& diagnosis) {
    constexpr double row = 26, label = 110, full = 320, end = label + full;
    Svg svg(end + 60, row * static_cast<double>(diagnosis.findings.size()) + 4, "What was reached of each dimension");
    double y = 4;
    for (const Finding& finding : diagnosis.findings) {
        const bool limit = finding.dimension == diagnosis.limit;
        svg.text(label - 10, y + 15, name_of(finding.dimension), {12, "end", limit ? "bold" : "dim"});
        svg.rect(label, y + 4, full, 14, "faint", 3);
        svg.rect(label, y + 4, full * finding.reached, 14, limit ? "fill1" : "fill0", 3);
        svg.text(end + 10, y + 15, percent_text(finding.reached), {12, "start", limit ? "bold" : "dim"});
        y += row;
    }
    return svg.str();
}

std::string findings_table(const Diagnosis& diagnosis) {
    std::string text = "<div class=\"scroll\"><table class=\"pairs\"><tbody>\n";
    for (const Finding& finding : diagnosis.findings)
        text += fmt::format("<tr><td>{}</td><td>{}</td></tr>\n", name_of(finding.dimension), escaped(finding.evidence));
    return text + "</tbody></table></div>\n";
}

std::string loop_section(const HotLoop& loop) {
    std::string model;
    if (loop.throughput) {
        std::vector<std::string> waits;
        if (loop.throughput->dependency_share > 0)
            waits.push_back("for results " + percent_text(loop.throughput->dependency_share));
        if (loop.throughput->resource_share > 0)
            waits.push_back("for busy units " + percent_text(loop.throughput->resource_share));
        model = fmt::format(", {:.1f} cycles an iteration by the model{}", loop.throughput->cycles,
                            waits.empty() ? "" : " (waiting " + join(waits, ", ") + ")");
    }
    return fmt::format(
        "<details><summary>{} of the samples: <code>{}</code>, {}<span class=\"dim\">, {} instructions{}</span>"
        "</summary>\n<pre>{}</pre>\n</details>\n",
        percent_text(loop.share), escaped_name(loop.function), lines_of(loop), loop.mix.total, model,
        escaped(loop.listing));
}

std::string places_text(const PointProfile& point) {
    std::vector<std::string> parts;
    for (const auto& [place, share] : point.places) parts.push_back(fmt::format("{} {}", place, percent_text(share)));
    return parts.empty() ? ""
                         : fmt::format("Where its threads were, in {} looks: {}.", point.samples, join(parts, ", "));
}

std::string point_section(const PointProfile& point, const Diagnosis& diagnosis, const ShapeReport& shape) {
    std::string text = fmt::format("<h2>{} <span class=\"dim\">{}</span></h2>\n", escaped(point.point.label),
                                   escaped(describe(point.point.dims)));
    if (diagnosis.findings.empty()) return text + "<p>Not measured.</p>\n";
    text += fmt::format(
        "<p><b>{}</b>, {}; {} on one core. Limited by <b>{}</b>.</p>\n", time_text(point.time.median_ns),
        shape.roofline_share > 0
            ? fmt::format("{} of the roofline ({})", percent_text(shape.roofline_share), escaped(shape.bound))
            : "no roofline is known",
        time_text(point.one_core.median_ns), escaped(limit_text(diagnosis)));
    text += fmt::format("<p>Next: {}.</p>\n<figure style=\"max-width: 490px\">\n{}</figure>\n", escaped(diagnosis.next),
                        bars(diagnosis));
    text += findings_table(diagnosis);
    for (const HotLoop& loop : point.loops) text += loop_section(loop);
    if (const std::string counted = counters_text(point); !counted.empty())
        text += fmt::format("<p class=\"note\">Counted: {}.</p>\n", escaped(counted));
    return text + fmt::format("<p class=\"note\">{}</p>\n", escaped(places_text(point)));
}

}  // namespace

std::string profile_html(const ProfileReport& report) {
    std::string body = fmt::format(
        "<p class=\"kicker\"><b>{}</b> &nbsp;·&nbsp; {}</p>\n<h1>Where the time of {} goes</h1>\n"
        "<p class=\"lead\">Measured on {} ({}, {} cores), {}.</p>\n",
        escaped(report.problem), name_of(report.profile.verdict), escaped_name(report.kernel),
        escaped(report.machine.cpu), escaped(report.machine.isa), report.machine.cores, escaped(report.compiler));
    if (!report.profile.evidence.empty()) body += fmt::format("<p>{}</p>\n", escaped(report.profile.evidence));
    if (!report.profile.missing.empty()) {
        body += "<ul class=\"caveats\">\n";
        for (const std::string& what : report.profile.missing) body += fmt::format("<li>{}</li>\n", escaped(what));
        body += "</ul>\n";
    }
    body +=
        figure("Roofline", roofline_figure(report.shapes, report.machine),
               "Both axes logarithmic. The lines are bandwidths and the multiply-add rate measured on this machine; a "
               "dot under its line could still gain the distance between them.");
    for (size_t i = 0; i < report.profile.points.size(); ++i)
        body += point_section(report.profile.points[i], report.diagnoses[i], report.shapes[i]);
    return page({"Where the time of " + escaped(report.kernel) + " goes", body,
                 "Made by Strop " + escaped(report.strop_version) + "."});
}

}  // namespace strop::report
