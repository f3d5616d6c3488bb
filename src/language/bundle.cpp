#include "language/bundle.h"

#include <algorithm>
#include <cctype>
#include <set>

#include <fmt/format.h>

#include "base/strings.h"
#include "language/contract.h"
#include "language/cpp_source.h"
#include "language/team_text.h"

namespace strop {

namespace {

constexpr size_t max_columns = 110;

// "#", directive and rest of a preprocessor line; empty directive for other lines.
struct Directive {
    std::string word, rest;
};

Directive directive_of(std::string_view line) {
    line = trim(line);
    if (line.empty() || line[0] != '#') return {};
    line = trim(line.substr(1));
    size_t end = 0;
    while (end < line.size() && is_word(line[end])) ++end;
    return {std::string(line.substr(0, end)), std::string(trim(line.substr(end)))};
}

// ---- one kernel ------------------------------------------------------------------------------------------

// An #include with the conditions around it ("defined(_OPENMP)"), empty when there are none.
struct Include {
    std::string condition, target;
};

// A kernel's source, taken apart so that it can live in a namespace.
class KernelText {
public:
    KernelText(const Problem& problem, const DispatchWinner& winner) : problem_(problem), winner_(winner) {
        std::string source = without_external_linkage(winner.kernel.source);
        read_lines(split(source, '\n'));
    }

    const std::vector<Include>& includes() const { return includes_; }

    std::string text(const std::string& identifier, const std::string& note) const {
        std::string text;
        for (const std::string& line : split(note, '\n'))
            if (!line.empty()) text += "// " + line + "\n";
        if (std::string chosen = chosen_values(); !chosen.empty()) text += "// Tuned: " + chosen + "\n";
        text += fmt::format("namespace {} {{\n\n", identifier);
        std::set<std::string> macros = macros_;
        std::string constants = define_tunables(macros);
        if (!constants.empty()) text += constants + "\n";
        text += body_ + "\n";
        for (const std::string& macro : macros) text += fmt::format("#undef {}\n", macro);
        if (!macros.empty()) text += "\n";
        return text + fmt::format("}}  // namespace {}\n", identifier);
    }

private:
    // The entry becomes a plain function: `extern "C"` goes, and so does a block `extern "C" { ... }` around
    // it.
    std::string without_external_linkage(std::string source) const {
        std::string code = code_only(source);
        for (size_t at = code.find("extern"); at != std::string::npos; at = code.find("extern", at + 1)) {
            size_t text = source.find_first_not_of(" \t\r\n", at + 6);
            if (text == std::string::npos || source.compare(text, 3, "\"C\"") != 0) continue;
            size_t next = source.find_first_not_of(" \t\r\n", text + 3);
            if (next == std::string::npos) break;
            if (code[next] == '{') {
                if (!mentions(code.substr(next), problem_.name)) continue;
                replace(source, code, at, next, "namespace ");
            } else {
                size_t end = std::min(code.find_first_of(";{", next), code.size());
                if (mentions(code.substr(next, end - next), problem_.name)) replace(source, code, at, next, "");
            }
        }
        return source;
    }

    static void replace(std::string& source, std::string& code, size_t from, size_t to, const std::string& text) {
        source.replace(from, to - from, text);
        code.replace(from, to - from, text);
    }

    void read_lines(const std::vector<std::string>& lines) {
        const std::vector<std::string> code = split(code_only(join(lines, "\n")), '\n');
        std::vector<std::string> conditions;
        bool blank = true;  // leading and repeated empty lines go
        for (size_t i = 0; i < lines.size(); ++i) {
            std::string line = without_strop_comment(lines[i]);
            bool removed = line.empty() && !lines[i].empty();
            Directive directive = trim(code[i]).empty() ? Directive{} : directive_of(line);  // a text may look like one
            follow_conditions(directive, conditions);
            if (directive.word == "include") {
                includes_.push_back({join(conditions, " && "), directive.rest});
                continue;
            }
            if (removed || (directive.word == "pragma" && directive.rest == "once")) continue;
            // A pragma's expressions are the compiler's, which knows constants.
            if (!directive.word.empty() && directive.word != "pragma") note_directive(directive, lines, i);
            bool empty = trim(line).empty();
            if (!(empty && blank)) body_ += line + "\n";
            blank = empty;
        }
        while (body_.ends_with("\n\n")) body_.pop_back();
        code_ = code_only(body_);
    }

