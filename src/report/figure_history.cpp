#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include <fmt/format.h>

#include "report/facts.h"
#include "report/figures.h"
#include "report/format.h"
#include "report/svg.h"
#include "stats/sample.h"

namespace strop::report {

namespace {

constexpr double width = 960, left = 78, right = 760, top = 18, bottom = 300;
constexpr size_t most_named = 1000;  // evaluations

using Times = std::map<std::string, double>;

// What counts as 1×: the best baseline at each shape, or the final kernel where nothing was compared.
Times reference_of(const RunRecord& record) {
    Times reference;
    for (const ShapeReport& shape : record.shapes) {
        double best = INFINITY;
        for (const auto& [name, nanoseconds] : shape.baselines)
            if (nanoseconds > 0) best = std::min(best, nanoseconds);
        reference[shape.label] = std::isfinite(best) ? best : shape.nanoseconds;
    }
    return reference;
}

// Geometric mean of the speedups at the shapes that `times` has; NaN when there is none.
double mean_speedup(const Times& reference, const Times& times) {
    std::vector<double> ratios;
    for (const auto& [label, nanoseconds] : times)
        if (auto found = reference.find(label);
            found != reference.end() && nanoseconds > 0 && std::isfinite(nanoseconds) && found->second > 0)
            ratios.push_back(found->second / nanoseconds);
    return stats::geometric_mean(ratios);
}

struct Sample {
    double seconds, speedup;
};

struct Curves {
    std::vector<Sample> dots;  // one an evaluation, in the order of `ok`
    std::vector<const HistoryEntry*> ok, failed;
    std::vector<Sample> best;                           // all shapes together
    std::map<std::string, std::vector<Sample>> shapes;  // best so far at each
    double low = 1, high = 1, seconds = 0;
};

Curves curves_of(const RunRecord& record) {
    Times reference = reference_of(record), so_far;
    Curves curves;
    double lowest_best = 1;
    for (const HistoryEntry& entry : record.history) {
        curves.seconds = std::max(curves.seconds, entry.seconds);
        double speedup = mean_speedup(reference, entry.nanoseconds);
        if (entry.verdict != Verdict::ok || std::isnan(speedup)) {
            curves.failed.push_back(&entry);
            continue;
        }
        curves.ok.push_back(&entry);
        curves.dots.push_back({entry.seconds, speedup});
        for (const auto& [label, nanoseconds] : entry.nanoseconds) {
            auto found = so_far.emplace(label, nanoseconds).first;
            found->second = std::min(found->second, nanoseconds);
            double ratio = mean_speedup(reference, {{label, found->second}});
            if (std::isnan(ratio)) continue;
            curves.shapes[label].push_back({entry.seconds, ratio});
            curves.high = std::max(curves.high, ratio);
            lowest_best = std::min(lowest_best, ratio);
        }
        curves.best.push_back({entry.seconds, mean_speedup(reference, so_far)});
    }
    for (const Sample& dot : curves.dots) curves.low = std::min(curves.low, dot.speedup);
    curves.low = std::max(curves.low, std::min(lowest_best, 1.0) / 4);  // hopeless ones lie on the lower edge
    return curves;
}

std::string steps(const std::vector<Sample>& samples, const LogScale& y, double per_second, double end) {
    std::string data;
    double level = NAN;
    for (const Sample& sample : samples) {
        if (sample.speedup == level) continue;
        level = sample.speedup;
        double px = left + sample.seconds * per_second, py = y(sample.speedup);
        data += data.empty() ? fmt::format("M{:.1f} {:.1f}", px, py) : fmt::format("H{:.1f}V{:.1f}", px, py);
    }
    return data + fmt::format("H{:.1f}", end);
}

double nice_step(double range, int most) {
    double raw = range / most, magnitude = std::pow(10.0, std::floor(std::log10(raw)));
    for (double factor : {1.0, 2.0, 5.0})
        if (factor * magnitude >= raw) return factor * magnitude;
    return 10 * magnitude;
}

void draw_axes(Svg& svg, const LogScale& y, double seconds, double per_second, double base) {
    for (double tick : y.ticks(26)) {
        svg.line(left, y(tick), right, y(tick), "grid");
        svg.text(left - 8, y(tick) + 4, fmt::format("{:g}×", tick), {11, "end", "dim"});
    }
    svg.line(left, y(1), right, y(1), "one");
    double step = nice_step(seconds, 9);
    for (int i = 0; i * step <= seconds; ++i)
        svg.text(left + i * step * per_second, base + 16, fmt::format("{:g}", i * step), {11, "middle", "dim"});
    svg.text((left + right) / 2, base + 36, "seconds since the start", {12, "middle", "dim"});
    svg.text(18, (top + bottom) / 2, "speedup over the best baseline", {12, "middle", "dim", -90});
}

void draw_curves(Svg& svg, const Curves& curves, const LogScale& y, double per_second) {
    std::vector<double> wanted;
    std::vector<std::string> names, ratios;
    for (const auto& [label, samples] : curves.shapes) {
        svg.path(steps(samples, y, per_second, right), "step thin");
        wanted.push_back(y(samples.back().speedup));
        names.push_back(label);
        ratios.push_back(ratio_text(samples.back().speedup));
    }
    if (!curves.best.empty()) {
        svg.path(steps(curves.best, y, per_second, right), "step");
        wanted.push_back(y(curves.best.back().speedup));
        names.push_back("all shapes");
        ratios.push_back(ratio_text(curves.best.back().speedup));
    }
    double gap = std::min(16.0, (bottom - top) / static_cast<double>(std::max<size_t>(wanted.size(), 1)));
    std::vector<double> placed = spread(wanted, gap, top, bottom);
    for (size_t i = 0; i < wanted.size(); ++i) {
        svg.path(fmt::format("M{:.1f} {:.1f}L{:.1f} {:.1f}", right, wanted[i], right + 12, placed[i]), "leader");
        const char* css = i + 1 == wanted.size() ? "bold accent" : "dim";
        svg.text(right + 16, placed[i] + 4, ratios[i], {11, "start", css});
        svg.text(right + 62, placed[i] + 4, fitted(names[i], 11 * bold_factor, width - right - 64), {11, "start", css});
    }
}

// Evaluations without a time, each verdict on its own line under the plot; returns where they end.
double draw_failures(Svg& svg, const Curves& curves, double per_second) {
    std::set<Verdict> kinds;
    for (const HistoryEntry* entry : curves.failed) kinds.insert(entry->verdict);
    double y = bottom + 16;
    for (Verdict kind : kinds) {
        for (const HistoryEntry* entry : curves.failed)
            if (entry->verdict == kind)
                svg.mark(left + entry->seconds * per_second, y, 3.4, 5, "failure",
                         fmt::format("{} at {}: {}", entry->kernel, seconds_text(entry->seconds),
                                     truncated(one_line(entry->evidence), 200)));
        svg.text(right + 16, y + 4, kind == Verdict::ok ? "not timed" : name_of(kind), {11, "start", "bad"});
        y += 16;
    }
    return y - 6;
}

// Of a long search without their names: a page of megabytes opens slowly.
void draw_dots(Svg& svg, const Curves& curves, const LogScale& y, double per_second) {
    std::string data;
    for (size_t i = 0; i < curves.dots.size(); ++i) {
        const double px = left + curves.dots[i].seconds * per_second, py = y(curves.dots[i].speedup);
        if (curves.dots.size() > most_named) data += fmt::format("M{:.0f} {:.0f}h0", px, py);
        else
            svg.mark(px, py, 3, 0, "faint",
                     fmt::format("{} {}: {}", curves.ok[i]->kernel, describe(curves.ok[i]->configuration),
                                 ratio_text(curves.dots[i].speedup)));
    }
    if (!data.empty()) svg.path(data, "dots");
}

}  // namespace

std::string history_figure(const RunRecord& record) {
    Curves curves = curves_of(record);
    if (record.history.empty() || !(curves.seconds > 0)) return {};
    Svg svg(width, 100, "Search history: every evaluation and the best so far");
    double per_second = (right - left) / (1.02 * curves.seconds);
    LogScale y(curves.low / 1.1, curves.high * 1.15, bottom, top);
    double base = draw_failures(svg, curves, per_second);
    draw_axes(svg, y, 1.02 * curves.seconds, per_second, base);
    draw_dots(svg, curves, y, per_second);
    draw_curves(svg, curves, y, per_second);
    svg.grow(base + 46);
    return svg.str();
}

}  // namespace strop::report
