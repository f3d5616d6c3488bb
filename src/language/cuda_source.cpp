#include "language/cuda_source.h"

#include <algorithm>
#include <cctype>
#include <set>
#include <vector>

#include <fmt/format.h>

#include "base/error.h"

namespace strop {

namespace {

struct Token {
    enum class Kind { space, word, literal, mark };  // space: comments too; a mark is one character

    Kind kind;
    std::string text;
    int line;
};

bool begins_word(char c) { return std::isalpha(static_cast<unsigned char>(c)) || c == '_'; }
bool goes_on_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; }

// Joined, the tokens are the source again.
class Tokens {
public:
    explicit Tokens(const std::string& source) : source_(source) {
        while (at_ < source_.size()) read();
    }
    std::vector<Token> all;

private:
    bool starts(const char* text) const { return source_.compare(at_, std::string(text).size(), text) == 0; }

    size_t after(const std::string& end, size_t from) const {
        const size_t found = source_.find(end, from);
        return found == std::string::npos ? source_.size() : found + end.size();
    }

    size_t after_quotes(char quote) const {
        size_t end = at_ + 1;
        while (end < source_.size() && source_[end] != quote && source_[end] != '\n')
            end += source_[end] == '\\' ? 2 : 1;
        return std::min(source_.size(), end + 1);
    }

    size_t after_raw_string(size_t quote) const {
        const size_t open = source_.find('(', quote);
        if (open == std::string::npos) return source_.size();
        return after(")" + source_.substr(quote + 1, open - quote - 1) + "\"", open);
    }

    size_t after_word(size_t from) const {
        while (from < source_.size() && goes_on_word(source_[from])) ++from;
        return from;
    }

    // 1'000'000, 0x1p-3f
    size_t after_number() const {
        size_t end = at_;
        while (end < source_.size() &&
               (goes_on_word(source_[end]) || source_[end] == '.' ||
                (source_[end] == '\'' && end + 1 < source_.size() && goes_on_word(source_[end + 1]))))
            ++end;
        return end;
    }

    void read() {
        using Kind = Token::Kind;
        const char c = source_[at_];
        if (starts("//")) {
            size_t end = source_.find('\n', at_);
            return add(Kind::space, end == std::string::npos ? source_.size() : end);
        }
        if (starts("/*")) return add(Kind::space, after("*/", at_ + 2));
        if (std::isspace(static_cast<unsigned char>(c))) return add(Kind::space, at_ + 1);
        if (c == '"' || c == '\'') return add(Kind::literal, after_quotes(c));
        if (std::isdigit(static_cast<unsigned char>(c))) return add(Kind::literal, after_number());
        if (!begins_word(c)) return add(Kind::mark, at_ + 1);
        const size_t end = after_word(at_);
        if (end < source_.size() && source_[end] == '"' && source_[end - 1] == 'R')
            return add(Kind::literal, after_raw_string(end));
        add(Kind::word, end);
    }

    void add(Token::Kind kind, size_t end) {
        all.push_back({kind, source_.substr(at_, end - at_), line_});
        line_ += static_cast<int>(std::count(all.back().text.begin(), all.back().text.end(), '\n'));
        at_ = end;
    }

    const std::string& source_;
    size_t at_ = 0;
    int line_ = 1;
};

// The words of a declaration of one variable: `alignas(16) float tile[2][3]`.
struct Declarator {
    std::string type, name, extents;  // extents: "[2][3]"
};

class Rewriter {
public:
    Rewriter(const std::string& source, const std::string& file) : tokens_(Tokens(source).all), file_(file) {
        find_templates();
    }

    std::string rewrite() {
        while (at_ < tokens_.size()) step();
        return std::move(text_);
    }

private:
    using Kind = Token::Kind;

    [[noreturn]] void fail(int line, const std::string& what, const std::string& hint) const {
        throw UsageError(fmt::format("{}:{}: {}", file_, line, what), hint);
    }

    bool is(size_t i, const char* text) const { return i < tokens_.size() && tokens_[i].text == text; }
    bool are(size_t i, char mark, size_t count) const {
        for (size_t k = 0; k < count; ++k)
            if (!is(i + k, std::string(1, mark).c_str())) return false;
        return true;
    }
    size_t next_but_space(size_t i) const {
        while (i < tokens_.size() && tokens_[i].kind == Kind::space) ++i;
        return i;
    }
    size_t before_but_space(size_t i) const {
        while (i > 0 && tokens_[i - 1].kind == Kind::space) --i;
        return i - 1;
    }

    void step() {
        const Token& token = tokens_[at_];
        const size_t next = next_but_space(at_ + 1);
        if (are(at_, '<', 3)) return open_launch();
        if (open_launches_ && depth_ == 0 && are(at_, '>', 3)) return close_launch();
        if (token.kind == Kind::word) {
            if (token.text == "asm" || token.text == "__asm__" || token.text == "__asm") refuse_assembly(next);
            if (token.text == "extern" && is(next, "__shared__")) return dynamic_shared(next);
            if (token.text == "__shared__" && !is_only_named()) return static_shared();
            if (token.text == "__noinline__" && !is(before_but_space(at_), "(")) {
                text_ += "__attribute__((noinline))";
                ++at_;
                return;
            }
        }
        if (open_launches_ && (is(at_, "(") || is(at_, "["))) ++depth_;
        if (open_launches_ && (is(at_, ")") || is(at_, "]"))) --depth_;
        text_ += tokens_[at_++].text;
    }

