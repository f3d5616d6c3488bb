#include "language/contract.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <concepts>
#include <cstring>
#include <map>
#include <optional>
#include <regex>
#include <set>

#include <fmt/format.h>

#include "base/error.h"
#include "base/lines.h"
#include "base/strings.h"

namespace strop {

namespace {

constexpr size_t most_tunables = 1000;
constexpr size_t most_values = 1000;   // of a tunable
constexpr size_t longest_value = 200;  // std::regex takes stack for each character

constexpr const char* team_word = "team";
constexpr const char* float32_word = "float32";  // of references
constexpr const char* when_word = "when";

struct Directive {
    std::string word;  // "tune", "late", "require", "flags", "compiler", "team"
    std::string text;  // what follows
};

// `strop:WORD rest` behind `//` or `#`; anything else is not ours.
std::optional<Directive> directive_in(std::string_view line) {
    constexpr std::string_view mark = "strop:";
    size_t at = line.find(mark);
    if (at == std::string_view::npos) return std::nullopt;
    std::string_view before = trim(line.substr(0, at));
    if (!before.ends_with("//") && !before.ends_with("#")) return std::nullopt;
    std::string_view rest = line.substr(at + mark.size());
    size_t end = std::min(rest.find_first_of(" \t\r"), rest.size());
    return Directive{std::string(rest.substr(0, end)), std::string(trim(rest.substr(end)))};
}

template <typename Number>
std::optional<Value> parse_number(const std::string& text) {
    Number number{};
    const char* end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data(), end, number);
    if (error != std::errc() || stop != end) return std::nullopt;
    if constexpr (std::floating_point<Number>)
        if (!std::isfinite(number)) return std::nullopt;  // "nan(1)"
    return Value(number);
}

// An integer, true or false as 1 or 0 (as in the preprocessor and in expressions), else a finite float, else the text
// itself, without its quotes.
Value parse_value(const std::string& text) {
    if (text == "true" || text == "True") return int64_t{1};
    if (text == "false" || text == "False") return int64_t{0};
    if (std::optional<Value> integer = parse_number<int64_t>(text)) return *integer;
    bool numeric = text.find_first_of("0123456789") != std::string::npos;
    if (numeric)
        if (std::optional<Value> real = parse_number<double>(text)) return *real;
    bool quoted = text.size() >= 2 && (text.front() == '"' || text.front() == '\'') && text.front() == text.back();
    return quoted ? text.substr(1, text.size() - 2) : text;
}

class TunableParser {
public:
    explicit TunableParser(const std::string& file) : file_(file) {}

    void read_line(int line, std::string_view text) {
        line_ = line;
        std::optional<Directive> directive = directive_in(text);
        if (!directive || directive->word == "link") return;  // link: what a baseline is linked with
        if (directive->word == float32_word || directive->word == when_word) return;
        if (directive->word == team_word) return check_team(directive->text);
        if (directive->word == "tune") read_tunable(directive->text, Tunable::Kind::constant);
        else if (directive->word == "late") read_tunable(directive->text, Tunable::Kind::late);
        else if (directive->word == "flags") read_tunable(directive->text, Tunable::Kind::flags);
        else if (directive->word == "compiler") read_tunable(directive->text, Tunable::Kind::compiler);
        else if (directive->word == "require") read_constraint(directive->text);
        else
            fail(fmt::format("unknown comment 'strop:{}'", directive->word),
                 "write tune, late, require, flags, compiler, team or when");
    }

    TunableSpace finish() {
        for (size_t i = 0; i < space_.constraints.size(); ++i) {
            line_ = constraint_lines_[i];
            check_names(space_.constraints[i]);
        }
        return std::move(space_);
    }

private:
    [[noreturn]] void fail(const std::string& what, const std::string& hint) const {
        throw UsageError(fmt::format("{}:{}: {}", file_, line_, what), hint);
    }