    static std::string without_strop_comment(const std::string& line) {
        size_t at = line.find("strop:");
        size_t comment = at == std::string::npos ? at : line.rfind("//", at);
        if (comment == std::string::npos || !trim(line.substr(comment + 2, at - comment - 2)).empty()) return line;
        std::string kept = line.substr(0, comment);
        return std::string(kept.substr(0, kept.find_last_not_of(" \t") + 1));
    }

    static void follow_conditions(const Directive& directive, std::vector<std::string>& conditions) {
        const std::string& word = directive.word;
        if (word == "if") conditions.push_back("(" + directive.rest + ")");
        else if (word == "ifdef") conditions.push_back("defined(" + directive.rest + ")");
        else if (word == "ifndef") conditions.push_back("!defined(" + directive.rest + ")");
        else if (conditions.empty()) return;
        else if (word == "endif") conditions.pop_back();
        else if (word == "else") conditions.back() = "!(" + conditions.back() + ")";
        else if (word == "elif") conditions.back() = fmt::format("!({}) && ({})", conditions.back(), directive.rest);
    }

    // Macros are undone after the kernel; a directive goes on over lines that end in a backslash.
    void note_directive(const Directive& directive, const std::vector<std::string>& lines, size_t i) {
        directives_ += directive.rest + "\n";
        while (lines[i].ends_with("\\") && i + 1 < lines.size()) directives_ += lines[++i] + "\n";
        if (directive.word != "define") return;
        size_t end = 0;
        while (end < directive.rest.size() && is_word(directive.rest[end])) ++end;
        macros_.insert(directive.rest.substr(0, end));
    }

    std::string chosen_values() const {
        std::vector<std::string> parts;
        for (const Tunable& tunable : winner_.kernel.space.tunables) {
            auto value = winner_.configuration.find(tunable.name);
            if (value != winner_.configuration.end())
                parts.push_back(fmt::format("{} = {}", tunable.name, to_string(value->second)));
        }
        return join(parts, ", ");
    }

    // Whole numbers become constants. What the preprocessor looks at, texts and reals stay macros, as they
    // were on the compiler's command line.
    std::string define_tunables(std::set<std::string>& macros) const {
        std::string text;
        for (const Tunable& tunable : winner_.kernel.space.tunables) {
            auto value = winner_.configuration.find(tunable.name);
            const bool text_only = tunable.kind == Tunable::Kind::flags || tunable.kind == Tunable::Kind::compiler;
            if (text_only || value == winner_.configuration.end()) continue;
            if (!mentions(code_, tunable.name) && !mentions(directives_, tunable.name)) continue;
            const int64_t* whole = std::get_if<int64_t>(&value->second);
            if (whole && !mentions(directives_, tunable.name)) {
                bool small = *whole == static_cast<int32_t>(*whole);
                text += fmt::format("constexpr {} {} = {};\n", small ? "int" : "int64_t", tunable.name, *whole);
            } else {
                text += fmt::format("#define {} {}\n", tunable.name, to_string(value->second));
                macros.insert(tunable.name);
            }
        }
        return text;
    }

