#include "report/targets.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/strings.h"
#include "core/json.h"
#include "report/facts.h"
#include "report/format.h"
#include "report/markdown.h"
#include "report/page.h"
#include "report/report.h"
#include "report/svg.h"

namespace strop::report {

namespace {

std::string speedup(const Ratio& ratio) {
    return fmt::format("{} ({})", ratio_text(ratio.ratio), interval_text(ratio));
}

std::string headline_cell(const RunRecord& record) {
    return record.headline_baseline.empty() ? "–" : speedup(record.headline);
}

// "right at 4 of 4 shapes and 40 of 40 held-out ones; 1.00× (0.99–1.01) its result alone"
std::string check_text(const ChoiceCheck& check) {
    return fmt::format("right at {} of {} and {} of {} held-out ones; {} the speed of its result alone{}",
                       check.correct, counted(check.shapes, "shape"), check.held_out_correct, check.held_out,
                       speedup(check.over_alone), check.failure.empty() ? "" : "; " + check.failure);
}

std::string outcome_text(const TargetResult& target) {
    const std::string outcome = replace_all(name_of(target.record.outcome), "_", " ");
    return target.record.verified && target.check.holds() ? outcome : outcome + ", not verified";
}

// The shapes of the first, with the time and the ratio of each target.
std::vector<std::vector<std::string>> shape_rows(const std::vector<TargetResult>& targets) {
    std::vector<std::vector<std::string>> rows;
    for (const ShapeReport& first : targets.front().record.shapes) {
        std::vector<std::string> row = {first.label, describe(first.dims)};
        for (const TargetResult& target : targets) {
            const auto& shapes = target.record.shapes;
            auto found = std::find_if(shapes.begin(), shapes.end(),
                                      [&](const ShapeReport& shape) { return shape.label == first.label; });
            const bool compared = found != shapes.end() && !found->best_baseline.empty();
            row.push_back(found == shapes.end() ? "–" : time_text(found->nanoseconds));
            row.push_back(compared ? fmt::format("{} {}", ratio_text(found->speedup.ratio), found->best_baseline)
                                   : "–");
        }
        rows.push_back(row);
    }
    return rows;
}

std::vector<std::string> shape_titles(const std::vector<TargetResult>& targets) {
    std::vector<std::string> titles = {"shape", "dimensions"};
    for (const TargetResult& target : targets) titles.insert(titles.end(), {target.target, "speedup"});
    return titles;
}

const std::vector<std::string> target_titles = {"target", "outcome", "speedup", "measured on", "when it is chosen"};

std::vector<std::string> target_row(const TargetResult& target) {
    return {target.target, outcome_text(target), headline_cell(target.record), measured_on(target.record),
            check_text(target.check)};
}

std::string title(const std::vector<TargetResult>& targets) {
    std::vector<std::string> parts;
    for (const TargetResult& target : targets)
        parts.push_back(fmt::format(
            "{} {}", target.target,
            target.record.headline_baseline.empty() ? "not measured" : ratio_text(target.record.headline.ratio)));
    return fmt::format("{} for {}: {}", targets.front().record.problem, counted(targets.size(), "target"),
                       join(parts, ", "));
}

const char* const meaning =
    "Speedups are geometric means over the shapes, each against the best baseline there, on the machine that measured "
    "the target. The library takes, of the targets that its processor executes, the one that asks most of it.";

std::string aligned(const std::vector<std::vector<std::string>>& rows) {
    std::vector<size_t> widths;
    for (const auto& row : rows)
        for (size_t i = 0; i < row.size(); ++i) {
            if (widths.size() <= i) widths.push_back(0);
            widths[i] = std::max(widths[i], columns_of(row[i]));
        }
    std::string text;
    for (const auto& row : rows) {
        std::string line;
        for (size_t i = 0; i < row.size(); ++i) line += (i ? "  " : "") + padded(row[i], widths[i], i > 1);
        text += line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
    }
    return text;
}

std::string html_table(const std::vector<std::string>& titles, const std::vector<std::vector<std::string>>& rows) {
    std::string text = "<div class=\"scroll\"><table><thead><tr>";
    for (const std::string& one : titles) text += fmt::format("<th>{}</th>", escaped(one));
    text += "</tr></thead><tbody>\n";
    for (const auto& row : rows) {
        text += "<tr>";
        for (const std::string& cell : row) text += fmt::format("<td>{}</td>", escaped(cell));
        text += "</tr>\n";
    }
    return text + "</tbody></table></div>\n";
}

Json ratio_json(const Ratio& ratio) { return {{"ratio", ratio.ratio}, {"low", ratio.low}, {"high", ratio.high}}; }

}  // namespace

bool all_improved(const std::vector<TargetResult>& targets) {
    return std::all_of(targets.begin(), targets.end(), [](const TargetResult& target) {
        return target.record.outcome == Outcome::improved && target.check.holds();
    });
}

std::string targets_json(const std::string& folder, const std::vector<TargetResult>& targets) {
    Json list = Json::array();
    for (const TargetResult& target : targets) {
        const ChoiceCheck& check = target.check;
        list.push_back({{"target", target.target},
                        {"run", target.record.run},
                        {"choice",
                         {{"shapes", check.shapes},
                          {"correct", check.correct},
                          {"held_out", check.held_out},
                          {"held_out_correct", check.held_out_correct},
                          {"failure", check.failure},
                          {"over_alone", ratio_json(check.over_alone)}}},
                        {"report", Json::parse(json(target.record))}});
    }
    return dump({{"schema", RunRecord::schema_version},
                 {"problem", targets.front().record.problem},
                 {"improved", all_improved(targets)},
                 {"result", folder},
                 {"targets", list}},
                2) +
           "\n";
}

std::string targets_markdown(const std::string& folder, const std::vector<TargetResult>& targets) {
    namespace md = markdown_text;
    std::vector<std::vector<std::string>> rows, shapes = shape_rows(targets);
    std::string links;
    for (const TargetResult& target : targets) {
        std::vector<std::string> row = target_row(target);
        for (std::string& cell : row) cell = md::escaped(cell);
        rows.push_back(row);
        links +=
            fmt::format("- [{0}](targets/{0}/report.md): {1}\n", target.target, md::escaped(headline(target.record)));
    }
    for (auto& row : shapes)
        for (std::string& cell : row) cell = md::escaped(cell);
    return fmt::format("## {}\n\n", md::escaped(title(targets))) + md::table(target_titles, "lllll", rows) + meaning +
           "\n\n### Shapes\n\n" +
           md::table(shape_titles(targets), "ll" + std::string(2 * targets.size(), 'r'), shapes) +
           "### Each by itself\n\n" + links + fmt::format("\nThe result is in {}.\n", md::code(folder));
}

std::string targets_html(const std::string& folder, const std::vector<TargetResult>& targets) {
    std::vector<std::vector<std::string>> rows;
    std::string links;
    for (const TargetResult& target : targets) {
        rows.push_back(target_row(target));
        links += fmt::format("<li><a href=\"targets/{0}/report.html\">{0}</a>: {1}</li>\n", escaped(target.target),
                             escaped(headline(target.record)));
    }
    const std::string body = fmt::format("<h1>{}</h1>\n<p class=\"lead\">{}</p>\n", escaped(title(targets)), meaning) +
                             "<h2>Targets</h2>\n" + html_table(target_titles, rows) + "<h2>Shapes</h2>\n" +
                             html_table(shape_titles(targets), shape_rows(targets)) +
                             "<h2>Each by itself</h2>\n<ul>\n" + links + "</ul>\n";
    return page({escaped(title(targets)), body,
                 fmt::format("Made by Strop {}; the result is in <code>{}</code>",
                             escaped(targets.front().record.strop_version), escaped(folder))});
}

std::string targets_terminal(const std::string& folder, const std::vector<TargetResult>& targets) {
    std::vector<std::vector<std::string>> rows = shape_rows(targets);
    rows.insert(rows.begin(), shape_titles(targets));
    std::string text = title(targets) + "\n\n";
    for (const TargetResult& target : targets)
        text += fmt::format("{}: {}\n  measured on {}\n  when it is chosen: {}\n", target.target,
                            headline(target.record), measured_on(target.record), check_text(target.check));
    return text + "\n" + aligned(rows) + fmt::format("\nresult      {}\n", folder);
}

}  // namespace strop::report
