#include <fmt/format.h>

#include "report/format.h"
#include "report/svg.h"
#include "serve/frame.h"

namespace strop::serve {

using report::escaped;

namespace {

std::string start_form(const RunList& list, const Frame& frame) {
    std::string fields =
        "<label class=\"wide\">Problem <input name=\"problem\" list=\"problems\" required autocomplete=\"off\" "
        "placeholder=\"softmax, or the path of a folder\"></label><datalist id=\"problems\">";
    for (const std::string& name : list.problems)
        fields += fmt::format("<option value=\"{}\"></option>", escaped(name));
    fields += "</datalist><label>Budget <input class=\"short\" name=\"budget\" value=\"2m\" required></label>";
    std::string text =
        "<div class=\"panel\">\n" + post_button("/runs", "Optimize", frame, fields, list.launched.running);
    const Launched& launched = list.launched;
    const std::string run =
        launched.run.empty() ? escaped(launched.problem)
                             : fmt::format("<a href=\"{}\">{}</a>", run_address(launched.run), escaped(launched.run));
    if (launched.running)
        text += fmt::format("<p class=\"note\">{} goes on. One at a time: two would disturb each other's times.</p>\n",
                            run);
    else if (!launched.problem.empty() && launched.exit_code > 1 && launched.run.empty())
        text += fmt::format("<p>{} did not start:</p>\n{}", run, said_lines(launched.said));
    return text + "</div>\n";
}

std::string filter_form(const RunList& list) {
    std::string text =
        "<form class=\"row\" method=\"get\" action=\"/\"><label>Problem <select name=\"problem\"><option "
        "value=\"\">all</option>";
    for (const auto& [name, count] : list.runs_by_problem)
        text += fmt::format("<option value=\"{0}\"{1}>{0} ({2})</option>", escaped(name),
                            name == list.problem ? " selected" : "", count);
    return text + "</select></label><button class=\"quiet\">Show</button></form>\n";
}

std::string row(const RunSummary& run) {
    return fmt::format(
        "<tr><td><a href=\"{}\">{}</a><small>{}</small></td><td>{}</td>{}<td>{}</td><td class=\"r\">{}</td><td "
        "class=\"r\">{}</td><td class=\"r dim\">{}</td></tr>\n",
        run_address(run.run), report::escaped_name(run.problem), report::escaped_name(run.run), badge(run.outcome),
        speedup_cell(run.speedup, run.outcome == name_of(Outcome::improved)),
        run.baseline.empty() ? "<span class=\"dim\">–</span>" : report::escaped_name(run.baseline),
        report::seconds_text(run.seconds), run.evaluations,
        escaped(run.started.substr(0, 10)) + "<small>" +
            escaped(run.started.size() > 19 ? run.started.substr(11, 8) : "") + "</small>");
}

std::string page_address(const RunList& list, int64_t page) {
    return fmt::format("/?problem={}&amp;page={}", address_part(list.problem), page + 1);
}

std::string pager(const RunList& list) {
    if (list.pages < 2) return {};
    std::string text = "<div class=\"pager\">";
    if (list.page > 0) text += fmt::format("<a rel=\"prev\" href=\"{}\">Newer</a>", page_address(list, list.page - 1));
    text += fmt::format("<span>page {} of {}</span>", list.page + 1, list.pages);
    if (list.page + 1 < list.pages)
        text += fmt::format("<a rel=\"next\" href=\"{}\">Older</a>", page_address(list, list.page + 1));
    return text + "</div>\n";
}

}  // namespace

std::string list_page(const RunList& list, const Frame& frame) {
    std::string body = "<h1>Runs</h1>\n" + start_form(list, frame);
    if (list.runs_by_problem.empty()) body += "<p class=\"note\">There is no run yet.</p>\n";
    if (list.runs_by_problem.size() > 1) body += filter_form(list);
    if (!list.runs.empty()) {
        body +=
            "<div class=\"scroll\"><table class=\"runs\"><thead><tr><th>run</th><th>outcome</th><th "
            "class=\"r\">speedup</th>"
            "<th>over</th><th class=\"r\">time</th><th class=\"r\">evaluations</th><th class=\"r\">started "
            "(UTC)</th></tr>"
            "</thead><tbody>\n";
        for (const RunSummary& run : list.runs) body += row(run);
        body += "</tbody></table></div>\n" + pager(list);
    }
    return framed("Strop: runs", {}, body, frame);
}

std::string error_page(const std::string& phrase, const std::string& hint, const Frame& frame) {
    std::string body = fmt::format("<h1>{}</h1>\n", escaped(report::one_line(phrase)));
    if (!hint.empty()) body += fmt::format("<p class=\"lead\">{}</p>\n", escaped(report::one_line(hint)));
    return framed("Strop", {}, body, frame);
}

}  // namespace strop::serve