    const Problem& problem_;
    const DispatchWinner& winner_;
    std::vector<Include> includes_;
    std::set<std::string> macros_;
    std::string directives_;  // what preprocessor lines say, without #include
    std::string body_, code_;
};

// ---- the dispatching function ----------------------------------------------------------------------------

const std::set<std::string>& words_of_the_language() {
    static const std::set<std::string> words = {
        "alignas",  "asm",       "auto",     "bool",    "break",     "case",   "catch",    "char",     "class",
        "const",    "constexpr", "continue", "default", "delete",    "do",     "double",   "else",     "enum",
        "explicit", "export",    "extern",   "false",   "float",     "for",    "friend",   "goto",     "if",
        "inline",   "int",       "long",     "mutable", "namespace", "new",    "operator", "private",  "protected",
        "public",   "register",  "return",   "short",   "signed",    "sizeof", "static",   "std",      "struct",
        "switch",   "template",  "this",     "throw",   "true",      "try",    "typedef",  "typename", "union",
        "unsigned", "using",     "virtual",  "void",    "volatile",  "while"};
    return words;
}

std::vector<std::string> identifiers_of(const std::vector<DispatchWinner>& winners) {
    std::vector<std::string> result;
    for (const DispatchWinner& winner : winners) {
        std::string name = winner.kernel.id;
        for (char& c : name)
            if (!is_word(c)) c = '_';
        // Two underscores in a row and a leading one are reserved.
        while (name.find("__") != std::string::npos) name = replace_all(name, "__", "_");
        bool bad =
            name.empty() || !std::isalpha(static_cast<unsigned char>(name[0])) || words_of_the_language().count(name);
        if (bad) name = name.starts_with("_") ? "kernel" + name : "kernel_" + name;
        std::string unique = name;
        for (int i = 2; std::count(result.begin(), result.end(), unique); ++i) unique = fmt::format("{}_{}", name, i);
        result.push_back(unique);
    }
    return result;
}

std::string entry_of(const Problem& problem, const BundleNotes& notes) {
    return notes.entry.empty() ? problem.name : notes.entry;
}

class Dispatcher {
public:
    Dispatcher(const Problem& problem, const std::vector<DispatchWinner>& winners,
               const std::vector<std::string>& identifiers, const DispatchTree& tree, const BundleNotes& notes)
        : problem_(problem),
          winners_(winners),
          identifiers_(identifiers),
          tree_(tree),
          notes_(notes) {}

    std::string text() {
        Problem renamed = problem_;
        renamed.name = entry_of(problem_, notes_);
        text_ = (is_cuda() ? cuda_signature(renamed) : signature(renamed)) + " {\n";
        if (std::string empty = empty_outputs(); !empty.empty()) line(1, fmt::format("if ({}) return;", empty));
        if (tree_.nodes.empty()) call_checked(1, tree_.fallback, "");
        else emit(1, 0);
        return text_ + "}\n";
    }

private:
    bool is_cuda() const { return winners_.front().kernel.language == Language::cuda; }

    void line(int depth, const std::string& text) {
        text_ += std::string(static_cast<size_t>(depth) * 4, ' ') + text + "\n";
    }

    // Nothing to write: every output has an extent of zero.
    std::string empty_outputs() const {
        std::vector<std::string> outputs;
        for (const Tensor& output : problem_.outputs) {
            std::vector<std::string> zero;
            for (const Expression& extent : output.shape)
                if (extent.is_symbol()) zero.push_back(extent.text() + " == 0");
            if (zero.empty()) return {};
            std::string any = join(zero, " || ");
            bool wrap = problem_.outputs.size() > 1 && zero.size() > 1;
            std::string term = wrap ? "(" + any + ")" : any;
            if (std::find(outputs.begin(), outputs.end(), term) == outputs.end()) outputs.push_back(term);
        }
        if (outputs.size() == 1 && outputs[0].front() == '(') return outputs[0].substr(1, outputs[0].size() - 2);
        return join(outputs, " && ");
    }

    void emit(int depth, size_t at, const std::string& lead = "") {
        const DispatchNode& node = tree_.nodes[at];
        if (node.winner >= 0) {
            auto note = notes_.leaves.find(static_cast<int>(at));
            call_checked(depth, node.winner, note == notes_.leaves.end() ? "" : note->second);
            return;
        }
        line(depth, fmt::format("{}if ({} <= {}) {{", lead, node.feature.cpp(), node.threshold));
        emit(depth + 1, static_cast<size_t>(node.yes));
        size_t no = static_cast<size_t>(node.no);
        if (tree_.nodes[no].winner < 0) return emit(depth, no, "} else ");
        line(depth, "} else {");
        emit(depth + 1, no);
        line(depth, "}");
    }

