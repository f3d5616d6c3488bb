#include "report/svg.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include <fmt/format.h>

#include "report/format.h"

namespace strop::report {

namespace {

// Length of the valid UTF-8 sequence at the start of `text`; 0 when it is none.
size_t sequence_length(std::string_view text) {
    auto byte = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
    size_t length = byte(0) < 0x80                      ? 1
                    : byte(0) >= 0xC2 && byte(0) < 0xE0 ? 2
                    : (byte(0) & 0xF0) == 0xE0          ? 3
                    : byte(0) >= 0xF0 && byte(0) < 0xF5 ? 4
                                                        : 0;
    if (length > text.size()) return 0;
    for (size_t i = 1; i < length; ++i)
        if ((byte(i) & 0xC0) != 0x80) return 0;
    return length;
}

double character_width(char c) {
    if (std::string_view(" .,:;'|!()[]fijlrtI-").find(c) != std::string_view::npos) return 0.36;
    if (std::string_view("mwMW@%").find(c) != std::string_view::npos) return 0.92;
    return c >= 'A' && c <= 'Z' ? 0.72 : 0.62;
}

// Unit marks around the origin: circle, square, diamond, triangles, plus.
std::string mark_path(int shape, double x, double y, double r) {
    auto polygon = [&](std::initializer_list<std::pair<double, double>> corners) {
        std::string data;
        for (const auto& [dx, dy] : corners)
            data += fmt::format("{}{:.1f} {:.1f}", data.empty() ? "M" : "L", x + dx * r, y + dy * r);
        return data + "Z";
    };
    switch (shape % 6) {
        case 1: return polygon({{-.85, -.85}, {.85, -.85}, {.85, .85}, {-.85, .85}});
        case 2: return polygon({{0, -1.2}, {1.2, 0}, {0, 1.2}, {-1.2, 0}});
        case 3: return polygon({{0, -1.15}, {1.1, .85}, {-1.1, .85}});
        case 4: return polygon({{0, 1.15}, {1.1, -.85}, {-1.1, -.85}});
        case 5:
            return polygon({{-.4, -1.1},
                            {.4, -1.1},
                            {.4, -.4},
                            {1.1, -.4},
                            {1.1, .4},
                            {.4, .4},
                            {.4, 1.1},
                            {-.4, 1.1},
                            {-.4, .4},
                            {-1.1, .4},
                            {-1.1, -.4},
                            {-.4, -.4}});
        default: break;
    }
    return fmt::format("M{:.1f} {:.1f}a{r:.1f} {r:.1f} 0 1 0 {d:.1f} 0a{r:.1f} {r:.1f} 0 1 0 -{d:.1f} 0Z", x - r, y,
                       fmt::arg("r", r), fmt::arg("d", 2 * r));
}

}  // namespace

std::string escaped(std::string_view text) {
    std::string result;
    while (!text.empty()) {
        size_t length = sequence_length(text);
        unsigned char c = static_cast<unsigned char>(text[0]);
        bool control = c == 0x7f || (c < 0x20 && c != '\n' && c != '\t');
        if (length == 0 || control) result += "\uFFFD";
        else if (c == '&') result += "&amp;";
        else if (c == '<') result += "&lt;";
        else if (c == '>') result += "&gt;";
        else if (c == '"') result += "&quot;";
        else if (c == '\'') result += "&#39;";
        else result += text.substr(0, length);
        text.remove_prefix(std::max<size_t>(length, 1));
    }
    return result;
}

std::string escaped_name(std::string_view text) {
    std::string result;
    for (char c : escaped(text)) {
        result += c;
        if (c == '_' || c == '+' || c == '/') result += "<wbr>";
    }
    return result;
}

double text_width(std::string_view text, double size) {
    double width = 0;
    for (char c : text)
        if ((static_cast<unsigned char>(c) & 0xC0) != 0x80) width += character_width(c);
    return width * size;
}

std::string fitted(std::string_view text, double size, double width) {
    size_t columns = columns_of(text);
    while (columns > 1 && text_width(truncated(text, columns), size) > width) --columns;
    return truncated(text, columns);
}

std::vector<std::string> wrapped_to(std::string_view text, double size, double width) {
    return wrapped(text, static_cast<size_t>(std::max(8.0, width / (0.55 * size))));
}

void Svg::line(double x1, double y1, double x2, double y2, std::string_view css) {
    body_ += fmt::format("<line x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\" class=\"{}\"/>\n", x1, y1, x2,
                         y2, css);
}

void Svg::rect(double x, double y, double width, double height, std::string_view css, double radius) {
    body_ += fmt::format(
        "<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" rx=\"{:.1f}\" "
        "class=\"{}\"/>\n",
        x, y, std::max(width, 0.0), std::max(height, 0.0), radius, css);
}

void Svg::path(std::string_view data, std::string_view css) {
    body_ += fmt::format("<path d=\"{}\" class=\"{}\"/>\n", data, css);
}

void Svg::text(double x, double y, std::string_view words, const TextStyle& style) {
    std::string turn =
        style.angle == 0 ? "" : fmt::format(" transform=\"rotate({:.1f} {:.1f} {:.1f})\"", style.angle, x, y);
    body_ +=
        fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" font-size=\"{:g}\" text-anchor=\"{}\" class=\"{}\"{}>{}</text>\n",
                    x, y, style.size, style.anchor, style.css, turn, escaped(words));
}

