// A profile as JSON and on a terminal.
#include <algorithm>

#include <fmt/format.h>

#include "base/strings.h"
#include "core/json.h"
#include "report/format.h"
#include "report/profile_report.h"

namespace strop::report {

namespace {

constexpr size_t indent = 20;  // "  parallelism   97%  "

std::string styled(const std::string& text, const char* code, bool color) {
    return color ? fmt::format("\033[{}m{}\033[0m", code, text) : text;
}

// Wrapped, behind a first line's head.
std::string block(const std::string& head, const std::string& text, int width) {
    std::string lines;
    bool first = true;
    for (const std::string& line : wrapped(one_line(text), static_cast<size_t>(std::max(width, 60)) - indent)) {
        lines += (first ? padded(head, indent) : std::string(indent, ' ')) + line + "\n";
        first = false;
    }
    return lines;
}

std::string point_text(const PointProfile& point, const Diagnosis& diagnosis, const ShapeReport& shape, bool color,
                       int width) {
    std::string text = "\n" + styled(fmt::format("{} ({})", point.point.label, describe(point.point.dims)), "1", color);
    text += fmt::format("  {}", time_text(point.time.median_ns));
    if (shape.roofline_share > 0)
        text += fmt::format(", {} of the roofline ({})", percent_text(shape.roofline_share), shape.bound);
    text += "\n";
    for (const Finding& finding : diagnosis.findings)
        text += block(fmt::format("  {:<12}{:>5}", name_of(finding.dimension), percent_text(finding.reached)),
                      finding.evidence, width);
    if (const std::string counted = counters_text(point); !counted.empty()) text += block("  counters", counted, width);
    if (diagnosis.findings.empty()) return text + "  not measured\n";
    text += block("  limited by", limit_text(diagnosis), width);
    return text + block("  next", diagnosis.next, width);
}

}  // namespace

std::string limit_text(const Diagnosis& diagnosis) {
    return name_of(diagnosis.limit) + (diagnosis.at_ceiling ? ", at its ceiling" : "");
}

std::string counters_text(const PointProfile& profile) {
    std::vector<std::string> parts;
    auto cycles = profile.counters.find("cycles"), instructions = profile.counters.find("instructions");
    if (cycles != profile.counters.end() && instructions != profile.counters.end() && cycles->second > 0)
        parts.push_back(fmt::format("{:.2f} instructions a cycle", instructions->second / cycles->second));
    for (const auto& [name, count] : profile.counters)
        parts.push_back(fmt::format("{:.4g} {}", count, replace_all(name, "_", " ")));
    return parts.empty() ? "" : join(parts, ", ") + " a call";
}

std::string profile_json(const ProfileReport& report) {
    Json points = Json::array();
    for (size_t i = 0; i < report.profile.points.size(); ++i) {
        Json point = report.profile.points[i];
        const ShapeReport& shape = report.shapes[i];
        point["bytes"] = shape.bytes;
        point["flops"] = shape.flops;
        point["roofline"] = {
            {"nanoseconds", shape.roofline_ns}, {"share", shape.roofline_share}, {"bound", shape.bound}};
        point["diagnosis"] = report.diagnoses[i];
        points.push_back(point);
    }
    return dump({{"kernel", report.kernel},
                 {"problem", report.problem},
                 {"verdict", name_of(report.profile.verdict)},
                 {"evidence", report.profile.evidence},
                 {"shapes", points},
                 {"missing", report.profile.missing},
                 {"machine", report.machine},
                 {"compiler", report.compiler}},
                2) +
           "\n";
}

std::string profile_terminal(const ProfileReport& report, bool color, int width) {
    std::string text = fmt::format("verdict: {}\n", name_of(report.profile.verdict));
    if (!report.profile.evidence.empty()) text += report.profile.evidence + "\n";
    for (size_t i = 0; i < report.profile.points.size(); ++i)
        text += point_text(report.profile.points[i], report.diagnoses[i], report.shapes[i], color, width);
    if (!report.profile.missing.empty()) text += "\n";
    for (const std::string& what : report.profile.missing) text += one_line(what) + "\n";
    return text;
}

}  // namespace strop::report
