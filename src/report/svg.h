// The little of SVG and HTML that the report draws with. Pure. Colours are CSS variables of the page, so that
// pictures follow its light or dark scheme.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace strop::report {

// Safe as HTML text and as an attribute's value: markup escaped, control characters and invalid UTF-8
// replaced.
std::string escaped(std::string_view text);

// HTML text of an identifier or path that may break after `_`, `+` and `/`.
std::string escaped_name(std::string_view text);

constexpr double bold_factor = 1.13;  // bold faces are wider

// An estimate that errs on the wide side, in pixels of a sans-serif face.
double text_width(std::string_view text, double size);
std::string fitted(std::string_view text, double size, double width);  // cut with "…"
std::vector<std::string> wrapped_to(std::string_view text, double size, double width);

struct TextStyle {
    double size = 12;
    std::string anchor = "start";
    std::string css = {};  // classes: "dim", "bold", "mono", "halo"
    double angle = 0;      // degrees, around its own position
};

class Svg {
public:
    Svg(double width, double height, std::string title) : width_(width), height_(height), title_(std::move(title)) {}

    void line(double x1, double y1, double x2, double y2, std::string_view css);
    void rect(double x, double y, double width, double height, std::string_view css, double radius = 0);
    void path(std::string_view data, std::string_view css);
    void text(double x, double y, std::string_view words, const TextStyle& style = {});
    // One of six shapes, so that series differ without colour too. `tip` appears under the pointer.
    void mark(double x, double y, double radius, int shape, std::string_view css, std::string_view tip = {});
    void grow(double height) { height_ = height; }
    double width() const { return width_; }
    std::string str() const;

private:
    double width_, height_;
    std::string title_, body_;
};

// Maps [low, high] to pixels on a logarithmic axis.
class LogScale {
public:
    LogScale(double low, double high, double from, double to);
    double operator()(double value) const;  // clamped to the axis
    // Round values inside the axis, at least `gap` pixels apart.
    std::vector<double> ticks(double gap) const;

private:
    double low_, high_, from_, to_;
};

// Positions near the wanted ones that keep `gap` between neighbours, within [low, high] where there is room.
std::vector<double> spread(const std::vector<double>& wanted, double gap, double low, double high);

}  // namespace strop::report