    void call_checked(int depth, int winner, const std::string& note) {
        for (const std::string& text : split(note, '\n'))
            if (!text.empty()) line(depth, "// " + text);
        const auto& condition = winners_[static_cast<size_t>(winner)].kernel.condition;
        if (!condition || winner == tree_.fallback) return call(depth, winner);
        line(depth, fmt::format("if ({}) {{", condition->cpp()));
        call(depth + 1, winner);
        line(depth, "} else {");
        call(depth + 1, tree_.fallback);
        line(depth, "}");
    }

    void call(int depth, int winner) {
        std::string start = fmt::format("{}_detail::{}::{}(", entry_of(problem_, notes_),
                                        identifiers_[static_cast<size_t>(winner)], problem_.name);
        size_t indent = static_cast<size_t>(depth) * 4, room = max_columns - indent;
        std::string arguments = argument_list(problem_) + (is_cuda() ? ", stream" : "");
        if (start.size() + arguments.size() + 2 <= room) return line(depth, start + arguments + ");");
        line(depth, start);
        std::string row;
        for (const std::string& argument : split(arguments, ',')) {
            std::string next = std::string(trim(argument));
            if (!row.empty() && row.size() + next.size() + 4 > room - 4) {
                line(depth + 1, row + ",");
                row.clear();
            }
            row += (row.empty() ? "" : ", ") + next;
        }
        line(depth + 1, row + ");");
    }

