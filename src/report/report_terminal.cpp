#include <algorithm>

#include <fmt/format.h>

#include "base/strings.h"
#include "report/facts.h"
#include "report/format.h"
#include "report/report.h"

namespace strop::report {

namespace {

enum class Style { plain, bold, dim, good, bad };

struct Cell {
    std::string text;
    Style style = Style::plain;
};

struct Column {
    std::string title;
    bool right = true;
    int rank = 0;           // the columns with the highest rank go first when the terminal is narrow
    size_t shrinks_to = 0;  // 0: never cut
    std::vector<Cell> cells = {};

    size_t width() const {
        size_t widest = columns_of(title);
        for (const Cell& cell : cells) widest = std::max(widest, columns_of(cell.text));
        return widest;
    }
};

class Page {
public:
    Page(bool color, int width) : color_(color), width_(static_cast<size_t>(std::clamp(width, 60, 200))) {}

    size_t width() const { return width_; }
    std::string text() const { return text_; }

    std::string styled(std::string_view text, Style style) const {
        static constexpr const char* codes[] = {"", "\033[1m", "\033[2m", "\033[32m", "\033[31m"};
        if (!color_ || style == Style::plain) return std::string(text);
        return fmt::format("{}{}\033[0m", codes[static_cast<int>(style)], text);
    }

    void line(std::string_view text = {}, Style style = Style::plain) {
        text_ += styled(truncated(text, width_), style) + "\n";
    }

    void raw(std::string_view text) { text_ += std::string(text) + "\n"; }

    // Wrapped, with what follows the first line indented.
    void paragraph(std::string_view text, size_t indent, Style style = Style::plain) {
        bool first = true;
        for (const std::string& part : wrapped(text, width_ - indent)) {
            raw(std::string(first ? 0 : indent, ' ') + styled(part, style));
            first = false;
        }
    }

    void named(std::string_view name, std::string_view text, Style style = Style::plain) {
        constexpr size_t indent = 12;
        bool first = true;
        for (const std::string& part : wrapped(one_line(text), width_ - indent)) {
            raw(styled(padded(first ? name : "", indent), Style::dim) + styled(part, style));
            first = false;
        }
    }