    bool in_directive() const {
        for (size_t i = at_; i > 0; --i) {
            if (is(i - 1, "#")) return true;
            if (is(i - 1, "\n") && !(i > 1 && is(i - 2, "\\"))) return false;
        }
        return false;
    }

    // #ifdef __shared__; what a macro for it declares would not be seen.
    bool is_only_named() const {
        if (!in_directive()) return false;
        size_t next = at_ + 1;
        while (next < tokens_.size() && tokens_[next].kind == Kind::space && !is(next, "\n")) ++next;
        if (next < tokens_.size() && !is(next, "\n")) return false;
        for (size_t i = at_; i > 0 && !is(i - 1, "#"); --i)
            if (is(i - 1, "define"))
                fail(tokens_[at_].line, "a macro for __shared__, which the CUDA emulator cannot follow",
                     "write __shared__ where variables are declared");
        return true;
    }

    void refuse_assembly(size_t next) const {
        if (is(next, "(") || is(next, "volatile") || is(next, "__volatile__") || is(next, "goto"))
            fail(tokens_[at_].line, "inline assembly, which the CUDA emulator cannot run",
                 "write it in CUDA C++, or judge the kernel on a GPU");
    }

    // Names of kernels that are templates: behind __global__, before the first parenthesis that is no attribute's.
    void find_templates() {
        bool is_template = false;
        for (size_t i = 0; i < tokens_.size(); ++i) {
            if (is(i, ";") || is(i, "}")) is_template = false;
            if (is(i, "template")) is_template = true;
            if (!is(i, "__global__") || !is_template) continue;
            size_t last = i;
            for (size_t k = i + 1; k < tokens_.size() && !is(k, ";") && !is(k, "{"); ++k) {
                if (is(k, "(") && !is(last, "__launch_bounds__")) {
                    templates_.insert(tokens_[last].text);
                    break;
                }
                if (is(k, "("))
                    while (k < tokens_.size() && !is(k, ")")) ++k;
                if (k < tokens_.size() && tokens_[k].kind == Kind::word) last = k;
            }
        }
    }

    // Of the words before a launch, "space::kernel<float, 4>": the first one's place, and the name.
    size_t kernel_before(size_t launch, std::string& name) const {
        size_t i = before_but_space(launch);
        if (i >= launch) fail(tokens_[launch].line, "a launch of nothing", "write kernel<<<grid, block>>>(arguments)");
        if (is(i, ">")) {
            int angles = 1;
            while (i > 0 && angles > 0) {
                --i;
                angles += is(i, ">") - is(i, "<");
            }
            i = i == 0 ? 0 : before_but_space(i);
        }
        name = tokens_[i].text;
        while (i > 2 && is(i - 1, ":") && is(i - 2, ":") && tokens_[i - 3].kind == Kind::word) i -= 3;
        return i;
    }

    // A template gets its parameters where it is called; what a macro launches may be one.
    std::string configuration_of_launch() {
        std::string name, kernel;
        const size_t first = kernel_before(at_, name);
        const bool may_be_template = templates_.count(name) || (in_directive() && begins_word(name[0]));
        if (!may_be_template) return "->*::emulator::configuration(";
        for (size_t i = first; i < at_; ++i) kernel += tokens_[i].text;
        text_.resize(text_.size() - kernel.size());
        text_ += fmt::format("[&](auto... strop_values) {{ {}(strop_values...); }}", kernel);
        return fmt::format("->*::emulator::named(\"{}\")(", name);
    }

    void open_launch() {
        if (open_launches_) fail(tokens_[at_].line, "a launch within a launch", "name its configuration before");
        launch_line_ = tokens_[at_].line;
        text_ += configuration_of_launch();
        at_ += 3;
        open_launches_ = true;
        depth_ = 0;
        for (size_t i = at_, depth = 0; !(depth == 0 && are(i, '>', 3)); ++i) {
            if (i == tokens_.size() || is(i, ";"))
                fail(launch_line_, "'<<<' without '>>>'", "write kernel<<<grid, block>>>(arguments)");
            depth += is(i, "(") || is(i, "[");
            depth -= is(i, ")") || is(i, "]");
        }
    }

    void close_launch() {
        text_ += ")";
        at_ += 3;
        open_launches_ = false;
    }