void Svg::mark(double x, double y, double radius, int shape, std::string_view css, std::string_view tip) {
    std::string title = tip.empty() ? "" : fmt::format("<title>{}</title>", escaped(tip));
    body_ += fmt::format("<path d=\"{}\" class=\"{}\">{}</path>\n", mark_path(shape, x, y, radius), css, title);
}

std::string Svg::str() const {
    return fmt::format(
        "<svg viewBox=\"0 0 {:g} {:.0f}\" role=\"img\" aria-label=\"{t}\">\n<title>{t}</title>\n{}</svg>\n", width_,
        height_, body_, fmt::arg("t", escaped(title_)));
}

LogScale::LogScale(double low, double high, double from, double to)
    : low_(std::log10(low)),
      high_(std::log10(high)),
      from_(from),
      to_(to) {
    if (high_ - low_ < 1e-6) high_ = low_ + 1e-6;
}

double LogScale::operator()(double value) const {
    double share = value > 0 ? (std::log10(value) - low_) / (high_ - low_) : 0;
    return from_ + std::clamp(share, 0.0, 1.0) * (to_ - from_);
}

std::vector<double> LogScale::ticks(double gap) const {
    static const std::vector<std::vector<double>> steps = {
        {1,   1.05, 1.1, 1.15, 1.2, 1.25, 1.3, 1.35, 1.4, 1.45, 1.5, 1.6, 1.7, 1.8, 1.9, 2, 2.2,
         2.4, 2.6,  2.8, 3,    3.5, 4,    4.5, 5,    5.5, 6,    6.5, 7,   7.5, 8,   8.5, 9, 9.5},
        {1, 1.1, 1.2, 1.3, 1.4, 1.5, 1.6, 1.7, 1.8, 1.9, 2, 2.2, 2.4, 2.6, 2.8, 3, 3.5, 4, 4.5, 5, 6, 7, 8, 9},
        {1, 1.2, 1.4, 1.6, 1.8, 2, 2.5, 3, 3.5, 4, 5, 6, 7, 8, 9},
        {1, 1.5, 2, 3, 4, 5, 7},
        {1, 2, 5},
        {1, 3},
        {1}};
    std::vector<double> values;
    for (const std::vector<double>& mantissas : steps) {
        values.clear();
        for (int decade = static_cast<int>(std::floor(low_)); decade <= std::ceil(high_); ++decade)
            for (double mantissa : mantissas) {
                double at = std::log10(mantissa) + decade;
                if (at > low_ - 1e-9 && at < high_ + 1e-9) values.push_back(mantissa * std::pow(10.0, decade));
            }
        bool apart = true;
        for (size_t i = 1; i < values.size(); ++i)
            apart = apart && std::abs((*this)(values[i]) - (*this)(values[i - 1])) >= gap;
        if (apart) break;
    }
    return values;
}

std::vector<double> spread(const std::vector<double>& wanted, double gap, double low, double high) {
    std::vector<size_t> order(wanted.size());
    std::iota(order.begin(), order.end(), size_t{0});
    std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return wanted[a] < wanted[b]; });
    std::vector<double> placed(wanted.size());
    double floor = low;
    for (size_t i : order) {
        placed[i] = std::max(wanted[i], floor);
        floor = placed[i] + gap;
    }
    double ceiling = high;
    for (auto i = order.rbegin(); i != order.rend(); ++i) {
        placed[*i] = std::min(placed[*i], ceiling);
        ceiling = placed[*i] - gap;
    }
    return placed;
}

}  // namespace strop::report
