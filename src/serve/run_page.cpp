#include <algorithm>

#include <fmt/format.h>

#include "base/error.h"
#include "report/facts.h"
#include "report/figures.h"
#include "report/format.h"
#include "report/page.h"
#include "report/report.h"
#include "report/svg.h"
#include "serve/frame.h"
#include "serve/progress.h"

namespace strop::serve {

using report::escaped;
using report::escaped_name;

namespace {

constexpr size_t shown_evaluations = 12;

// Replaces the part that changes every two seconds; without it, the page is loaded again every five.
constexpr const char* follow_script = R"js(
const part = document.getElementById('progress');
async function follow() {
  try {
    const answer = await fetch(part.dataset.source);
    if (answer.headers.get('X-Strop-Running') === 'no') return location.reload();
    if (answer.ok) part.innerHTML = await answer.text();
  } catch (gone) {}
  setTimeout(follow, 2000);
}
setTimeout(follow, 2000);
)js";

std::string comparison_form(const RunView& view) {
    if (view.others.empty() || !view.record.is_finished()) return {};
    std::string text = "<form class=\"row\" method=\"get\" action=\"/compare\"><label>Compare with <select name=\"a\">";
    for (const RunSummary& other : view.others)
        text += fmt::format("<option value=\"{0}\">{0}{1}</option>", escaped(other.run),
                            other.speedup > 0 ? ", " + report::ratio_text(other.speedup) : "");
    return text + fmt::format(
                      "</select></label><input type=\"hidden\" name=\"b\" value=\"{}\"><button class=\"quiet\">Compare"
                      "</button></form>\n",
                      escaped(view.record.run));
}

std::string actions(const RunView& view, const Frame& frame) {
    const std::string address = run_address(view.record.run);
    std::string text = "<div class=\"actions\">\n";
    if (view.runs_here())
        text += post_button(address + "/stop", view.launched.stopping ? "Stopping" : "Stop", frame, "",
                            view.launched.stopping);
    const Outcome outcome = view.record.outcome;
    if (!view.record.is_finished() && !view.runs_here())
        text +=
            post_button(address + "/resume", "Resume", frame,
                        "<label>More time <input class=\"short\" name=\"budget\" placeholder=\"what is left\"></label>",
                        view.launched.running);
    text += comparison_form(view) + fmt::format(
                                        "<a href=\"#kernels\">Strategies and kernels</a>\n<a href=\"/api{}\">JSON</a>\n"
                                        "</div>\n",
                                        address);
    if (outcome == Outcome::running && !view.is_ours())
        text +=
            "<p class=\"note\">It goes on in another process, or was killed: resume it only where nothing works on it "
            "any "
            "more.</p>\n";
    return text;
}

std::string best_table(const RunRecord& record) {
    if (record.shapes.empty()) return {};
    std::string text =
        "<h2>Best so far</h2>\n<div class=\"scroll\"><table><thead><tr><th>shape</th><th class=\"r\">time</th><th "
        "class=\"r\">over the best baseline</th><th>baseline</th><th class=\"name\">kernel</th></tr></thead><tbody>\n";
    for (const BestSoFar& best : best_so_far(record)) {
        const bool compared = best.nanoseconds > 0 && best.baseline_ns > 0;
        text += fmt::format(
            "<tr><td class=\"label\">{}<small>{}</small></td><td class=\"r\">{}</td>{}<td>{}<small>{}</small></td>"
            "<td><code>{}</code></td></tr>\n",
            escaped_name(best.label), escaped(describe(best.dims)), report::time_text(best.nanoseconds),
            speedup_cell(compared ? best.baseline_ns / best.nanoseconds : 0), escaped_name(best.baseline),
            report::time_text(best.baseline_ns), escaped_name(best.kernel));
    }
    return text +
           "</tbody></table></div>\n<p class=\"note\">As screened during the search; only what is verified at the end "
           "counts.</p>\n";
}

std::string evaluation_times(const HistoryEntry& entry) {
    if (entry.verdict != Verdict::ok) return escaped(report::truncated(report::one_line(entry.evidence), 120));
    std::string times;
    for (const auto& [label, nanoseconds] : entry.nanoseconds)
        times += fmt::format("{}{} {}", times.empty() ? "" : ", ", escaped_name(label), report::time_text(nanoseconds));
    return times;
}

std::string latest_evaluations(const RunRecord& record) {
    if (record.history.empty()) return {};
    std::string text =
        "<h2>Latest evaluations</h2>\n<div class=\"scroll\"><table><thead><tr><th class=\"r\">at</th><th>kernel</th>"
        "<th>configuration</th><th>verdict</th><th>times</th></tr></thead><tbody>\n";
    const size_t count = std::min(shown_evaluations, record.history.size());
    for (size_t i = 0; i < count; ++i) {
        const HistoryEntry& entry = record.history[record.history.size() - 1 - i];
        text += fmt::format(
            "<tr><td class=\"r\">{}</td><td><code>{}</code></td><td><code>{}</code></td><td class=\"{}\">{}</td>"
            "<td>{}</td></tr>\n",
            report::seconds_text(entry.seconds), escaped_name(entry.kernel), escaped(describe(entry.configuration)),
            entry.verdict == Verdict::ok ? "" : "bad", name_of(entry.verdict), evaluation_times(entry));
    }
    return text + "</tbody></table></div>\n";
}

// What language models were asked so far, as the report of a finished run says it.
std::string model_table(const RunRecord& record) {
    if (record.models.empty()) return {};
    std::string text = "<h2>Language models</h2>\n<table class=\"pairs\"><tbody>\n";
    for (const report::Row& row : report::model_rows(record))
        text += fmt::format("<tr><td>{}</td><td>{}</td></tr>\n", escaped(row.name), escaped(row.value));
    return text + "</tbody></table>\n";
}

std::string costs_by_strategy(const RunRecord& record) {
    if (record.model_costs.empty()) return {};
    std::string text = "<h2>Cost by strategy</h2>\n<table class=\"pairs\"><tbody>\n";
    for (const auto& [strategy, cost] : record.model_costs)
        text += fmt::format("<tr><td>{}</td><td>${:.4f}</td></tr>\n", escaped(strategy), cost);
    return text +
           fmt::format(
               "</tbody></table>\n<p class=\"note\">Every call with its texts: <code>strop export {} --transcript "
               "DIR</code></p>\n",
               escaped(record.run));
}

// Strategies in the order of their tree, their kernels, and what came of them.
std::string strategy_table(const RunView& view) {
    const std::vector<report::StrategyLine> lines = report::strategy_tree(view.record);
    if (lines.empty()) return {};
    std::string text =
        "<h2 id=\"kernels\">Strategies and kernels</h2>\n<div "
        "class=\"scroll\"><table><thead><tr><th>strategy</th><th>fate</th><th>by</th><th "
        "class=\"r\">judged</th><th class=\"r\">right</th><th class=\"r\">best<small>over "
        "baselines</small></th></tr></thead>"
        "<tbody>\n";
    for (const report::StrategyLine& line : lines) {
        const Strategy& strategy = *line.strategy;
        const KernelSeen seen = seen_of(view.record, strategy.id);
        const bool kept = std::any_of(view.kernels.begin(), view.kernels.end(),
                                      [&](const Kernel& kernel) { return kernel.id == strategy.id; });
        const std::string name = fmt::format("<code>{}</code>", escaped_name(strategy.id));
        const char* css = strategy.state == Strategy::State::winner   ? "good"
                          : strategy.state == Strategy::State::pruned ? "bad"
                                                                      : "";
        std::string indent;
        for (int i = 0; i < line.depth; ++i) indent += "&emsp;";
        text += fmt::format(
            "<tr><td>{}{}{}</td><td><span class=\"{}\">{}</span><small class=\"why\">{}</small></td><td>{}</td>"
            "<td class=\"r\">{}</td><td class=\"r\">{}</td>{}</tr>\n",
            indent, line.depth > 0 ? "<span class=\"dim\">└ </span>" : "",
            kept ? fmt::format("<a href=\"{}\">{}</a>", kernel_address(view.record.run, strategy.id), name) : name, css,
            name_of(strategy.state), escaped(report::one_line(strategy.reason)), escaped_name(strategy.proposer),
            seen.judged, seen.right, speedup_cell(seen.speedup));
    }
    return text + "</tbody></table></div>\n";
}

// Kernels that bear another name than a strategy.
std::string other_kernels(const RunView& view) {
    std::string items;
    for (const Kernel& kernel : view.kernels) {
        const bool listed = std::any_of(view.record.strategies.begin(), view.record.strategies.end(),
                                        [&](const Strategy& strategy) { return strategy.id == kernel.id; });
        if (!listed)
            items += fmt::format("<li><a href=\"{}\"><code>{}</code></a></li>\n",
                                 kernel_address(view.record.run, kernel.id), escaped_name(kernel.id));
    }
    return items.empty() ? "" : "<p class=\"note\">Other kernels that were judged:</p>\n<ul>\n" + items + "</ul>\n";
}

bool died(const RunView& view) { return view.record.outcome == Outcome::running && !view.goes_on(); }

// Of a run that has not come to its end, or not yet.
std::string unfinished_body(const RunView& view) {
    const RunRecord& record = view.record;
    const std::string headline = view.goes_on() ? "running"
                                 : died(view)   ? "it ended without saving how"
                                                : report::headline(record);
    return fmt::format("<p class=\"kicker\"><b>{}</b> &nbsp;·&nbsp; {} &nbsp;·&nbsp; {}</p>\n<h1>{}</h1>\n",
                       escaped(record.problem), escaped(record.run), escaped(record.started),
                       escaped(report::capitalized(headline))) +
           fmt::format("<div id=\"progress\" data-source=\"{}/progress\">\n{}</div>\n", run_address(record.run),
                       progress_part(view));
}

// Where a run of ours ended and saved nothing of that.
std::string last_words(const RunView& view) {
    const int code = view.launched.exit_code;
    const bool failed = code > static_cast<int>(Exit::no_improvement) && code != static_cast<int>(Exit::interrupted);
    if (!view.is_ours() || view.launched.running || (!failed && !died(view))) return {};
    return fmt::format("<div class=\"panel\"><p>It ended with exit code {}:</p>\n{}</div>\n", code,
                       said_lines(view.launched.said));
}

}  // namespace

