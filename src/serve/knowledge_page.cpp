#include <fmt/format.h>

#include "base/strings.h"
#include "report/format.h"
#include "report/svg.h"
#include "serve/frame.h"

namespace strop::serve {

using report::escaped;
using report::escaped_name;

namespace {

std::string question_form(const KnowledgeView& view) {
    return fmt::format(
        "<form class=\"row\" method=\"get\" action=\"/knowledge\"><label class=\"wide\">Hardware <input "
        "name=\"hardware\" "
        "value=\"{}\" placeholder=\"avx2, epyc, opencl\"></label><label class=\"wide\">Tags <input name=\"tags\" "
        "value=\"{}\" placeholder=\"row_reduction, softmax\"></label><button class=\"quiet\">Ask</button></form>\n",
        escaped(view.hardware), escaped(view.tags));
}

std::string said_of(const KnownLesson& known) {
    std::string text;
    for (const auto& [kind, words] :
         {std::pair{Testimony::Kind::drew, "drew it"}, std::pair{Testimony::Kind::confirms, "confirmed"},
          std::pair{Testimony::Kind::contradicts, "contradicted"}, std::pair{Testimony::Kind::undecided, "undecided"}})
        if (const int count = known.count(kind); count > 0)
            text += fmt::format("{}{} {}", text.empty() ? "" : ", ", count, words);
    return text;
}

std::string lesson_table(const std::vector<KnownLesson>& lessons) {
    if (lessons.empty()) return {};
    std::string text =
        "<h2>Lessons</h2>\n<div class=\"scroll\"><table><thead><tr><th>lesson</th><th>by</th><th>what runs "
        "say</th></tr></thead>"
        "<tbody>\n";
    for (const KnownLesson& known : lessons) {
        text +=
            fmt::format("<tr><td class=\"{}\">{}</td><td>{}</td><td>{}{}</td></tr>\n", known.withdrawn() ? "dim" : "",
                        escaped(describe(known.lesson, known.count(Testimony::Kind::confirms) > 0)),
                        escaped_name(known.lesson.author), escaped(said_of(known)),
                        known.withdrawn() ? "<small>withdrawn</small>" : "");
    }
    return text + "</tbody></table></div>\n";
}

std::string found_lines(const Digest& digest) {
    std::string text;
    for (const Digest::Winner& winner : digest.winners) {
        const std::string share =
            winner.roofline_share > 0
                ? fmt::format(", {} of the roofline ({})", report::percent_text(winner.roofline_share), winner.bound)
                : "";
        text += fmt::format("<div><b class=\"good\">won</b> <code>{}</code> <small>{}{}; {}</small></div>",
                            escaped_name(winner.strategy), escaped(describe(winner.configuration)), escaped(share),
                            escaped(join(winner.points, ", ")));
    }
    for (const Digest::DeadEnd& end : digest.dead_ends)
        text += fmt::format("<div><span class=\"bad\">lost</span> <code>{}</code> <small>{}</small></div>",
                            escaped_name(end.strategy), escaped(report::one_line(end.reason)));
    if (!digest.open.empty())
        text += fmt::format("<div><span class=\"dim\">never measured</span> <small>{}</small></div>",
                            escaped(join(digest.open, ", ")));
    return text;
}

std::string run_table(const std::vector<Digest>& runs) {
    std::string text =
        "<h2>What runs found</h2>\n<div class=\"scroll\"><table class=\"runs\"><thead><tr><th>run</th><th>on</th><th "
        "class=\"r\">speedup</th><th>strategies</th></tr></thead><tbody>\n";
    for (const Digest& digest : runs) {
        const std::string origin = digest.origin.empty() ? "" : ", imported from " + digest.origin;
        text += fmt::format(
            "<tr><td><a href=\"{}\">{}</a><small>{}{}</small></td><td>{}<small>{}, {} cores</small></td>{}<td>{}</td>"
            "</tr>\n",
            run_address(digest.run), escaped_name(digest.problem), escaped_name(digest.run), escaped(origin),
            escaped(digest.isa), escaped(digest.cpu), digest.cores, speedup_cell(digest.speedup), found_lines(digest));
    }
    return text + "</tbody></table></div>\n";
}

}  // namespace

std::string knowledge_page(const KnowledgeView& view, const Frame& frame) {
    std::string body =
        "<h1>Experience</h1>\n<p class=\"lead\">What finished runs found, which the next one begins with. "
        "<code>strop query</code> says the same.</p>\n" +
        question_form(view);
    if (view.runs.empty() && view.lessons.empty())
        return framed("Strop: experience", {{"Experience", ""}}, body + "<p class=\"note\">Nothing fits.</p>\n", frame);
    if (!view.runs.empty()) body += run_table(view.runs);
    return framed("Strop: experience", {{"Experience", ""}}, body + lesson_table(view.lessons), frame);
}

}  // namespace strop::serve
