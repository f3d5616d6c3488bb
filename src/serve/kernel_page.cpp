#include <fmt/format.h>

#include "base/strings.h"
#include "report/svg.h"
#include "serve/diff.h"
#include "serve/frame.h"
#include "serve/progress.h"

namespace strop::serve {

using report::escaped;
using report::escaped_name;

namespace {

constexpr size_t context_lines = 3;

std::string numbered(std::string_view source) {
    if (source.ends_with('\n')) source.remove_suffix(1);
    std::string text = "<pre class=\"source\">";
    for (const std::string& line : split(source, '\n')) text += fmt::format("<span>{}</span>", escaped(line));
    return text + "</pre>\n";
}

std::string changed(const DiffLine& line) {
    switch (line.kind) {
        case DiffLine::Kind::removed: return fmt::format("<del>− {}</del>", escaped(line.text));
        case DiffLine::Kind::added: return fmt::format("<ins>+ {}</ins>", escaped(line.text));
        case DiffLine::Kind::same: break;
    }
    return fmt::format("<span>  {}</span>", escaped(line.text));
}

std::string difference(const Kernel& parent, const Kernel& kernel) {
    const auto parts = hunks(diff(parent.source, kernel.source), context_lines);
    if (parts.empty()) return "<p class=\"note\">The source is the parent's.</p>\n";
    std::string text;
    for (const std::vector<DiffLine>& hunk : parts) {
        text +=
            fmt::format("<p class=\"note\">line {}</p>\n<pre class=\"diff\">", std::max(hunk[0].after, hunk[0].before));
        for (const DiffLine& line : hunk) text += changed(line);
        text += "</pre>\n";
    }
    return text;
}

std::string parent_section(const RunRecord& record, const Kernel& kernel, const std::optional<Kernel>& parent) {
    if (kernel.parent.empty()) return {};
    const std::string name = fmt::format("<code>{}</code>", escaped_name(kernel.parent));
    if (!parent) return fmt::format("<h2>Change to its parent</h2>\n<p class=\"note\">{} was not kept.</p>\n", name);
    return fmt::format("<h2>Change to its parent, <a href=\"{}\">{}</a></h2>\n", kernel_address(record.run, parent->id),
                       name) +
           difference(*parent, kernel);
}

std::string facts_of(const RunRecord& record, const Kernel& kernel) {
    const KernelSeen seen = seen_of(record, kernel.id);
    std::string text = fmt::format("{}, by {}; judged in {} configurations, right in {}", name_of(kernel.language),
                                   kernel.author, seen.judged, seen.right);
    if (kernel.condition) text += "; only where " + kernel.condition->text();
    return fmt::format("<p class=\"lead\">{}</p>\n", escaped(text));
}

// Its times, what limits it and the instructions of its hot loops, as `strop profile` measures them when asked.
std::string profile_section(const KernelView& view, const Frame& frame) {
    const std::string address = kernel_address(view.record.run, view.kernel.id) + "/profile";
    std::string text = "<h2>Where its time goes</h2>\n";
    if (view.has_profile)
        text += fmt::format(
            "<p><a href=\"{}\">Its profile</a>: ceilings, threads, hot loops with their instructions, "
            "and the change to try next.</p>\n",
            address);
    if (view.is_measured())
        return text + "<p>It is being measured: half a minute or so.</p>\n" + said_lines(view.launched.said);
    if (!view.may_be_profiled)
        return view.has_profile ? text
                                : text + "<p class=\"note\">A profile is of a kernel in C++ that was right.</p>\n";
    if (view.is_launched() && view.launched.exit_code != 0)
        text += fmt::format("<p>It was not measured (exit code {}):</p>\n{}", view.launched.exit_code,
                            said_lines(view.launched.said));
    text += post_button(address, view.has_profile ? "Profile again" : "Profile", frame, "", view.launched.running);
    return text + (view.launched.running ? "<p class=\"note\">Something else is measured now.</p>\n"
                                         : "<p class=\"note\">Measured on this machine, which should be quiet.</p>\n");
}

}  // namespace

std::string kernel_page(const KernelView& view, const Frame& frame) {
    const RunRecord& record = view.record;
    const Kernel& kernel = view.kernel;
    std::string body = fmt::format("<h1><code>{}</code></h1>\n", escaped_name(kernel.id)) + facts_of(record, kernel);
    for (const Strategy& strategy : record.strategies)
        if (strategy.id == kernel.strategy) {
            body += fmt::format("<p>{}</p>\n", escaped(strategy.hypothesis));
            if (!strategy.reason.empty())
                body += fmt::format("<p>{}: {}</p>\n", name_of(strategy.state), escaped(strategy.reason));
        }
    body += profile_section(view, frame) + parent_section(record, kernel, view.parent) + "<h2>Source</h2>\n" +
            numbered(kernel.source);
    return framed(kernel.id,
                  {{record.problem, "/?problem=" + address_part(record.problem)},
                   {record.run, run_address(record.run)},
                   {kernel.id, ""}},
                  body, frame, view.is_measured() ? "<meta http-equiv=\"refresh\" content=\"2\">\n" : "");
}

}  // namespace strop::serve