std::string progress_part(const RunView& view) {
    const RunRecord& record = view.record;
    const double budget = record.settings.all_seconds();
    std::string text = fmt::format(
        "<p class=\"lead\">{} of {}; evaluations: {} ({})</p>\n<progress max=\"{:.1f}\" value=\"{:.1f}\" "
        "aria-label=\"share of the budget\"></progress>\n",
        report::seconds_text(record.seconds.total), report::seconds_text(budget), record.evaluations,
        escaped(report::verdicts_text(record)), budget, std::clamp(record.seconds.total, 0.0, std::max(budget, 0.0)));
    if (!record.note.empty()) text += fmt::format("<p class=\"note\">{}</p>\n", escaped(record.note));
    if (view.runs_here()) text += said_lines(view.launched.said);
    return text + best_table(record) +
           report::figure(
               "Search history", report::history_figure(record),
               "Each dot is one evaluation; the thick line is the best so far over all shapes. Red marks failed.") +
           latest_evaluations(record) + strategy_table(view) + model_table(record);
}

std::string run_page(const RunView& view, const Frame& frame) {
    const RunRecord& record = view.record;
    const std::vector<Crumb> path = {{record.problem, "/?problem=" + address_part(record.problem)}, {record.run, ""}};
    if (record.is_finished() && !view.goes_on())
        return framed(record.problem + ": " + report::headline(record), path,
                      actions(view, frame) + last_words(view) + report::html_body(record) + strategy_table(view) +
                          other_kernels(view) + costs_by_strategy(record),
                      frame, "", report::html_footer(record));
    const std::string body = actions(view, frame) + last_words(view) + unfinished_body(view);
    if (!view.goes_on()) return framed(record.problem + ": " + name_of(record.outcome), path, body, frame);
    const std::string head = "<noscript><meta http-equiv=\"refresh\" content=\"5\"></noscript>\n";
    const std::string script = fmt::format("<script nonce=\"{}\">{}</script>\n", frame.nonce, follow_script);
    return framed(record.problem + ": running", path, body + script, frame, head);
}

}  // namespace strop::serve
