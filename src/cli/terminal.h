// What the user's screen can do, and a block of lines that is painted over and over in place.
#pragma once

#include <string>
#include <vector>

namespace strop::cli {

bool is_terminal(int descriptor);

// Columns of the terminal behind standard error or output; $COLUMNS or 100 where there is none.
int terminal_width();

// Colours on this descriptor? Only on a terminal, never with NO_COLOR set or TERM=dumb.
bool use_color(int descriptor);

// Columns that a text takes: escape sequences take none, a code point of UTF-8 takes one.
size_t display_width(const std::string& text);

// The first `columns` columns of a text; escape sequences are kept whole, and reset when something was cut.
std::string cut_to_width(const std::string& text, size_t columns);

// Progress on standard error. On a terminal a block of lines stays at the bottom and is overwritten in place,
// with lasting lines above it; elsewhere (a pipe, a log file, TERM=dumb) there are only the lasting lines.
class LivePainter {
public:
    explicit LivePainter(int descriptor = 2, bool quiet = false);
    ~LivePainter() { clear(); }
    LivePainter(const LivePainter&) = delete;
    LivePainter& operator=(const LivePainter&) = delete;

    bool live() const { return live_; }  // whether paint() shows anything
    void paint(const std::vector<std::string>& block);
    void line(const std::string& text);  // a lasting line
    void clear();                        // removes the block

private:
    void send(const std::string& text) const;
    std::string erase() const;  // what takes the cursor to the block's first column and clears below

    int descriptor_;
    bool quiet_, live_;
    std::vector<std::string> block_;
};

}  // namespace strop::cli
