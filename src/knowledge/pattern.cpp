#include "knowledge/pattern.h"

#include <algorithm>
#include <set>
#include <tuple>

#include <fmt/format.h>

#include "base/line.h"
#include "base/strings.h"
#include "core/json.h"
#include "knowledge/digest.h"

namespace strop {

namespace {

constexpr double worth_telling = 1.03;  // of a value's effect
constexpr int often_enough = 2;         // that it was measured

// On one line, and neither HTML nor Markdown to a page that shows it.
std::string plain(const std::string& text) {
    std::string result;
    for (char letter : one_line(text)) {
        if (letter == '<') result += "&lt;";
        else if (letter == '&') result += "&amp;";
        else if (std::string_view("\\`*_[]!|#").find(letter) != std::string_view::npos)
            result += std::string("\\") + letter;
        else result += letter;
    }
    return result;
}

std::string code(const std::string& text) { return "`" + replace_all(one_line(text), "`", "'") + "`"; }

// JSON's texts are YAML's too.
std::string quoted(const std::string& text) { return dump(Json(one_line(text))); }

struct Page {
    const Digest* any = nullptr;  // of its hardware
    std::string family;
    std::set<std::string> problems, won, lost, effects, open;  // lines
};

void add_winner(const Digest& digest, const Digest::Winner& winner, Page& page) {
    std::string share;
    if (winner.roofline_share > 0)
        share = fmt::format(", {:.0f} % of the roofline ({})", 100 * winner.roofline_share, winner.bound);
    page.won.insert(fmt::format("- {} {} at {}: {} {}{}", code(digest.run), plain(digest.problem),
                                plain(join(winner.points, ", ")), code(winner.strategy),
                                code(describe(winner.configuration)), share));
}

void add_effects(const Digest& digest, const std::string& family, Page& page) {
    for (const Digest::Effect& effect : digest.effects)
        if (effect.family == family &&
            (effect.tunable.empty() || (effect.ratio >= worth_telling && effect.evaluations >= often_enough)))
            page.effects.insert(fmt::format(
                "- {} {}, {} {}, of {} evaluations", code(digest.run), plain(effect.bound), code(describe(effect)),
                effect.tunable.empty() ? "times the run's best" : "times its own best", effect.evaluations));
}

std::set<std::string> families_of(const Digest& digest) {
    std::set<std::string> families;
    for (const Digest::Winner& winner : digest.winners) families.insert(winner.family);
    for (const Digest::DeadEnd& end : digest.dead_ends) families.insert(end.family);
    for (const Digest::Effect& effect : digest.effects) families.insert(effect.family);
    return families;
}

void add(const Digest& digest, const std::string& family, Page& page) {
    if (!page.any) page.any = &digest;
    page.family = family;
    page.problems.insert(fmt::format("- {} {}: {}", code(digest.run), plain(digest.problem),
                                     digest.speedup > 0
                                         ? fmt::format("{:.2f} times {}", digest.speedup, plain(digest.baseline))
                                         : plain(digest.outcome)));
    for (const Digest::Winner& winner : digest.winners)
        if (winner.family == family) add_winner(digest, winner, page);
    for (const Digest::DeadEnd& end : digest.dead_ends)
        if (end.family == family)
            page.lost.insert(fmt::format("- {} {}: {}", code(digest.run), code(end.strategy), plain(end.reason)));
    add_effects(digest, family, page);
    for (const std::string& strategy : digest.open)
        page.open.insert(fmt::format("- {} {} was planned and never measured", code(digest.run), code(strategy)));
}

std::string section(const std::string& title, const std::set<std::string>& lines) {
    std::string text = fmt::format("\n## {}\n\n", title);
    for (const std::string& line : lines) text += line + "\n";
    return text;
}

std::string text_of(const Page& page) {
    const Digest& digest = *page.any;
    std::string text = "---\nformat: strop-pattern\nschema: 1\n";
    text += fmt::format("family: {}\nhardware: {}\ncpu: {}\nisa: {}\nlanguage: {}\n---\n\n", quoted(page.family),
                        quoted(digest.hardware), quoted(digest.cpu), quoted(digest.isa), quoted(digest.language));
    text += fmt::format("# {} on {}\n", plain(page.family.empty() ? "no family" : page.family), plain(digest.hardware));
    text += section("Runs", page.problems) + section("Won", page.won) + section("Lost", page.lost);
    return text + section("Effects", page.effects) + section("Open", page.open);
}

}  // namespace

std::map<std::string, std::string> patterns_of(const std::vector<Digest>& digests) {
    std::vector<const Digest*> sorted;
    for (const Digest& digest : digests) sorted.push_back(&digest);
    std::sort(sorted.begin(), sorted.end(), [](const Digest* a, const Digest* b) { return a->run < b->run; });
    std::map<std::string, Page> pages;
    for (const Digest* digest : sorted)
        for (const std::string& family : families_of(*digest)) {
            std::string name = slug(family);
            std::replace(name.begin(), name.end(), '-', '_');
            add(*digest, family, pages[fmt::format("{}@{}.md", name, digest->hardware)]);
        }
    std::map<std::string, std::string> texts;
    for (const auto& [name, page] : pages) texts[name] = text_of(page);
    return texts;
}

}  // namespace strop