    static std::string form_of(Tunable::Kind kind) {
        switch (kind) {
            case Tunable::Kind::constant: return "strop:tune MR = 6 | 8 | 14";
            case Tunable::Kind::late: return "strop:late KC = 128 | 256";
            case Tunable::Kind::flags: return "strop:flags OPT = -O2 | -O3";
            case Tunable::Kind::compiler: return "strop:compiler CXX = clang | g++";
        }
        return {};
    }

    void read_tunable(const std::string& text, Tunable::Kind kind) {
        const std::string form = form_of(kind);
        size_t equals = text.find('=');
        if (equals == std::string::npos) fail("missing '='", "write " + form);
        Tunable tunable;
        tunable.kind = kind;
        tunable.name = std::string(trim(std::string_view(text).substr(0, equals)));
        if (!is_identifier(tunable.name))
            fail(fmt::format("'{}' is not a name for a tunable", tunable.name), "write " + form);
        if (!names_.insert(tunable.name).second)
            fail(fmt::format("tunable '{}' is declared twice", tunable.name), "give it one list of values");
        std::set<Value> seen;
        for (const std::string& part : split(std::string_view(text).substr(equals + 1), '|')) {
            std::string word(trim(part));
            tunable.values.push_back(read_value(tunable, word));
            if (!seen.insert(tunable.values.back()).second)
                fail(fmt::format("tunable '{}' has the value '{}' twice", tunable.name, word), "remove one");
        }
        compilers_ += kind == Tunable::Kind::compiler;
        if (compilers_ > 1) fail("a second choice of the compiler", "a kernel is compiled by one: remove a line");
        late_ += kind == Tunable::Kind::late;
        if (late_ > most_late_tunables)
            fail(fmt::format("more than {} late tunables", most_late_tunables), "declare some with strop:tune");
        if (space_.tunables.size() == most_tunables)
            fail(fmt::format("more than {} tunables", most_tunables), "fix those that matter least");
        space_.tunables.push_back(std::move(tunable));
    }

    Value read_value(const Tunable& tunable, const std::string& text) const {
        if (text.empty())
            fail(fmt::format("tunable '{}' has an empty value", tunable.name), "separate values by single '|'");
        if (text.size() > longest_value)
            fail(fmt::format("'{:.40}...' of tunable '{}' is {} characters long", text, tunable.name, text.size()),
                 fmt::format("a value has at most {}", longest_value));
        if (tunable.values.size() == most_values)
            fail(fmt::format("tunable '{}' has more than {} values", tunable.name, most_values),
                 "leave out those that matter least");
        if (tunable.kind == Tunable::Kind::compiler && text != "clang" && text != "g++")
            fail(fmt::format("'{}' of tunable '{}' is no compiler for kernels", text, tunable.name),
                 "write " + form_of(tunable.kind));
        bool flags = tunable.kind == Tunable::Kind::flags;
        if (flags) check_flags(tunable.name, text);
        Value value = flags ? Value(text) : parse_value(text);
        static const std::regex number(R"(-?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?)"), whole(R"(-?\d+)");
        bool kept = std::holds_alternative<int64_t>(value) ||
                    (std::holds_alternative<double>(value) && !std::regex_match(text, whole));
        if (!flags && !kept && std::regex_match(text, number))
            fail(fmt::format("'{}' of tunable '{}' is beyond the range of its type", text, tunable.name),
                 "whole numbers have 64 bits, others are doubles");
        if (tunable.kind == Tunable::Kind::late && !std::holds_alternative<int64_t>(value))
            fail(fmt::format("'{}' of tunable '{}' is not a whole number", text, tunable.name),
                 "what is set late is an int64_t: write " + form_of(tunable.kind));
        return value;
    }

