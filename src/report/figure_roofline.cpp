#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "report/figures.h"
#include "report/format.h"
#include "report/svg.h"

namespace strop::report {

namespace {

constexpr double width = 960, height = 460, left = 78, right = 740, top = 18, bottom = 408;

struct Slope {
    std::string name;
    double bytes_per_second;
};

// Fastest first; a cache that was not measured has no line.
std::vector<Slope> slopes_of(const Machine& machine) {
    std::vector<Slope> slopes;
    for (const CacheLevel& cache : machine.caches)
        if (cache.read_bytes_per_second > 0)
            slopes.push_back({fmt::format("L{}", cache.level), cache.read_bytes_per_second});
    double memory = std::max(machine.ceilings.memory_copy, machine.ceilings.memory_read);
    if (memory > 0) slopes.push_back({"memory", memory});
    std::sort(slopes.begin(), slopes.end(),
              [](const Slope& a, const Slope& b) { return a.bytes_per_second > b.bytes_per_second; });
    return slopes;
}

struct Dot {
    const ShapeReport* shape;
    double intensity, rate;  // FLOP per byte, FLOP/s
};

std::vector<Dot> dots_of(const std::vector<ShapeReport>& shapes) {
    std::vector<Dot> dots;
    for (const ShapeReport& shape : shapes)
        if (shape.bytes > 0 && shape.flops > 0 && shape.nanoseconds > 0 && std::isfinite(shape.nanoseconds))
            dots.push_back({&shape, shape.flops / shape.bytes, shape.flops / shape.nanoseconds * 1e9});
    return dots;
}

struct Axes {
    LogScale x, y;
    double x_low, x_high, y_low, roof;
};

Axes axes_of(const std::vector<Dot>& dots, const std::vector<Slope>& slopes, double roof) {
    double x_low = dots[0].intensity, x_high = x_low, y_low = dots[0].rate, y_high = roof;
    for (const Dot& dot : dots) {
        x_low = std::min(x_low, dot.intensity);
        x_high = std::max(x_high, dot.intensity);
        y_low = std::min(y_low, dot.rate);
        y_high = std::max(y_high, dot.rate);
    }
    x_low = std::min(x_low / 8, roof / slopes.back().bytes_per_second / 16);  // enough of the slopes to be read
    x_high = std::max(x_high * 4, 4 * roof / slopes.back().bytes_per_second);
    y_low = std::min(y_low / 3, x_low * slopes.back().bytes_per_second);
    return {
        LogScale(x_low, x_high, left, right), LogScale(y_low, y_high * 1.6, bottom, top), x_low, x_high, y_low, roof};
}

void draw_grid(Svg& svg, const Axes& axes) {
    for (double tick : axes.x.ticks(44)) {
        svg.line(axes.x(tick), top, axes.x(tick), bottom, "grid");
        svg.text(axes.x(tick), bottom + 17, fmt::format("{:g}", tick), {11, "middle", "dim"});
    }
    for (double tick : axes.y.ticks(30)) {
        svg.line(left, axes.y(tick), right, axes.y(tick), "grid");
        svg.text(left - 8, axes.y(tick) + 4, fmt::format("{:g}", tick / 1e9), {11, "end", "dim"});
    }
    svg.text((left + right) / 2, bottom + 40, "arithmetic intensity, FLOP per byte of compulsory traffic",
             {12, "middle", "dim"});
    svg.text(18, (top + bottom) / 2, "GFLOP/s", {12, "middle", "dim", -90});
}

void draw_ceilings(Svg& svg, const Axes& axes, const std::vector<Slope>& slopes) {
    double last_y = -100;
    int lane = 0;
    for (const Slope& slope : slopes) {
        double ridge = axes.roof / slope.bytes_per_second;
        double start = std::max(axes.x_low, axes.y_low / slope.bytes_per_second);
        if (start >= ridge) continue;
        double end = std::min(ridge, axes.x_high);
        double x1 = axes.x(start), y1 = axes.y(start * slope.bytes_per_second);
        double x2 = axes.x(end), y2 = axes.y(end * slope.bytes_per_second);
        svg.line(x1, y1, x2, y2, slope.name == "memory" ? "roof" : "roof thin");
        // Neighbouring lines that are close carry their names at different places.
        lane = std::abs(y1 - last_y) < 26 ? lane + 1 : 0;
        last_y = y1;
        double along = std::min(0.86, (10 + 130.0 * lane) / std::max(1.0, std::hypot(x2 - x1, y2 - y1)));
        double angle = std::atan2(y2 - y1, x2 - x1) * 180 / std::acos(-1.0);
        svg.text(x1 + along * (x2 - x1) - 2, y1 + along * (y2 - y1) - 9,
                 fmt::format("{} {}", slope.name, rate_text(slope.bytes_per_second, "B/s")),
                 {11, "start", "dim halo", angle});
    }
    double ridge = axes.roof / slopes.front().bytes_per_second;
    svg.line(axes.x(ridge), axes.y(axes.roof), right, axes.y(axes.roof), "roof");
    svg.text(axes.x(ridge) + 4, axes.y(axes.roof) - 8,
             fmt::format("multiply-add, all cores {}", rate_text(axes.roof, "FLOP/s")), {11, "start", "dim halo"});
}

void draw_dots(Svg& svg, const Axes& axes, const std::vector<Dot>& dots) {
    std::vector<double> wanted;
    for (const Dot& dot : dots) wanted.push_back(axes.y(dot.rate));
    double gap = std::min(30.0, (bottom - top) / static_cast<double>(dots.size()));
    std::vector<double> placed = spread(wanted, gap, top + 10, bottom - 6);
    for (size_t i = 0; i < dots.size(); ++i) {
        const ShapeReport& shape = *dots[i].shape;
        double x = axes.x(dots[i].intensity);
        svg.path(fmt::format("M{:.1f} {:.1f}L{:.1f} {:.1f}L{:.1f} {:.1f}", x + 6, wanted[i], right + 4, placed[i],
                             right + 12, placed[i]),
                 "leader");
        const std::string share = shape.bound_is_beaten() ? "not a bound"
                                                          : fmt::format("{} of {}", percent_text(shape.roofline_share),
                                                                        shape.bound.empty() ? "roofline" : shape.bound);
        double room = width - right - 18;
        if (gap >= 26) {
            svg.text(right + 16, placed[i] + 1, fitted(shape.label, 12 * bold_factor, room), {12, "start", "bold"});
            svg.text(right + 16, placed[i] + 14, share, {10.5, "start", "dim"});
        } else {
            svg.text(right + 16, placed[i] + 4, fitted(shape.label, 11 * bold_factor, room - 40),
                     {11, "start", "bold"});
            svg.text(width - 4, placed[i] + 4, percent_text(shape.roofline_share), {10.5, "end", "dim"});
        }
    }
    for (size_t i = 0; i < dots.size(); ++i)
        svg.mark(axes.x(dots[i].intensity), wanted[i], 5.5, 0, "dot",
                 fmt::format("{}: {}", dots[i].shape->label, rate_text(dots[i].rate, "FLOP/s")));
}

}  // namespace

std::string roofline_figure(const std::vector<ShapeReport>& shapes, const Machine& machine) {
    std::vector<Dot> dots = dots_of(shapes);
    std::vector<Slope> slopes = slopes_of(machine);
    double roof = machine.ceilings.fma_flops_all_cores;
    if (dots.empty() || slopes.empty() || !(roof > 0)) return {};
    Svg svg(width, height, "Roofline: each shape against the machine's measured ceilings");
    Axes axes = axes_of(dots, slopes, roof);
    draw_grid(svg, axes);
    draw_ceilings(svg, axes, slopes);
    draw_dots(svg, axes, dots);
    return svg.str();
}

}  // namespace strop::report
