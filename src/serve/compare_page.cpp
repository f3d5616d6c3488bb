#include <fmt/format.h>

#include "base/strings.h"
#include "report/change.h"
#include "report/facts.h"
#include "report/format.h"
#include "report/svg.h"
#include "serve/frame.h"

namespace strop::serve {

using report::escaped;
using report::escaped_name;

namespace {

constexpr double tolerance = 0.01;  // smaller changes are undecided

std::string both(const char* name, const std::string& before, const std::string& after) {
    return fmt::format("<tr><td>{}</td><td>{}</td><td>{}</td></tr>\n", name, before, after);
}

std::string winners(const RunRecord& record) {
    std::string text;
    for (const Regime& regime : record.regimes)
        text +=
            fmt::format("<code>{}</code> <small>{}</small>", escaped_name(regime.kernel), escaped(regime.condition));
    return text;
}

std::string summary(const RunRecord& before, const RunRecord& after) {
    auto head = [](const RunRecord& record) {
        return fmt::format("<th class=\"name\"><a href=\"{}\">{}</a></th>", run_address(record.run),
                           escaped_name(record.run));
    };
    auto settings = [](const RunRecord& record) {
        return fmt::format("{}, {} evaluations", report::seconds_text(record.seconds.total), record.evaluations);
    };
    std::string text =
        fmt::format("<div class=\"scroll\"><table class=\"pairs\"><thead><tr><th></th>{}{}</tr></thead><tbody>\n",
                    head(before), head(after));
    text += both("result", escaped(report::headline(before)), escaped(report::headline(after)));
    text += both("started", escaped(before.started), escaped(after.started));
    text += both("search", settings(before), settings(after));
    text += both("winners", winners(before), winners(after));
    text += both("compiler", escaped(before.compiler), escaped(after.compiler));
    text += both("processor", escaped(before.machine.cpu), escaped(after.machine.cpu));
    return text + "</tbody></table></div>\n";
}

std::string ratio_cell(const Ratio& ratio) {
    return fmt::format("<td class=\"r\">{}<small>{}</small></td>", report::ratio_text(ratio.ratio),
                       report::interval_text(ratio));
}

const char* css_of(Decision decision) {
    return decision == Decision::faster ? "good" : decision == Decision::slower ? "bad" : "dim";
}

const char* who(Decision decision) {
    return decision == Decision::faster ? "second" : decision == Decision::slower ? "first" : "undecided";
}

std::string shape_row(const report::Change& change) {
    const std::string label = fmt::format("<tr><td class=\"label\">{}<small>{}</small></td>",
                                          escaped_name(change.label), escaped(describe(change.dims)));
    if (change.baseline.empty()) return label + "<td class=\"dim\" colspan=\"5\">no common baseline</td></tr>\n";
    return label + fmt::format("<td>{}</td>{}{}{}<td class=\"{}\">{}</td></tr>\n", escaped_name(change.baseline),
                               ratio_cell(change.before), ratio_cell(change.after), ratio_cell(change.change),
                               css_of(change.decision), who(change.decision));
}

std::string headline(const std::vector<report::Change>& changes) {
    const std::optional<Ratio> whole = report::overall(changes);
    if (!whole)
        return "<h1>Nothing to compare</h1>\n<p class=\"lead\">The two have no shape with a common baseline.</p>\n";
    return fmt::format(
        "<h1>The second is {} as fast as the first</h1>\n<p class=\"lead\">95% interval {}, geometric mean over "
        "the shapes of both, each by its ratio over a baseline of both.</p>\n",
        report::ratio_text(whole->ratio), report::interval_text(*whole));
}

}  // namespace

std::string compare_page(const RunRecord& before, const RunRecord& after, const Frame& frame) {
    const std::vector<report::Change> changes = report::changes(before, after, tolerance);
    std::string body = headline(changes);
    std::string doubts;
    for (const std::string& doubt : report::doubts(before, after))
        doubts += fmt::format("<li>{}</li>\n", escaped(doubt));
    if (!doubts.empty()) body += "<ul class=\"caveats\">\n" + doubts + "</ul>\n";
    body += summary(before, after);
    if (!changes.empty()) {
        body +=
            "<h2>Shape by shape</h2>\n<div class=\"scroll\"><table><thead><tr><th>shape</th><th>over</th><th "
            "class=\"r\">first</th><th class=\"r\">second</th><th "
            "class=\"r\">change</th><th>faster</th></tr></thead><tbody>\n";
        for (const report::Change& change : changes) body += shape_row(change);
        body += "</tbody></table></div>\n";
    }
    return framed(before.problem + ": two runs",
                  {{before.problem, "/?problem=" + address_part(before.problem)}, {"two runs", ""}}, body, frame);
}

}  // namespace strop::serve
