#include "cli/terminal.h"

#include <algorithm>
#include <cstdlib>
#include <string_view>

#include <sys/ioctl.h>
#include <unistd.h>

#include <fmt/format.h>

namespace strop::cli {

namespace {

bool dumb() {
    const char* term = std::getenv("TERM");
    return !term || std::string_view(term).empty() || std::string_view(term) == "dumb";
}

// Bytes of the escape sequence "ESC [ ... letter" at `at`; 0 when there is none.
size_t escape_length(const std::string& text, size_t at) {
    if (text.compare(at, 2, "\x1b[") != 0) return 0;
    size_t end = at + 2;
    while (end < text.size() && !(text[end] >= '@' && text[end] <= '~')) ++end;
    return std::min(end + 1, text.size()) - at;
}

size_t terminal_rows(int descriptor) {
    winsize size = {};
    return ioctl(descriptor, TIOCGWINSZ, &size) == 0 && size.ws_row > 0 ? size.ws_row : 24;
}

bool starts_code_point(char byte) { return (static_cast<unsigned char>(byte) & 0xc0) != 0x80; }

}  // namespace

bool is_terminal(int descriptor) { return isatty(descriptor) == 1; }

int terminal_width() {
    for (int descriptor : {STDERR_FILENO, STDOUT_FILENO}) {
        winsize size = {};
        if (ioctl(descriptor, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) return size.ws_col;
    }
    const char* columns = std::getenv("COLUMNS");
    int width = columns ? std::atoi(columns) : 0;
    return width > 0 ? width : 100;
}

bool use_color(int descriptor) {
    const char* forbidden = std::getenv("NO_COLOR");
    return is_terminal(descriptor) && !(forbidden && *forbidden) && !dumb();
}

size_t display_width(const std::string& text) {
    size_t columns = 0;
    for (size_t at = 0; at < text.size();) {
        if (size_t length = escape_length(text, at)) {
            at += length;
            continue;
        }
        columns += starts_code_point(text[at]) ? 1 : 0;
        ++at;
    }
    return columns;
}

std::string cut_to_width(const std::string& text, size_t columns) {
    if (display_width(text) <= columns) return text;
    std::string result;
    bool styled = false;
    size_t used = 0;
    for (size_t at = 0; at < text.size();) {
        size_t length = escape_length(text, at);
        if (length > 0) {
            styled = true;
        } else {
            if (used == columns) break;
            ++used;
            for (length = 1; at + length < text.size() && !starts_code_point(text[at + length]);) ++length;
        }
        result.append(text, at, length);
        at += length;
    }
    return styled ? result + "\x1b[0m" : result;
}

LivePainter::LivePainter(int descriptor, bool quiet)
    : descriptor_(descriptor),
      quiet_(quiet),
      live_(!quiet && is_terminal(descriptor) && !dumb()) {}

void LivePainter::send(const std::string& text) const {
    for (size_t done = 0; done < text.size();) {
        ssize_t count = ::write(descriptor_, text.data() + done, text.size() - done);
        if (count <= 0) return;  // progress is worth no failure
        done += static_cast<size_t>(count);
    }
}

std::string LivePainter::erase() const { return block_.empty() ? "" : fmt::format("\r\x1b[{}A\x1b[J", block_.size()); }

void LivePainter::paint(const std::vector<std::string>& block) {
    if (!live_) return;
    // One write a frame, so that no half-painted block is seen. A line as wide as the terminal would wrap.
    std::string frame = erase();
    size_t columns = static_cast<size_t>(std::max(2, terminal_width())) - 1;
    block_.clear();
    for (const std::string& text : block) {
        if (block_.size() + 1 >= terminal_rows(descriptor_)) break;  // what has scrolled away cannot be overwritten
        block_.push_back(cut_to_width(text, columns));
        frame += block_.back() + "\n";
    }
    send(frame);
}

void LivePainter::line(const std::string& text) {
    if (quiet_) return;
    std::string frame = erase() + text + "\n";
    for (const std::string& kept : block_) frame += kept + "\n";
    send(frame);
}

void LivePainter::clear() {
    send(erase());
    block_.clear();
}

}  // namespace strop::cli
