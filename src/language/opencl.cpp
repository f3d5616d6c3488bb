#include "language/opencl.h"

#include <algorithm>
#include <optional>
#include <regex>
#include <set>

#include <fmt/format.h>

#include "base/error.h"
#include "base/strings.h"
#include "language/contract.h"
#include "language/cpp_source.h"

namespace strop {

namespace {

constexpr size_t most_sizes = 3;

class OpenClReader {
public:
    OpenClReader(const std::string& source, const Problem& problem, const std::string& file)
        : problem_(problem),
          file_(file),
          code_(code_only(source)),
          lines_(split(source, '\n')) {}

    OpenClSource read() {
        std::vector<std::string> program, tunables;
        for (const std::string& line : lines_) {
            ++line_;
            const bool ours = read_comment(line, tunables);
            if (!ours && trim(line).starts_with("#include")) fail("#include", "a kernel is one file");
            program.push_back(ours ? "" : line);
        }
        result_.program = join(program, "\n");
        result_.space = parse_tunables(join(tunables, "\n"), file_);
        check_sizes();
        for (size_t i = 0; i < result_.launches.size(); ++i) read_kernel(result_.launches[i].kernel, launch_lines_[i]);
        line_ = 1;
        if (result_.launches.empty()) fail("no launch", "write // strop:launch KERNEL global SIZES local SIZES");
        return std::move(result_);
    }

private:
    [[noreturn]] void fail(const std::string& what, const std::string& hint) const {
        throw UsageError(fmt::format("{}:{}: {}", file_, line_, what), hint);
    }

    // Whether it is a comment of ours; what parse_tunables reads goes to `tunables`, at the same line.
    bool read_comment(const std::string& line, std::vector<std::string>& tunables) {
        static const std::regex comment(R"(\s*//\s*strop:(\w+)\s*(.*?)\s*)");
        tunables.emplace_back();
        std::smatch match;
        if (!std::regex_match(line, match, comment)) return false;
        const std::string word = match[1], text = match[2];
        if (word == "buffer") read_buffer(text);
        else if (word == "launch") read_launch(text);
        else if (word == "tune" || word == "late") tunables.back() = "// strop:tune " + text;
        else if (word == "flags") tunables.back() = "// strop:tune " + checked_options(text);
        else if (word == "require") tunables.back() = "// strop:require " + text;
        else if (word == "when") result_.when = "// strop:when " + text;
        else
            fail(fmt::format("unknown comment 'strop:{}'", word),
                 "write tune, late, require, flags, buffer, launch or when");
        return true;
    }

    std::string checked_options(const std::string& text) {
        static const std::regex option("-cl-[a-z-]+(=[A-Za-z0-9.]+)?");
        const size_t equals = std::min(text.find('='), text.size());
        result_.options.emplace_back(trim(std::string_view(text).substr(0, equals)));
        for (const std::string& value : split(std::string_view(text).substr(equals), '|'))
            for (const std::string& word : split(value, ' '))
                if (!word.empty() && word != "=" && !std::regex_match(word, option))
                    fail(fmt::format("'{}' is not an option of clBuildProgram", word), "write -cl-mad-enable");
        return text;
    }

    Expression expression(const std::string& text) const {
        try {
            return Expression::parse(text);
        } catch (const UsageError& error) {
            fail(error.what(), "sizes are over dimensions, integer parameters and tunables: M * LOCAL");
        }
    }

    void read_buffer(const std::string& text) {
        static const std::regex form(R"((\w+)\s+(float|double|int|uint|long|ulong|char|uchar)\s+(\S.*))");
        std::smatch match;
        if (!std::regex_match(text, match, form))
            fail(fmt::format("'{}' is not a buffer", text), "write // strop:buffer NAME TYPE ELEMENTS");
        if (find_argument(match[1])) fail(fmt::format("'{}' is a name already", match[1].str()), "choose another");
        result_.buffers.push_back({match[1], match[2], expression(match[3])});
        size_lines_.push_back(line_);
    }

    void read_launch(const std::string& text) {
        static const std::regex form(R"((\w+)\s+global\s+(.+?)(?:\s+local\s+(.+))?)");
        std::smatch match;
        if (!std::regex_match(text, match, form))
            fail(fmt::format("'{}' is not a launch", text), "write // strop:launch KERNEL global SIZES local SIZES");
        OpenClLaunch launch{match[1], sizes(match[2]), match[3].matched ? sizes(match[3]) : std::vector<Expression>{}};
        if (!launch.local.empty() && launch.local.size() != launch.global.size())
            fail(fmt::format("{} global and {} local sizes", launch.global.size(), launch.local.size()),
                 "give as many of both");
        result_.launches.push_back(std::move(launch));
        launch_lines_.push_back(line_);
    }

    // Separated by commas, where these are outside of parentheses.
    std::vector<Expression> sizes(const std::string& text) const {
        std::vector<Expression> result;
        std::string part;
        int depth = 0;
        for (char c : text + ",") {
            depth += (c == '(') - (c == ')');
            if (c == ',' && depth == 0) {
                result.push_back(expression(part));
                part.clear();
            } else {
                part += c;
            }
        }
        if (result.empty() || result.size() > most_sizes)
            fail(fmt::format("'{}' is not one to {} sizes", text, most_sizes), "separate them by commas");
        return result;
    }

    void check_sizes() {
        for (size_t i = 0; i < result_.buffers.size(); ++i) {
            line_ = size_lines_[i];
            check_names(result_.buffers[i].elements);
        }
        for (size_t i = 0; i < result_.launches.size(); ++i) {
            line_ = launch_lines_[i];
            for (const Expression& size : result_.launches[i].global) check_names(size);
            for (const Expression& size : result_.launches[i].local) check_names(size);
        }
    }

