#include "study/document.h"

#include <algorithm>
#include <cctype>
#include <fstream>

#include <fmt/format.h>

#include "base/file.h"
#include "base/hash.h"
#include "base/interrupt.h"
#include "base/line.h"
#include "base/strings.h"
#include "core/json.h"
#include "problem/python_script.h"
#include "sandbox/process.h"

namespace strop::study {

namespace {

constexpr uintmax_t most_bytes = 256 << 20;       // of a file
constexpr int64_t most_text = int64_t{64} << 20;  // of what is in it
constexpr int64_t most_memory = int64_t{4} << 30;
constexpr size_t least_letters = 20;                 // fewer are no text
constexpr const char* replacement = "\xef\xbf\xbd";  // for what is no UTF-8
const Seconds most_time{300};                        // that a program reads

enum class Form { text, markdown, html, pdf };

Form form_of(const fs::path& file, const std::string& bytes) {
    const std::string ending = lower(file.extension().string());
    const std::string start = lower(trim(bytes.substr(0, 256)));
    if (ending == ".pdf" || bytes.starts_with("%PDF-")) return Form::pdf;
    if (ending == ".html" || ending == ".htm" || ending == ".xhtml" || start.starts_with("<!doctype html") ||
        start.starts_with("<html"))
        return Form::html;
    return ending == ".md" || ending == ".markdown" ? Form::markdown : Form::text;
}

std::string valid_utf8(const std::string& text) { return Json::parse(dump(Json(text))).get<std::string>(); }

// Without what has no shape of its own (soft hyphens, marks of width and byte order), with one spelling of a line's
// end: who quotes the text writes it so, too.
std::string tidy(std::string text) {
    for (const char* line_end : {"\r\n", "\r"}) text = replace_all(text, line_end, "\n");
    for (const char* unseen :
         {"\xc2\xad", "\xe2\x80\x8b", "\xe2\x80\x8c", "\xe2\x80\x8d", "\xe2\x81\xa0", "\xef\xbb\xbf"})
        text = replace_all(text, unseen, "");
    for (const char* blank : {"\f", "\v", "\xc2\x85", "\xe2\x80\xa8", "\xe2\x80\xa9"})
        text = replace_all(text, blank, " ");
    return text;
}

bool is_text(const std::string& bytes) {
    const auto odd = std::count_if(bytes.begin(), bytes.end(),
                                   [](unsigned char c) { return c < ' ' && !std::isspace(c) && c != '\x1b'; });
    return bytes.find('\0') == std::string::npos && static_cast<size_t>(odd) <= bytes.size() / 100;
}

// A few odd letters are passed over; a page in another encoding would become nonsense between question marks.
bool is_mostly_utf8(const std::string& bytes, const std::string& valid) {
    auto replaced = [](const std::string& text) {
        size_t count = 0;
        for (size_t at = text.find(replacement); at != std::string::npos; at = text.find(replacement, at + 3)) ++count;
        return count;
    };
    return replaced(valid) - replaced(bytes) <= 3 + bytes.size() / 200;
}

size_t letters_of(const std::vector<Block>& blocks) {
    size_t letters = 0;
    for (const Block& block : blocks)
        letters += static_cast<size_t>(std::count_if(block.text.begin(), block.text.end(),
                                                     [](unsigned char c) { return std::isalpha(c) || c >= 0x80; }));
    return letters;
}

void check_finished(const sandbox::Finished& finished, const std::string& file, const std::string& what) {
    check_interrupt();
    if (finished.timed_out || finished.over_memory)
        throw UsageError(
            fmt::format("{}: reading it {}", file,
                        finished.timed_out ? fmt::format("takes longer than {:.0f} s", most_time.count())
                                           : fmt::format("takes more than {}", human_bytes(double(most_memory)))),
            "give a part of it");
    if (static_cast<int64_t>(finished.out.size()) >= most_text)
        throw UsageError(fmt::format("{}: holds more than {} of text", file, human_bytes(double(most_text))),
                         "give a part of it");
    if (finished.ok()) return;
    const std::string why = one_line(last_line(finished.err)).substr(0, 200);
    throw UsageError(fmt::format("{}: is no {}, or a damaged one{}", file, what, why.empty() ? "" : ": " + why),
                     "open it in a viewer; save it again, or leave it out");
}

std::string text_of_pdf(const fs::path& path) {
    const std::string file = path.string();
    TemporaryFolder scratch("strop-pdf");
    sandbox::Command command;
    command.argv = {"pdftotext", "-enc", "UTF-8", fs::canonical(path).string(), "-"};
    command.scratch = scratch.path();
    command.readable = {fs::canonical(path).string()};
    command.trust = sandbox::Trust::compiler;
    command.limits.wall = most_time;
    command.limits.memory_bytes = most_memory;
    command.limits.output_bytes = most_text;
    const sandbox::Finished finished = sandbox::run(command, {}, [] { return interrupted(); });
    if (finished.not_found)
        throw NoReader(fmt::format("{}: PDFs are read by pdftotext, which is missing", file),
                       "install poppler-utils (`./strop setup` does), or give text");
    const std::string said = lower(finished.err);
    if (!finished.ok() && (said.find("password") != std::string::npos || said.find("encrypt") != std::string::npos ||
                           said.find("not allowed") != std::string::npos))
        throw UsageError(fmt::format("{}: is encrypted", file), "save a copy without a password");
    check_finished(finished, file, "PDF");
    return finished.out;
}

std::vector<Block> blocks_of_html(const fs::path& path, const std::string& bytes) {
    const sandbox::Finished finished =
        run_script("html_text.py", {}, bytes, {}, most_time, [] { return interrupted(); });
    check_finished(finished, path.string(), "HTML");
    std::vector<Block> blocks;
    const Json list = Json::parse(finished.out, nullptr, false);
    if (!list.is_array()) throw UsageError(fmt::format("{}: is no HTML", path.string()), "leave it out");
    for (const Json& one : list)
        blocks.push_back({one.at(2).get<std::string>(), 0, one.at(0).get<int>(), one.at(1).get<int>()});
    return blocks;
}

// "## Title" -> 2
int heading_level(const std::string& line) {
    const size_t marks = std::min(line.find_first_not_of('#'), line.size());
    return marks >= 1 && marks <= 6 && marks < line.size() && line[marks] == ' ' ? static_cast<int>(marks) : 0;
}

std::string bytes_of(const fs::path& path) {
    std::error_code failed;
    if (!fs::is_regular_file(path, failed))
        throw UsageError(fmt::format("{}: is no file", path.string()), "give files with text, or folders of them");
    const uintmax_t size = fs::file_size(path, failed);
    if (size > most_bytes)
        throw UsageError(fmt::format("{}: is larger than {}", path.string(), human_bytes(double(most_bytes))),
                         "give a part of it");
    return read_file(path);
}

}  // namespace

std::vector<Block> blocks_of_lines(const std::string& text, bool markdown) {
    std::vector<Block> blocks;
    Block open;
    bool fenced = false;
    auto close = [&] {
        if (!trim(open.text).empty()) blocks.push_back(std::move(open));
        open = {};
    };
    int number = 0;
    for (std::string line : split(text, '\n')) {
        ++number;
        if (line.ends_with('\r')) line.pop_back();
        const int level = markdown && !fenced ? heading_level(line) : 0;
        if (markdown && trim(line).starts_with("```")) fenced = !fenced;
        if (level > 0 || (trim(line).empty() && !fenced)) close();
        if (level > 0) blocks.push_back({std::string(trim(line.substr(static_cast<size_t>(level)))), 0, number, level});
        if (level > 0 || (trim(line).empty() && open.text.empty())) continue;
        if (open.text.empty()) open.line = number;
        else open.text += '\n';
        open.text += line;
    }
    close();
    return blocks;
}

std::vector<Block> blocks_of_pages(const std::string& text) {
    std::vector<Block> blocks;
    int page = 0;
    for (const std::string& one : split(text, '\f')) {
        ++page;
        for (Block& block : blocks_of_lines(one, false)) {
            block.page = page;
            block.line = 0;
            blocks.push_back(std::move(block));
        }
    }
    return blocks;
}

Document read_document(const fs::path& path) {
    const std::string bytes = bytes_of(path);
    Document document{path.filename().string(), content_hash(bytes), 0, {}};
    const Form form = form_of(path, bytes);
    if (form != Form::pdf && !is_text(bytes))
        throw UsageError(fmt::format("{}: is no text in UTF-8", path.string()),
                         bytes.starts_with("\xff\xfe") || bytes.starts_with("\xfe\xff")
                             ? "it is in UTF-16; convert it: iconv -f UTF-16 -t UTF-8"
                             : "give PDF, HTML, Markdown or text");
    if (form != Form::pdf && static_cast<int64_t>(bytes.size()) > most_text)
        throw UsageError(fmt::format("{}: holds more than {} of text", path.string(), human_bytes(double(most_text))),
                         "give a part of it");
    if (form == Form::pdf) {
        const std::string text = valid_utf8(text_of_pdf(path));
        document.pages = static_cast<int>(std::count(text.begin(), text.end(), '\f'));
        document.blocks = blocks_of_pages(text);
    } else if (form == Form::html) {
        document.blocks = blocks_of_html(path, bytes);
    } else {
        const std::string text = valid_utf8(bytes);
        if (!is_mostly_utf8(bytes, text))
            throw UsageError(fmt::format("{}: is no text in UTF-8", path.string()),
                             "convert it: iconv -f ISO-8859-1 -t UTF-8, where that is its encoding");
        document.blocks = blocks_of_lines(tidy(text), form == Form::markdown);
    }
    for (Block& block : document.blocks) block.text = printable(tidy(std::move(block.text)));
    if (const size_t letters = letters_of(document.blocks); letters < least_letters)
        throw UsageError(letters == 0 ? fmt::format("{}: holds no text", path.string())
                                      : fmt::format("{}: holds hardly any text, {}", path.string(),
                                                    counted(static_cast<int>(letters), "letter")),
                         form == Form::pdf ? "its pages may be pictures: recognise their text first, with ocrmypdf "
                                             "for instance"
                                           : "leave it out");
    return document;
}

}  // namespace strop::study