    // Up to the semicolon, which is passed over; the lines in between go to `lines`.
    std::vector<Token> declaration(size_t from, std::string& lines) {
        const int first_line = tokens_[at_].line;
        std::vector<Token> words;
        int depth = 0;
        size_t i = from;
        for (; i < tokens_.size() && !(depth == 0 && is(i, ";")); ++i) {
            depth += is(i, "(") || is(i, "[") || is(i, "{");
            depth -= is(i, ")") || is(i, "]") || is(i, "}");
            if (tokens_[i].kind == Kind::space) {
                lines += std::string(
                    static_cast<size_t>(std::count(tokens_[i].text.begin(), tokens_[i].text.end(), '\n')), '\n');
                continue;
            }
            words.push_back(tokens_[i]);
        }
        if (i == tokens_.size())
            fail(first_line, "a shared variable whose declaration does not end", "end it with ';'");
        at_ = i + 1;
        return words;
    }

    // Takes "alignas(16)" and "__align__(16)" out, which are to stand first.
    static std::string take_alignment(std::vector<Token>& words) {
        std::string taken;
        for (size_t i = 0; i < words.size(); ++i) {
            if (words[i].text != "alignas" && words[i].text != "__align__") continue;
            size_t end = i + 1;
            int depth = 0;
            std::string value;
            do {
                if (end == words.size()) return taken;
                depth += words[end].text == "(";
                depth -= words[end].text == ")";
                value += words[end++].text;
            } while (depth > 0);
            taken += "alignas" + value + " ";
            words.erase(words.begin() + static_cast<long>(i), words.begin() + static_cast<long>(end));
            --i;
        }
        return taken;
    }

    static std::string joined(const std::vector<Token>& words, size_t from, size_t to) {
        std::string text;
        for (size_t i = from; i < to; ++i) {
            const bool two_words = i > from && words[i].kind != Kind::mark && words[i - 1].kind != Kind::mark;
            text += (two_words ? " " : "") + words[i].text;
        }
        return text;
    }

    // Pieces between commas that are in no brackets.
    static std::vector<std::pair<size_t, size_t>> pieces_of(const std::vector<Token>& words) {
        std::vector<std::pair<size_t, size_t>> pieces;
        size_t begin = 0;
        int depth = 0, angles = 0;
        for (size_t i = 0; i < words.size(); ++i) {
            const std::string& text = words[i].text;
            depth += text == "(" || text == "[" || text == "{";
            depth -= text == ")" || text == "]" || text == "}";
            if (depth == 0) angles += (text == "<") - (text == ">");
            if (text != "," || depth > 0 || angles > 0) continue;
            pieces.emplace_back(begin, i);
            begin = i + 1;
        }
        pieces.emplace_back(begin, words.size());
        return pieces;
    }

    // The last word before the extents.
    Declarator declarator(const std::vector<Token>& words, size_t begin, size_t end, int line) const {
        size_t stop = begin;
        int angles = 0;
        for (; stop < end; ++stop) {
            const std::string& text = words[stop].text;
            angles += (text == "<") - (text == ">");
            if (angles == 0 && (text == "[" || text == "=" || text == "{")) break;
        }
        if (stop == begin || words[stop - 1].kind != Kind::word)
            fail(line, "a shared variable that the CUDA emulator cannot read", "write __shared__ TYPE NAME[EXTENT];");
        return {joined(words, begin, stop - 1), words[stop - 1].text, joined(words, stop, end)};
    }

    // An address that is the same for all; its size is that of the launch.
    void dynamic_shared(size_t shared) {
        const int line = tokens_[at_].line;
        std::string lines;
        std::vector<Token> words = declaration(shared + 1, lines);
        take_alignment(words);
        const Declarator one = declarator(words, 0, words.size(), line);
        const size_t closed = one.extents.find(']');
        const std::string more = closed == std::string::npos ? "" : one.extents.substr(closed + 1);
        text_ += more.empty()
                     ? fmt::format("{0}* const {1} = reinterpret_cast<{0}*>(::emulator::dynamic_shared_memory());",
                                   one.type, one.name)
                     : fmt::format(
                           "{0} (*const {1}){2} = reinterpret_cast<{0} (*){2}>(::emulator::dynamic_shared_memory());",
                           one.type, one.name, more);
        text_ += lines;
    }

    // Whoever passes the declaration tells its name and size. What lies behind it belongs to nobody.
    void static_shared() {
        const int line = tokens_[at_].line;
        std::string lines;
        std::vector<Token> words = declaration(at_ + 1, lines);
        text_ += take_alignment(words) + "__shared__ " + joined(words, 0, words.size()) + ";";
        for (const auto& [begin, end] : pieces_of(words)) {
            const std::string name = declarator(words, begin, end, line).name;
            text_ += fmt::format(" ::emulator::declare_shared(\"{0}\", (const void*)&{0}, sizeof({0}));", name);
        }
        text_ += fmt::format(" static __attribute__((section(\"strop_shared\"), used)) char strop_guard_{}[256];",
                             guards_++);
        text_ += lines;
    }

    const std::vector<Token> tokens_;
    const std::string file_;
    size_t at_ = 0;
    std::string text_;
    bool open_launches_ = false;
    int depth_ = 0, launch_line_ = 0, guards_ = 0;
    std::set<std::string> templates_;
};

}  // namespace

std::string emulated_cuda(const std::string& source, const std::string& file) {
    return Rewriter(source, file).rewrite();
}

}  // namespace strop