    void check_names(const Expression& size) const {
        for (const std::string& name : size.symbols()) {
            const auto& tunables = result_.space.tunables;
            const auto& dimensions = problem_.dimensions;
            const auto& parameters = problem_.parameters;
            const auto is_named = [&](const auto& one) { return one.name == name; };
            const bool known = std::any_of(tunables.begin(), tunables.end(), is_named) ||
                               std::find(dimensions.begin(), dimensions.end(), name) != dimensions.end() ||
                               std::any_of(parameters.begin(), parameters.end(), [&](const Parameter& one) {
                                   return is_named(one) && !is_floating(one.dtype);
                               });
            if (!known)
                fail(fmt::format("'{}' is not a dimension, integer parameter or tunable", name),
                     "sizes are over dimensions, integer parameters and tunables");
        }
    }

    void read_kernel(const std::string& name, int launch_line) {
        for (const OpenClKernel& known : result_.kernels)
            if (known.name == name) return;
        static const std::regex head(R"(\b(?:__kernel|kernel)\b[^;{}]*?\bvoid\s+(\w+)\s*\(([^)]*)\))");
        for (std::sregex_iterator match(code_.begin(), code_.end(), head), end; match != end; ++match) {
            if ((*match)[1] != name) continue;
            line_ = 1 + static_cast<int>(std::count(code_.begin(), code_.begin() + match->position(1), '\n'));
            OpenClKernel kernel{name, {}};
            std::set<std::string> seen;
            for (const std::string& text : split((*match)[2].str(), ',')) {
                kernel.arguments.push_back(argument(std::string(trim(text))));
                if (!seen.insert(kernel.arguments.back().name).second)
                    fail(fmt::format("argument '{}' appears twice", kernel.arguments.back().name), "remove one");
            }
            result_.kernels.push_back(std::move(kernel));
            return;
        }
        line_ = launch_line;
        fail(fmt::format("no kernel '{}'", name), "write __kernel void " + name + "(...)");
    }

    struct Expected {
        OpenClArgument argument;
        std::string type;
    };

    std::optional<Expected> find_argument(const std::string& name) const {
        using Kind = OpenClArgument::Kind;
        for (const Tensor& input : problem_.inputs)
            if (input.name == name) return Expected{{name, Kind::input}, opencl_type(input.dtype)};
        for (const Tensor& output : problem_.outputs)
            if (output.name == name) return Expected{{name, Kind::output}, opencl_type(output.dtype)};
        for (const Parameter& parameter : problem_.parameters)
            if (parameter.name == name) return Expected{{name, Kind::parameter}, opencl_type(parameter.dtype)};
        for (const std::string& dimension : problem_.dimensions)
            if (dimension == name) return Expected{{name, Kind::dimension}, "long"};
        for (const OpenClBuffer& buffer : result_.buffers)
            if (buffer.name == name) return Expected{{name, Kind::buffer}, buffer.type};
        return std::nullopt;
    }

    // "__global const float* restrict x"
    OpenClArgument argument(const std::string& text) const {
        using Kind = OpenClArgument::Kind;
        static const std::regex word(R"(\w+)");
        static const std::set<std::string> globals = {"__global", "global"},
                                           silent = {"restrict", "__restrict", "volatile"};
        std::vector<std::string> words;
        bool global = false, constant = false;
        const bool pointer = std::count(text.begin(), text.end(), '*') == 1;
        for (std::sregex_iterator at(text.begin(), text.end(), word), end; at != end; ++at) {
            const std::string found = at->str();
            if (globals.count(found)) global = true;
            else if (found == "const") constant = true;
            else if (!silent.count(found)) words.push_back(found);
        }
        if (words.size() != 2)
            fail(fmt::format("cannot read the argument '{}'", text), "write __global const float* x");
        const std::optional<Expected> expected = find_argument(words[1]);
        if (!expected)
            fail(fmt::format("'{}' is not a tensor, parameter, dimension or buffer", words[1]),
                 "arguments are matched by name");
        const Kind kind = expected->argument.kind;
        const bool tensor = kind == Kind::input || kind == Kind::output || kind == Kind::buffer;
        const std::string right =
            fmt::format("{}{}{}{} {}", tensor ? "__global " : "", kind == Kind::input ? "const " : "", expected->type,
                        tensor ? "*" : "", words[1]);
        const bool fits = words[0] == expected->type && pointer == tensor && global == tensor &&
                          (kind != Kind::input || constant) && (kind != Kind::output || !constant);
        if (!fits) fail(fmt::format("argument '{}' does not fit", text), "write " + right);
        return expected->argument;
    }

    const Problem& problem_;
    const std::string file_, code_;
    const std::vector<std::string> lines_;
    int line_ = 0;
    std::vector<int> size_lines_, launch_lines_;
    OpenClSource result_;
};

}  // namespace

std::string opencl_type(DType dtype) {
    const std::string type = c_type(dtype);
    if (type == "int32_t") return "int";
    if (type == "int64_t") return "long";
    if (type == "uint16_t") return "ushort";
    if (type == "int8_t") return "char";
    return type == "uint8_t" || type == "bool" ? "uchar" : type;
}

OpenClSource read_opencl(const std::string& source, const Problem& problem, const std::string& file) {
    check_source_size(source.size(), file);
    return OpenClReader(source, problem, file).read();
}

}  // namespace strop