    // Flags come with a kernel, from nobody knows whom, and the compiler may read and write files: only such that
    // change the code, and no value that could name a file.
    void check_flags(const std::string& name, const std::string& text) const {
        static const std::regex changes_code(
            "-O([0-3sz]|fast)|-m[a-z0-9.-]+(=[A-Za-z0-9,+-]+)?|-f[a-z0-9-]+(=[A-Za-z0-9,+-]+)?|-W[a-z0-9-]+");
        static const std::regex of_llvm("-[a-z0-9-]+(=[A-Za-z0-9,+-]+)?");
        // -flto=8 is eight compilers, -foffload one for each device.
        static const std::regex starts_processes("-flto=(?!(thin|full)$).*|-f.*(offload|targets|jobs|jobserver).*");
        static const std::regex writes(
            "plugin|profile|dump|save|trace|record|coverage|crash|embed|use-ld|module|usage");
        bool after_mllvm = false;
        for (const std::string& word : split(replace_all(text, "\t", " "), ' ')) {
            if (word.empty()) continue;
            if (word[0] != '-')
                fail(fmt::format("'{}' in '{}' is not a compiler flag", word, name), "flags begin with '-'");
            if (!std::regex_match(word, after_mllvm ? of_llvm : changes_code) || std::regex_search(word, writes))
                fail(fmt::format("'{}' in '{}' is not a flag that a kernel may ask for", word, name),
                     "allowed: -O…, -m…, -f…, -W… and -mllvm -…, without files");
            if (std::regex_match(word, starts_processes))
                fail(fmt::format("'{}' in '{}' starts compilers of its own", word, name), "write -flto, for one");
            after_mllvm = word == "-mllvm";
        }
    }

    void check_team(const std::string& text) const {
        if (!text.empty()) fail(fmt::format("'{}' after strop:team", text), "write strop:team alone");
    }

    void read_constraint(const std::string& text) {
        try {
            space_.constraints.push_back(Expression::parse(text));
        } catch (const UsageError& error) {
            fail(error.what(), "write strop:require MR * NR / 16 <= 28");
        }
        constraint_lines_.push_back(line_);
    }

    void check_names(const Expression& constraint) const {
        std::set<std::string> used = constraint.symbols();
        if (used.empty())
            fail(fmt::format("'{}' names no tunable", constraint.text()), "a constraint is over tunables");
        for (const std::string& name : used) {
            if (names_.count(name)) continue;
            std::vector<std::string> known(names_.begin(), names_.end());
            std::vector<std::string> near = nearest(name, known, 1);
            fail(fmt::format("'{}' is not a tunable", name),
                 near.empty() ? "constraints are over tunables only" : fmt::format("did you mean '{}'?", near[0]));
        }
    }

    const std::string file_;
    int line_ = 0;
    TunableSpace space_;
    size_t late_ = 0, compilers_ = 0;
    std::set<std::string> names_;
    std::vector<int> constraint_lines_;
};

std::vector<std::string> parameters_of(const Problem& problem) {
    std::vector<std::string> parts;
    for (const Tensor& input : problem.inputs)
        parts.push_back(fmt::format("const {}* {}", c_type(input.dtype), input.name));
    for (const Tensor& output : problem.outputs)
        parts.push_back(fmt::format("{}* {}", c_type(output.dtype), output.name));
    for (const Parameter& parameter : problem.parameters)
        parts.push_back(fmt::format("{} {}", c_type(parameter.dtype), parameter.name));
    for (const std::string& dimension : problem.dimensions) parts.push_back("int64_t " + dimension);
    return parts;
}

// A constraint that cannot be evaluated (division by zero) does not hold.
bool holds(const Expression& constraint, const Configuration& configuration) {
    try {
        return truthy(constraint.evaluate(configuration));
    } catch (const UsageError&) {
        return false;
    }
}

// The first configuration in order of the values, depth first. Where a value is left for a tunable is decided by the
// constraints that failed: the search returns to the last tunable that they name, past those that cannot change them
// (conflict-directed backjumping: Prosser 1993).
class FirstConfiguration {
public:
    explicit FirstConfiguration(const TunableSpace& space) : space_(space), due_(space.tunables.size()) {
        std::map<std::string, size_t> places;
        for (size_t i = 0; i < space.tunables.size(); ++i) places[space.tunables[i].name] = i;
        for (const Expression& constraint : space.constraints) {
            Check check{&constraint, {}, static_cast<int64_t>(1 + constraint.text().size() / 8)};
            for (const std::string& name : constraint.symbols()) {
                if (!places.count(name))
                    throw UsageError(fmt::format("constraint '{}' names an unknown tunable", constraint.text()));
                check.names.insert(places[name]);
            }
            if (!check.names.empty()) due_[*check.names.rbegin()].push_back(std::move(check));
            else possible_ = possible_ && holds(constraint, {});
        }
    }

