#include <fmt/format.h>

#include "report/facts.h"
#include "report/figures.h"
#include "report/format.h"
#include "report/svg.h"

namespace strop::report {

namespace {

constexpr double width = 960, indent = 30, name_size = 13, text_size = 12, leading = 17;

std::string css_of(Strategy::State state) {
    switch (state) {
        case Strategy::State::winner: return "won";
        case Strategy::State::pruned: return "pruned";
        case Strategy::State::active: break;
    }
    return "open";
}

double node_x(int depth) { return 12 + indent * depth; }

// The strategy's name, state and origin, then what it supposed and what came of it; returns where it ends.
double draw_strategy(Svg& svg, const Strategy& strategy, double x, double y) {
    std::string css = css_of(strategy.state);
    int shape = strategy.state == Strategy::State::pruned ? 5 : 0;
    svg.mark(x, y - 4, 6, shape, css, name_of(strategy.state));
    double text_x = x + 16;
    std::string origin = fmt::format("{} · {} · {} · confidence {:.2f}", name_of(strategy.state), strategy.family,
                                     strategy.proposer, strategy.confidence);
    if (!strategy.bottleneck.empty()) origin += " · expects " + strategy.bottleneck;
    std::string id = fitted(strategy.id, name_size * 1.06, width - text_x - 8);
    svg.text(text_x, y, id, {name_size, "start", "bold mono"});
    double after = text_x + 0.62 * name_size * static_cast<double>(columns_of(id)) + 14;
    if (after + text_width(origin, 11) > width) {
        y += leading;
        after = text_x;
    }
    svg.text(after, y, fitted(origin, 11, width - after - 4), {11, "start", "dim"});
    for (const auto& [words, style] : {std::pair<std::string, std::string>{strategy.hypothesis, "dim"},
                                       {strategy.reason.empty() ? "" : "→ " + strategy.reason, css + "-text"}})
        if (!words.empty())
            for (const std::string& line : wrapped_to(one_line(words), text_size, width - text_x - 8))
                svg.text(text_x, y += leading, line, {text_size, "start", style});
    return y;
}

}  // namespace

std::string strategy_figure(const RunRecord& record) {
    std::vector<StrategyLine> lines = strategy_tree(record);
    if (lines.empty()) return {};
    Svg svg(width, 100, "Strategies that were tried, with their states and reasons");
    std::vector<double> marks;  // the last node's height at each depth
    double y = 22;
    for (const StrategyLine& line : lines) {
        double x = node_x(line.depth);
        marks.resize(static_cast<size_t>(line.depth));
        if (line.depth > 0) {
            double parent_x = node_x(line.depth - 1);
            svg.path(fmt::format("M{:.1f} {:.1f}V{:.1f}H{:.1f}", parent_x, marks.back() + 4, y - 4, x - 8), "branch");
        }
        marks.push_back(y);
        y = draw_strategy(svg, *line.strategy, x, y) + 28;
    }
    svg.grow(y - 12);
    return svg.str();
}

}  // namespace strop::report
