#include "serve/frame.h"

#include <fmt/format.h>

#include "base/strings.h"
#include "report/format.h"
#include "report/page.h"
#include "report/svg.h"

namespace strop::serve {

using report::escaped;

namespace {

// Beside the report's.
constexpr const char* style_sheet = R"css(
a { color: var(--accent); text-decoration: none; } a:hover { text-decoration: underline; }
:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; border-radius: 3px; }
nav { display: flex; flex-wrap: wrap; gap: 4px 10px; margin: -18px 0 34px; font-size: 13.5px; color: var(--dim);
  overflow-wrap: anywhere; }
nav a.aside { margin-left: auto; }
nav a:first-child { color: var(--ink); font-weight: 650; letter-spacing: .01em; }
.panel { margin: 18px 0 26px; padding: 16px 18px; background: var(--panel); border: 1px solid var(--rule);
  border-radius: 8px; }
.panel p:last-child { margin-bottom: 0; }
form.row { display: flex; flex-wrap: wrap; align-items: end; gap: 10px 14px; margin: 0; }
form.row label { font-size: 12.5px; color: var(--dim); } form.row label.wide { flex: 1 1 240px; }
form.row label.wide input { width: 100%; }
input, select, button { display: block; margin-top: 3px; padding: 7px 11px; font: inherit; font-size: 14px;
  height: 37px; color: var(--ink); background: var(--paper); border: 1px solid var(--rule); border-radius: 6px;
  max-width: 100%; }
input.short { width: 8.5em; }
button { cursor: pointer; background: var(--accent); border-color: var(--accent); color: var(--paper); font-weight: 600; }
button.quiet { background: none; border-color: var(--rule); color: var(--ink); font-weight: 500; }
button:disabled { cursor: default; opacity: .45; }
.actions { display: flex; flex-wrap: wrap; align-items: end; gap: 10px 22px; margin: 0 0 30px; font-size: 14px; }
.actions a { padding: 7px 0; }
.badge { white-space: nowrap; } .badge i { display: inline-block; width: 8px; height: 8px; border-radius: 50%;
  margin-right: 7px; background: var(--c5); }
.badge.improved i { background: var(--good); } .badge.failed i { background: var(--bad); }
.badge.interrupted i { background: var(--c4); } .badge.running i { background: var(--accent); }
table.runs td { padding-top: 10px; padding-bottom: 10px; } table.runs a { font-weight: 600; }
small.why { white-space: normal; max-width: 46ch; }
.pager { display: flex; gap: 22px; align-items: baseline; margin: 16px 0; font-size: 14px; color: var(--dim); }
progress { display: block; appearance: none; width: 100%; height: 6px; margin: 16px 0; border: 0; border-radius: 3px;
  overflow: hidden; background: var(--grid); color: var(--accent); }
progress::-webkit-progress-bar { background: var(--grid); } progress::-webkit-progress-value { background: var(--accent); }
progress::-moz-progress-bar { background: var(--accent); }
.said { font-size: 12px; white-space: pre-wrap; overflow-wrap: anywhere; }
pre.source { padding: 14px 0; counter-reset: line; }
pre.source span { display: block; padding: 0 16px 0 4.6em; text-indent: -3.4em; min-height: 1.5em; }
pre.source span::before { counter-increment: line; content: counter(line); display: inline-block; width: 2.4em;
  margin-right: 1em; text-align: right; text-indent: 0; color: var(--dim); }
pre.diff { padding: 10px 0; } pre.diff span { display: block; padding: 0 16px; min-height: 1.5em; }
pre.diff ins, pre.diff del { display: block; padding: 0 16px; text-decoration: none; min-height: 1.5em; }
pre.diff ins { background: color-mix(in srgb, var(--good) 13%, transparent); color: var(--good); }
pre.diff del { background: color-mix(in srgb, var(--bad) 11%, transparent); color: var(--bad); }
@media (max-width: 640px) { nav { margin-top: 0; } }
)css";

}  // namespace

std::string framed(const std::string& title, const std::vector<Crumb>& path, const std::string& body,
                   const Frame& frame, const std::string& head, const std::string& footer) {
    std::string nav = "<nav aria-label=\"where\"><a href=\"/\">Strop</a>";
    for (const Crumb& crumb : path) {
        const std::string text = report::escaped_name(crumb.text);
        nav += "<span>/</span>";
        nav += crumb.address.empty() ? fmt::format("<span>{}</span>", text)
                                     : fmt::format("<a href=\"{}\">{}</a>", escaped(crumb.address), text);
    }
    nav += "<a class=\"aside\" href=\"/knowledge\">Experience</a>";
    report::Page page{escaped(title), body, footer.empty() ? "As JSON: <a href=\"/api/runs\">/api/runs</a>" : footer};
    page.nonce = frame.nonce;
    page.head = fmt::format("<style nonce=\"{}\">{}</style>\n{}", frame.nonce, style_sheet, head);
    page.header = nav + "</nav>\n";
    return report::page(page);
}

std::string address_part(std::string_view text) {
    std::string part;
    for (unsigned char c : text) {
        const bool plain = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-' ||
                           c == '.' || c == '_' || c == '~';
        part += plain ? std::string(1, static_cast<char>(c)) : fmt::format("%{:02X}", c);
    }
    return part;
}

std::string run_address(const std::string& run) { return "/runs/" + address_part(run); }

std::string kernel_address(const std::string& run, const std::string& kernel) {
    return run_address(run) + "/kernels/" + address_part(kernel);
}

std::string badge(const std::string& outcome) {
    return fmt::format("<span class=\"badge {}\"><i></i>{}</span>", escaped(outcome),
                       escaped(replace_all(outcome, "_", " ")));
}

std::string post_button(const std::string& address, const std::string& words, const Frame& frame,
                        const std::string& fields, bool disabled) {
    return fmt::format(
        "<form class=\"row\" method=\"post\" action=\"{}\"><input type=\"hidden\" name=\"form_token\" "
        "value=\"{}\">{}<button{}>{}</button></form>\n",
        escaped(address), frame.form_token, fields, disabled ? " disabled" : "", escaped(words));
}

std::string speedup_cell(double ratio, bool sure) {
    if (ratio <= 0) return "<td class=\"r dim\">–</td>";
    const char* css = !sure ? "dim" : ratio > 1 ? "good" : "bad";
    return fmt::format("<td class=\"r\"><b class=\"{}\">{}</b></td>", css, report::ratio_text(ratio));
}

std::string said_lines(const std::vector<std::string>& lines) {
    return lines.empty() ? "" : fmt::format("<pre class=\"said\">{}</pre>\n", escaped(join(lines, "\n")));
}

}  // namespace strop::serve