    Configuration find() {
        Blame blame;
        if (!possible_ || !assign(0, blame))
            throw UsageError("no configuration meets the constraints", "relax a 'strop:require' or add values");
        return std::move(configuration_);
    }

private:
    using Blame = std::set<size_t>;  // places of tunables
    struct Check {
        const Expression* constraint;
        Blame names;
        int64_t work;  // roughly, the nodes of its tree
    };

    // Values for the tunables from `place` on; where there are none, who else would have to change.
    bool assign(size_t place, Blame& blame) {
        if (place == due_.size()) return true;
        const Tunable& tunable = space_.tunables[place];
        for (const Value& value : tunable.values) {
            configuration_[tunable.name] = value;
            Blame why;
            if (const Check* failed = failing(place)) why = failed->names;
            else if (assign(place + 1, why)) return true;
            if (why.erase(place) == 0) {  // no other value of this one would help
                blame = std::move(why);
                break;
            }
            blame.merge(why);
        }
        configuration_.erase(tunable.name);
        return false;
    }

    const Check* failing(size_t place) {
        for (const Check& check : due_[place]) {
            work_ += check.work;
            if (work_ > most_work)
                throw UsageError("no configuration that meets the constraints was found in reasonable time",
                                 "name values first that meet every 'strop:require'");
            if (!holds(*check.constraint, configuration_)) return &check;
        }
        return nullptr;
    }

    static constexpr int64_t most_work = 500'000;

    const TunableSpace& space_;
    std::vector<std::vector<Check>> due_;  // by the last tunable that is named
    bool possible_ = true;
    int64_t work_ = 0;
    Configuration configuration_;
};

}  // namespace

std::string parameter_list(const Problem& problem) { return join(parameters_of(problem), ", "); }

std::string argument_list(const Problem& problem) {
    std::vector<std::string> names;
    for (const Tensor& input : problem.inputs) names.push_back(input.name);
    for (const Tensor& output : problem.outputs) names.push_back(output.name);
    for (const Parameter& parameter : problem.parameters) names.push_back(parameter.name);
    names.insert(names.end(), problem.dimensions.begin(), problem.dimensions.end());
    return join(names, ", ");
}

std::string cuda_signature(const Problem& problem) { return with_stream(signature(problem)); }

std::string with_stream(std::string declaration, const std::string& type) {
    return declaration.insert(declaration.rfind(')'), ", " + type + " stream");
}

std::string signature(const Problem& problem) {
    return parenthesised_list("extern \"C\" void " + problem.name, parameters_of(problem));
}

namespace {

// Of a kernel that may not include <stdint.h>.
std::string predefined_type(std::string parameter) {
    parameter.erase(parameter.rfind(' '));
    for (const auto& [known, predefined] : {std::pair{"uint8_t", "__UINT8_TYPE__"},
                                            {"int8_t", "__INT8_TYPE__"},
                                            {"int32_t", "__INT32_TYPE__"},
                                            {"int64_t", "__INT64_TYPE__"}})
        if (const size_t place = parameter.find(known); place != std::string::npos)
            return parameter.replace(place, std::strlen(known), predefined);
    return parameter;
}

}  // namespace

std::string signature_check(const Problem& problem) {
    std::vector<std::string> types;
    for (const std::string& parameter : parameters_of(problem)) types.push_back(predefined_type(parameter));
    return fmt::format("\n#line 1 \"{}\"\n[[maybe_unused]] static void (*const strop_declared)({}) = &::{};\n",
                       declared_signature, join(types, ", "), problem.name);
}

