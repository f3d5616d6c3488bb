#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "report/facts.h"
#include "report/figures.h"
#include "report/format.h"
#include "report/svg.h"

namespace strop::report {

namespace {

constexpr double width = 960, left = 200, right = 790, mark_gap = 13;

struct Extent {
    double low = 0.95, high = 1.05;

    void include(double value) {
        if (!(value > 0) || !std::isfinite(value)) return;
        low = std::min(low, value / 1.06);
        high = std::max(high, value * 1.06);
    }
};

Extent extent_of(const RunRecord& record) {
    Extent extent;
    for (const ShapeReport& shape : record.shapes)
        for (const auto& [name, ratio] : shape.speedups)
            for (double value : {ratio.ratio, ratio.low, ratio.high}) extent.include(value);
    return extent;
}

// One entry a baseline, over as many lines as it takes; returns the height.
double draw_legend(Svg& svg, const std::vector<std::string>& names) {
    double x = left, y = 14;
    for (size_t i = 0; i < names.size(); ++i) {
        double needed = text_width(names[i], 12) + 34;
        if (x > left && x + needed > width) {
            x = left;
            y += 20;
        }
        svg.mark(x + 5, y - 4, 5, static_cast<int>(i), fmt::format("fill{}", i % 6));
        svg.text(x + 16, y, fitted("over " + names[i], 12, width - x - 20));
        x += needed + text_width("over ", 12);
    }
    return y + 14;
}

void draw_axis(Svg& svg, const LogScale& scale, double top, double bottom) {
    svg.rect(left, top, scale(1) - left, bottom - top, "losing");
    for (double tick : scale.ticks(46)) {
        svg.line(scale(tick), top, scale(tick), bottom, "grid");
        svg.text(scale(tick), bottom + 16, fmt::format("{:g}×", tick), {11, "middle", "dim"});
    }
    svg.line(scale(1), top, scale(1), bottom + 4, "one");
    if (scale(1) - left > 110) svg.text(scale(1) - 8, bottom + 34, "← baseline faster", {11, "end", "dim"});
    svg.text(scale(1) + 8, bottom + 34, "this kernel faster →", {11, "start", "dim"});
}

void draw_shape(Svg& svg, const ShapeReport& shape, const std::vector<std::string>& names, const LogScale& scale,
                double top, double height) {
    double middle = top + height / 2;
    svg.text(left - 14, middle - 1, fitted(shape.label, 12.5 * bold_factor, left - 20), {12.5, "end", "bold"});
    svg.text(left - 14, middle + 13, fitted(describe(shape.dims), 10.5, left - 20), {10.5, "end", "dim"});
    double y = middle - mark_gap * (static_cast<double>(names.size()) - 1) / 2;
    for (size_t i = 0; i < names.size(); ++i, y += mark_gap) {
        const Ratio* ratio = speedup_over(shape, names[i]);
        if (!ratio) continue;
        svg.line(scale(ratio->low), y, scale(ratio->high), y, fmt::format("whisker stroke{}", i % 6));
        svg.mark(
            scale(ratio->ratio), y, 4.6, static_cast<int>(i), fmt::format("fill{}", i % 6),
            fmt::format("{}: {} over {} ({})", shape.label, ratio_text(ratio->ratio), names[i], interval_text(*ratio)));
    }
    if (shape.best_baseline.empty()) return;
    const char* css = standing(shape.speedup) == Standing::ahead    ? "bold good"
                      : standing(shape.speedup) == Standing::behind ? "bold bad"
                                                                    : "bold";
    svg.text(right + 14, middle - 1, ratio_text(shape.speedup.ratio), {13, "start", css});
    svg.text(right + 14, middle + 13, fitted("over " + shape.best_baseline, 10.5, width - right - 16),
             {10.5, "start", "dim"});
}

}  // namespace

std::string speedup_figure(const RunRecord& record) {
    std::vector<std::string> names = baseline_names(record);
    if (record.shapes.empty() || names.empty()) return {};
    Svg svg(width, 100, "Speedup over each baseline at each shape, with 95% intervals");
    double top = draw_legend(svg, names);
    double height = std::max(38.0, mark_gap * static_cast<double>(names.size()) + 12);
    double bottom = top + height * static_cast<double>(record.shapes.size());
    Extent extent = extent_of(record);
    LogScale scale(extent.low, extent.high, left, right);
    draw_axis(svg, scale, top, bottom);
    for (size_t i = 0; i < record.shapes.size(); ++i) {
        double y = top + height * static_cast<double>(i);
        svg.line(8, y, width, y, "grid");
        draw_shape(svg, record.shapes[i], names, scale, y, height);
    }
    svg.line(8, bottom, width, bottom, "grid");
    svg.grow(bottom + 44);
    return svg.str();
}

}  // namespace strop::report
