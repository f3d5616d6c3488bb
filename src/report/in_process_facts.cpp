// What a report says of the second measurement: the result called from Python beside a framework.
#include <algorithm>
#include <cmath>
#include <map>

#include <fmt/format.h>

#include "base/strings.h"
#include "report/facts.h"
#include "report/format.h"
#include "stats/sample.h"

namespace strop::report {

namespace {

constexpr double neighbour_is_slower = 1.05;

const ShapeReport* shape_of(const RunRecord& record, const std::string& label) {
    for (const ShapeReport& shape : record.shapes)
        if (shape.label == label) return &shape;
    return nullptr;
}

std::string point_text(const InProcessPoint& point, const ShapeReport* alone) {
    std::vector<std::string> parts;
    for (const auto& [name, nanoseconds] : point.baselines) {
        const Ratio& ratio = point.speedups.at(name);
        parts.push_back(fmt::format("{} ({}) over {}, {}", ratio_text(ratio.ratio), interval_text(ratio), name,
                                    time_text(nanoseconds)));
    }
    const std::string before = alone && alone->nanoseconds > 0 ? ", alone " + time_text(alone->nanoseconds) : "";
    return fmt::format("{}{}: {}", time_text(point.nanoseconds), before, join(parts, "; "));
}

// How many times longer a call takes here than alone; empty where that is not known.
std::string growth_text(const RunRecord& record) {
    std::vector<double> ours, theirs;
    for (const InProcessPoint& point : record.in_process.points) {
        const ShapeReport* shape = shape_of(record, point.label);
        if (!shape || shape->nanoseconds <= 0) continue;
        ours.push_back(point.nanoseconds / shape->nanoseconds);
        auto alone = shape->baselines.find(point.best_baseline);
        if (alone != shape->baselines.end() && alone->second > 0)
            theirs.push_back(point.baselines.at(point.best_baseline) / alone->second);
    }
    if (ours.empty() || theirs.empty()) return {};
    return fmt::format("a call takes {} as long as alone, the framework's {}", ratio_text(stats::geometric_mean(ours)),
                       ratio_text(stats::geometric_mean(theirs)));
}

std::string overhead_text(const RunRecord& record) {
    std::map<std::string, double> largest;
    for (const ShapeReport& shape : record.shapes)
        for (const InProcessPoint& point : record.in_process.points)
            if (auto found = shape.baseline_overhead.find(point.best_baseline); found != shape.baseline_overhead.end())
                largest[found->first] = std::max(largest[found->first], found->second);
    std::vector<std::string> parts;
    for (const auto& [name, nanoseconds] : largest) parts.push_back(name + " " + time_text(nanoseconds));
    return parts.empty() ? "" : fmt::format("alone leaves out what calling a baseline costs ({})", join(parts, ", "));
}

std::string neighbour_text(const RunRecord& record) {
    double worst = 0;
    for (const InProcessPoint& point : record.in_process.points) worst = std::max(worst, point.neighbour);
    if (worst < neighbour_is_slower || !std::isfinite(worst)) return {};
    return fmt::format("threads meet: the other operation takes up to {} as long beside the result", ratio_text(worst));
}

}  // namespace

bool differs_in_process(const RunRecord& record) {
    const Ratio &alone = record.headline, &inside = record.in_process.headline;
    return record.in_process.measured() && (inside.high < alone.low || inside.low > alone.high);
}

std::string in_process_text(const RunRecord& record) {
    const Ratio& ratio = record.in_process.headline;
    return fmt::format("{} from Python beside {} ({})", ratio_text(ratio.ratio), record.in_process.framework,
                       interval_text(ratio));
}

std::string in_process_explanation(const RunRecord& record) {
    std::vector<std::string> parts;
    for (const std::string& part : {overhead_text(record), growth_text(record), neighbour_text(record)})
        if (!part.empty()) parts.push_back(part);
    return join(parts, "; ");
}

std::vector<Row> in_process_rows(const RunRecord& record) {
    std::vector<Row> rows;
    for (const InProcessPoint& point : record.in_process.points)
        rows.push_back({point.label, point_text(point, shape_of(record, point.label))});
    if (rows.empty()) return rows;
    rows.push_back({"in all", in_process_text(record)});
    if (const std::string why = in_process_explanation(record); !why.empty()) rows.push_back({"why it differs", why});
    rows.push_back({"how",
                    "in one process, each call after an addition of the framework over 262,144 elements, all in "
                    "random order; a call from Python, with what it allocates"});
    return rows;
}

}  // namespace strop::report