namespace {

bool has_directive(const std::string& source, const char* word) {
    for (const std::string& line : split(source, '\n'))
        if (const std::optional<Directive> directive = directive_in(line); directive && directive->word == word)
            return true;
    return false;
}

std::vector<std::string> names_for_conditions(const Problem& problem) {
    std::vector<std::string> names = problem.dimensions;
    for (const Parameter& parameter : problem.parameters)
        if (!is_floating(parameter.dtype)) names.push_back(parameter.name);
    return names;
}

void check_names(const Expression& condition, const std::vector<std::string>& names) {
    for (const std::string& name : condition.symbols())
        if (std::find(names.begin(), names.end(), name) == names.end())
            throw UsageError(fmt::format("'{}' is not a dimension of the problem", name),
                             "known: " + join(names, ", "));
}

}  // namespace

bool asks_for_team(const std::string& source) { return has_directive(source, team_word); }

bool asks_for_float32(const std::string& source) { return has_directive(source, float32_word); }

void check_source_size(uintmax_t bytes, const std::string& file) {
    if (bytes <= longest_source) return;
    throw UsageError(fmt::format("{}: a source of {}", file, human_bytes(static_cast<double>(bytes))),
                     fmt::format("a kernel has at most {}", human_bytes(static_cast<double>(longest_source))));
}

std::optional<Expression> condition_in(const std::string& source, const std::string& file,
                                       const std::vector<std::string>& names) {
    std::optional<Expression> condition;
    int number = 0;
    for (const std::string& line : split(source, '\n')) {
        ++number;
        const std::optional<Directive> directive = directive_in(line);
        if (!directive || directive->word != when_word) continue;
        const auto fail = [&](const std::string& what, const std::string& hint) {
            throw UsageError(fmt::format("{}:{}: {}", file, number, what), hint);
        };
        if (condition) fail("a second 'strop:when'", "join both with 'and'");
        try {
            condition = Expression::parse(directive->text);
        } catch (const UsageError& error) {
            fail(error.what(), "write strop:when N % 8 == 0");
        }
        try {
            check_names(*condition, names);
        } catch (const UsageError& error) {
            fail(error.what(), error.hint());
        }
    }
    return condition;
}

void check_condition(const Expression& condition, const Problem& problem) {
    check_names(condition, names_for_conditions(problem));
}

TunableSpace parse_tunables(const std::string& source, const std::string& file) {
    check_source_size(source.size(), file);
    TunableParser parser(file);
    int line = 0;
    for (const std::string& text : split(source, '\n')) parser.read_line(++line, text);
    return parser.finish();
}

void read_directives(Kernel& kernel, const Problem& problem, const std::string& file) {
    kernel.space = parse_tunables(kernel.source, file);
    if (std::optional<Expression> condition = condition_in(kernel.source, file, names_for_conditions(problem)))
        kernel.condition = std::move(condition);
}

Configuration default_configuration(const TunableSpace& space) { return FirstConfiguration(space).find(); }

Configuration chosen_configuration(const TunableSpace& space, const std::map<std::string, std::string>& values) {
    Configuration configuration = default_configuration(space);
    for (const auto& [name, text] : values) {
        auto tunable = std::find_if(space.tunables.begin(), space.tunables.end(),
                                    [&](const Tunable& candidate) { return candidate.name == name; });
        if (tunable == space.tunables.end()) {
            std::vector<std::string> names;
            for (const Tunable& candidate : space.tunables) names.push_back(candidate.name);
            throw UsageError(fmt::format("the kernel has no tunable '{}'", name),
                             names.empty() ? "it has none: see `// strop:tune`" : "it has " + join(names, ", "));
        }
        auto value = std::find_if(tunable->values.begin(), tunable->values.end(), [&](const Value& candidate) {
            return to_string(candidate) == text || candidate == parse_value(text);
        });
        if (value == tunable->values.end()) {
            std::vector<std::string> known;
            for (const Value& candidate : tunable->values) known.push_back(to_string(candidate));
            throw UsageError(fmt::format("'{}' is not a value of {}", text, name),
                             "its values are " + join(known, ", "));
        }
        configuration[name] = *value;
    }
    for (const Expression& constraint : space.constraints)
        if (!holds(constraint, configuration))
            throw UsageError(fmt::format("{} does not meet '{}'", describe(configuration), constraint.text()),
                             "see its `// strop:require`");
    return configuration;
}

}  // namespace strop