    // Returns the titles of the columns for which there was no room.
    std::vector<std::string> table(std::vector<Column> columns);

private:
    bool color_;
    size_t width_;
    std::string text_;
};

size_t total_width(const std::vector<Column>& columns, const std::vector<size_t>& widths) {
    size_t total = columns.empty() ? 0 : 2 * (columns.size() - 1);
    for (size_t width : widths) total += width;
    return total;
}

std::vector<size_t> natural_widths(const std::vector<Column>& columns) {
    std::vector<size_t> widths;
    for (const Column& column : columns) widths.push_back(column.width());
    return widths;
}

// Columns that may be cut give way first, then whole columns by rank.
std::vector<std::string> fit(std::vector<Column>& columns, std::vector<size_t>& widths, size_t room) {
    std::vector<std::string> dropped;
    widths = natural_widths(columns);
    while (total_width(columns, widths) > room) {
        size_t widest = columns.size();
        for (size_t i = 0; i < columns.size(); ++i)
            if (columns[i].shrinks_to && widths[i] > columns[i].shrinks_to &&
                (widest == columns.size() || widths[i] > widths[widest]))
                widest = i;
        if (widest < columns.size()) {
            --widths[widest];
            continue;
        }
        auto last = std::max_element(columns.begin(), columns.end(),
                                     [](const Column& a, const Column& b) { return a.rank < b.rank; });
        if (last->rank == 0) break;
        dropped.push_back(last->title);
        columns.erase(last);
        widths = natural_widths(columns);
    }
    return dropped;
}

std::vector<std::string> Page::table(std::vector<Column> columns) {
    std::vector<size_t> widths;
    std::vector<std::string> dropped = fit(columns, widths, width_);
    auto row = [&](auto cell_of) {
        std::string text;
        for (size_t i = 0; i < columns.size(); ++i) {
            Cell cell = cell_of(columns[i]);
            bool pads = columns[i].right || i + 1 < columns.size();
            std::string shown = truncated(cell.text, widths[i]);
            text += (i ? "  " : "") + styled(pads ? padded(shown, widths[i], columns[i].right) : shown, cell.style);
        }
        raw(text);
    };
    row([](const Column& column) { return Cell{column.title, Style::dim}; });
    for (size_t r = 0; !columns.empty() && r < columns[0].cells.size(); ++r)
        row([&](const Column& column) { return column.cells[r]; });
    return dropped;
}

Style style_of(const Ratio& ratio) {
    switch (standing(ratio)) {
        case Standing::ahead: return Style::good;
        case Standing::behind: return Style::bad;
        case Standing::even: break;
    }
    return Style::plain;
}

std::vector<Column> shape_columns(const RunRecord& record, const std::vector<std::string>& baselines) {
    std::vector<Column> columns = {{"shape", false, 0, 8}, {"time", true, 0}, {"±", true, 50},
                                   {"speedup", true, 0},   {"95%", true, 3},  {"over", false, 2, 8}};
    int rank = 10;
    for (const std::string& name : baselines) columns.push_back({"vs " + one_line(name), true, rank++});
    columns.push_back({"roofline", true, 1});
    columns.push_back({"cold", true, 4});
    columns.push_back({"kernel", false, 5, 12});
    for (const ShapeReport& shape : record.shapes) {
        bool compared = !shape.best_baseline.empty();
        Style style = compared ? style_of(shape.speedup) : Style::plain;
        std::vector<Cell> cells = {{one_line(shape.label), Style::bold},
                                   {time_text(shape.nanoseconds)},
                                   {spread_text(shape.nanoseconds, shape.low_ns, shape.high_ns), Style::dim},
                                   {compared ? ratio_text(shape.speedup.ratio) : "–", style},
                                   {compared ? interval_text(shape.speedup) : "–"},
                                   {compared ? one_line(shape.best_baseline) : "–"}};
        for (const std::string& name : baselines) {
            const Ratio* ratio = speedup_over(shape, name);
            cells.push_back(ratio ? Cell{ratio_text(ratio->ratio), style_of(*ratio)} : Cell{"–", Style::dim});
        }
        cells.push_back({one_line(roofline_text(shape))});
        cells.push_back({cold_text(shape) + " " + cold_ratio_text(shape)});
        cells.push_back({one_line(shape.kernel), Style::dim});
        for (size_t i = 0; i < columns.size(); ++i) columns[i].cells.push_back(cells[i]);
    }
    return columns;
}

void add_shapes(Page& page, const RunRecord& record) {
    if (record.shapes.empty()) return;
    std::vector<std::string> baselines = baseline_names(record);
    if (baselines.size() < 2) baselines.clear();  // "over" says it all
    page.line();
    std::vector<std::string> dropped = page.table(shape_columns(record, baselines));
    if (!dropped.empty()) page.paragraph("no room for: " + join(dropped, ", ") + " (see the report)", 2, Style::dim);
}

void add_regimes(Page& page, const RunRecord& record) {
    if (record.regimes.empty()) return;
    page.line();
    std::vector<Column> columns = {
        {"regime", false, 0, 12}, {"kernel", false, 0, 16}, {"tunables", false, 2, 10}, {"shapes", false, 1, 8}};
    for (const Regime& regime : record.regimes) {
        columns[0].cells.push_back({one_line(regime.condition), Style::bold});
        columns[1].cells.push_back({one_line(regime.kernel)});
        columns[2].cells.push_back({one_line(describe(regime.configuration)), Style::dim});
        columns[3].cells.push_back({one_line(join(regime.points, ", ")), Style::dim});
    }
    page.table(columns);
    page.named("held out", dispatch_text(record));
}

std::string branch(const StrategyLine& line) {
    if (line.depth == 0) return {};
    std::string text;
    for (size_t level = 1; level + 1 < line.more.size(); ++level) text += line.more[level] ? "│  " : "   ";
    return text + (line.more.back() ? "├─ " : "└─ ");
}

void add_strategies(Page& page, const RunRecord& record) {
    std::vector<StrategyLine> lines = strategy_tree(record);
    if (lines.empty()) return;
    page.line();
    page.line("strategies", Style::dim);
    size_t widest = 0;
    for (const StrategyLine& line : lines)
        widest = std::max(widest, columns_of(branch(line)) + columns_of(line.strategy->id));
    widest = std::min(widest, page.width() / 2 - 4);
    for (const StrategyLine& line : lines) {
        bool won = line.strategy->state == Strategy::State::winner;
        bool pruned = line.strategy->state == Strategy::State::pruned;
        std::string mark = won ? "✓" : pruned ? "✗" : "·";
        std::string name = padded(truncated(branch(line) + one_line(line.strategy->id), widest), widest);
        std::string reason = truncated(one_line(line.strategy->reason), page.width() - widest - 4);
        page.raw(page.styled(mark, won      ? Style::good
                                   : pruned ? Style::bad
                                            : Style::plain) +
                 " " + page.styled(name, won ? Style::bold : Style::plain) +
                 (reason.empty() ? "" : "  " + page.styled(reason, Style::dim)));
    }
}

void add_closing(Page& page, const RunRecord& record) {
    page.line();
    page.named("verified",
               record.verification.empty() ? (record.verified ? "yes" : "no")
               : record.verified           ? record.verification
                                           : "no: " + record.verification,
               record.verified ? Style::plain : Style::bad);
    page.named("sanitizers", sanitizers_text(record));
    const std::vector<Row> inside = in_process_rows(record);
    for (size_t i = 0; i < inside.size(); ++i)
        page.named(i == 0 ? "from Python" : "", inside[i].name + ": " + inside[i].value);
    page.named("search", fmt::format("{} ({})", stopped_text(record), verdicts_text(record)));
    if (!record.workers.empty()) page.named("workers", workers_text(record));
    if (!record.models.empty()) page.named("models", models_text(record));
    for (const std::string& lesson : record.lessons) page.named("learned", lesson);
    std::vector<std::string> parts;
    for (const Phase& phase : phases(record.seconds)) parts.push_back(phase.name + " " + seconds_text(phase.seconds));
    page.named("seconds", join(parts, ", "));
    if (!record.result.empty()) page.named("result", record.result, Style::bold);
    page.named("next", next_step(record));
}

}  // namespace

std::string terminal(const RunRecord& record, bool color, int width) {
    Page page(color, width);
    Style style = record.outcome == Outcome::improved ? Style::good : Style::bold;
    page.paragraph(one_line(fmt::format("{}: {}", record.problem, headline(record))), 0, style);
    std::string meaning = headline_meaning(record);
    if (!meaning.empty()) page.paragraph(one_line(meaning), 0, Style::dim);
    page.paragraph(one_line(fmt::format("on {}, {}", measured_on(record), record.compiler)), 0, Style::dim);
    for (const std::string& caveat : caveats(record))
        if (record.verified || caveat != verification_text(record)) page.paragraph("! " + one_line(caveat), 2);
    add_shapes(page, record);
    add_regimes(page, record);
    add_strategies(page, record);
    add_closing(page, record);
    return page.text();
}

}  // namespace strop::report