    const Problem& problem_;
    const std::vector<DispatchWinner>& winners_;
    const std::vector<std::string>& identifiers_;
    const DispatchTree& tree_;
    const BundleNotes& notes_;
    std::string text_;
};

void add_include(std::vector<Include>& includes, const Include& include) {
    bool known = std::any_of(includes.begin(), includes.end(), [&](const Include& other) {
        return other.target == include.target && (other.condition.empty() || other.condition == include.condition);
    });
    if (!known) includes.push_back(include);
}

std::string include_text(const std::vector<Include>& includes) {
    std::string text;
    for (const Include& include : includes) {
        if (include.condition.empty()) text += fmt::format("#include {}\n", include.target);
        else text += fmt::format("#if {}\n#include {}\n#endif\n", include.condition, include.target);
    }
    return text;
}

// What the conditions' C++ needs.
std::vector<Include> includes_of_conditions(const std::vector<DispatchWinner>& winners) {
    std::vector<Include> includes = {{"", "<stdint.h>"}};
    for (const DispatchWinner& winner : winners) {
        if (!winner.kernel.condition) continue;
        std::string text = winner.kernel.condition->cpp();
        if (text.find("std::min") != std::string::npos || text.find("std::max") != std::string::npos)
            add_include(includes, {"", "<algorithm>"});
        if (text.find("std::abs") != std::string::npos) add_include(includes, {"", "<cstdlib>"});
        if (text.find("std::pow") != std::string::npos) add_include(includes, {"", "<cmath>"});
    }
    return includes;
}

// So that whoever judges the text builds it as it was measured.
std::string prescriptions(const std::vector<DispatchWinner>& winners) {
    const bool in_cpp = std::all_of(winners.begin(), winners.end(), [](const DispatchWinner& winner) {
        return winner.kernel.language == Language::cpp;
    });
    const std::string compiler = bundle_compiler(winners), flags = bundle_flags(winners);
    std::string text;
    if (in_cpp && !compiler.empty() && compiler != "clang") text += "// strop:compiler COMPILER = " + compiler + "\n";
    if (in_cpp && !flags.empty() && flags != "-O3") text += "// strop:flags FLAGS = " + flags + "\n";
    return text.empty() ? text : "// Built by strop with\n" + text + "\n";
}

}  // namespace

std::string bundle(const Problem& problem, const std::vector<DispatchWinner>& winners, const DispatchTree& tree,
                   const BundleNotes& notes) {
    const std::string entry = entry_of(problem, notes);
    std::vector<std::string> identifiers = identifiers_of(winners);
    std::vector<Include> includes = includes_of_conditions(winners);
    std::string kernels;
    for (size_t i = 0; i < winners.size(); ++i) {
        KernelText kernel(problem, winners[i]);
        for (const Include& include : kernel.includes()) add_include(includes, include);
        auto note = notes.winners.find(static_cast<int>(i));
        kernels += kernel.text(identifiers[i], note == notes.winners.end() ? "" : note->second) + "\n";
    }
    bool threaded = std::any_of(winners.begin(), winners.end(),
                                [](const DispatchWinner& winner) { return asks_for_team(winner.kernel.source); });
    std::string team;
    if (threaded) {
        for (const std::string& line : split(team_text().includes, '\n'))
            if (!line.empty()) add_include(includes, {"", directive_of(line).rest});
        team = team_text().body + "\n";
    }
    std::string text;
    for (const std::string& line : split(notes.header, '\n')) text += line.empty() ? "//\n" : "// " + line + "\n";
    if (notes.header.empty()) text.clear();
    while (text.ends_with("\n//\n")) text.resize(text.size() - 3);
    if (!text.empty()) text += "\n";
    text += prescriptions(winners);
    text += include_text(includes) + "\n" + team;
    text += fmt::format("namespace {}_detail {{\n\n{}}}  // namespace {}_detail\n\n", entry, kernels, entry);
    text += Dispatcher(problem, winners, identifiers, tree, notes).text();
    return threaded ? text + set_parallel_definition(entry) : text;
}

std::string bundle_compiler(const std::vector<DispatchWinner>& winners) {
    for (const DispatchWinner& winner : winners)
        if (std::string compiler = compiler_of(winner.kernel.space, winner.configuration); !compiler.empty())
            return compiler;
    return {};
}

std::string bundle_flags(const std::vector<DispatchWinner>& winners) {
    std::vector<std::string> flags;
    std::string level;  // the highest of -O1, -O2, -O3: a command line has one
    for (const DispatchWinner& winner : winners)
        for (const Tunable& tunable : winner.kernel.space.tunables) {
            auto value = winner.configuration.find(tunable.name);
            if (tunable.kind != Tunable::Kind::flags || value == winner.configuration.end()) continue;
            for (const std::string& flag : split(to_string(value->second), ' ')) {
                bool is_level =
                    flag.size() == 3 && flag.starts_with("-O") && std::isdigit(static_cast<unsigned char>(flag[2]));
                if (is_level) level = std::max(level, flag);
                else if (!flag.empty() && std::find(flags.begin(), flags.end(), flag) == flags.end())
                    flags.push_back(flag);
            }
        }
    if (!level.empty()) flags.insert(flags.begin(), level);
    return join(flags, " ");
}

Kernel bundled_kernel(const std::string& source, const std::vector<DispatchWinner>& winners) {
    Kernel kernel;
    kernel.id = kernel.strategy = "dispatch";
    kernel.source = source;
    kernel.author = "strop";
    for (const DispatchWinner& winner : winners)
        if (winner.kernel.language != Language::cpp) kernel.language = winner.kernel.language;
    if (const std::string flags = bundle_flags(winners); !flags.empty()) {
        kernel.space.tunables.push_back({"FLAGS", {Value(flags)}, Tunable::Kind::flags});
        kernel.initial["FLAGS"] = Value(flags);
    }
    if (const std::string compiler = bundle_compiler(winners); !compiler.empty()) {
        kernel.space.tunables.push_back({"COMPILER", {Value(compiler)}, Tunable::Kind::compiler});
        kernel.initial["COMPILER"] = Value(compiler);
    }
    return kernel;
}

}  // namespace strop
