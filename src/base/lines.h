// Source text under construction.
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

namespace strop {

// Collects lines; a line that ends in '{' indents what follows, one that starts with '}' ends that.
class Lines {
public:
    explicit Lines(int depth = 0, std::string text = "") : depth_(depth), text_(std::move(text)) {}
    void add(const std::string& line);
    void add(const std::vector<std::string>& lines);
    // A line that what follows is indented below, until close(): of languages without braces.
    void open(const std::string& line) {
        add(line);
        ++depth_;
    }
    void close(int count = 1) { depth_ -= count; }
    void pragma(const std::string& line) { text_ += line + "\n"; }
    const std::string& text() const { return text_; }
    size_t mark() const { return text_.size(); }
    // Takes back the line that was added at `mark` when nothing after it uses `name`.
    void drop_unused(size_t mark, const std::string& name);

private:
    int depth_;
    std::string text_;
};

// "HEAD(a, b)", in as many lines as 110 columns want; `depth`: of the first line, which is not indented itself.
std::string parenthesised_list(const std::string& head, const std::vector<std::string>& parts, int depth = 0);

}  // namespace strop
