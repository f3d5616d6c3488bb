#include "language/cuda_emulator.h"

#include <charconv>
#include <regex>

#include <fmt/format.h>

#include "base/file.h"
#include "base/strings.h"
#include "device/machine.h"
#include "language/assembly.h"
#include "language/contract.h"
#include "language/cpp.h"

namespace strop {

namespace {

constexpr const char* mark = "CUDA emulator: ";

fs::path folder() { return home_folder() / "src" / "language" / "cuda_emulator"; }
std::string include_flag() { return "-I" + (folder() / "include").string(); }

uint64_t from_hexadecimal(const std::string& text) {
    uint64_t value = 0;
    std::from_chars(text.data(), text.data() + text.size(), value, 16);
    return value;
}

// "void compute<64>(float const*, long)" is "compute<64>".
std::string plain_name(const std::string& demangled) {
    std::string name = demangled;
    int angles = 0;
    for (size_t i = 0; i < name.size(); ++i) {
        angles += (name[i] == '<') - (name[i] == '>');
        if (angles == 0 && name[i] == '(' && i > 0) {
            name.erase(i);
            break;
        }
    }
    angles = 0;
    for (size_t i = name.size(); i-- > 0;) {
        angles += (name[i] == '>') - (name[i] == '<');
        if (angles == 0 && name[i] == ' ') return name.substr(i + 1);
    }
    return name;
}

class Places {
public:
    explicit Places(const fs::path& library)
        : source_(library.stem().string() + ".cpp"),
          assembly_(disassemble(library, source_)) {}

    // Replaces "{+0x12}" and "{kernel+0x12}".
    std::string resolve(std::string text) const {
        static const std::regex place(R"(\s*\{(kernel)?\+0x([0-9a-f]+)\})");
        std::smatch match;
        while (std::regex_search(text, match, place)) {
            const std::string found =
                match[1].matched ? name_at(from_hexadecimal(match.str(2))) : line_at(from_hexadecimal(match.str(2)));
            text = match.prefix().str() + found + match.suffix().str();
        }
        return text;
    }

private:
    std::string name_at(uint64_t address) const {
        const Function* function = assembly_ ? assembly_->function_at(address) : nullptr;
        return " " + (function ? plain_name(function->name) : "?");
    }

    // Of the last instruction up to the address.
    std::string line_at(uint64_t address) const {
        const Function* function = assembly_ ? assembly_->function_at(address) : nullptr;
        int line = 0;
        if (function)
            for (const Instruction& instruction : function->instructions)
                if (instruction.line > 0 && instruction.address <= address) line = instruction.line;
        return line > 0 ? fmt::format(" at {}:{}", source_, line) : "";
    }

    std::string source_;
    std::optional<Assembly> assembly_;
};

std::string extent_product(const Tensor& tensor) {
    std::string text = fmt::format("int64_t{{sizeof({})}}", c_type(tensor.dtype));
    for (const Expression& extent : tensor.shape) text += fmt::format(" * ({})", extent.cpp());
    return text;
}

}  // namespace

// Without what joins accesses (vectors), moves them away from their line or hides them. Local variables whose address
// nobody has are not watched.
std::vector<std::string> emulated_flags() {
    std::vector<std::string> flags = {include_flag(),
                                      "-include",
                                      (folder() / "include" / "cuda_runtime.h").string(),
                                      "-O1",
                                      "-gline-tables-only",
                                      "-fno-vectorize",
                                      "-fno-slp-vectorize",
                                      "-fno-exceptions",
                                      "-fsanitize=thread,array-bounds,alignment",
                                      "-fno-sanitize-recover=all"};
    for (const char* option : {"-tsan-instrument-func-entry-exit=0", "-tsan-instrument-atomics=0",
                               "-tsan-instrument-read-before-write=1", "-tsan-distinguish-volatile=1"}) {
        flags.push_back("-mllvm");
        flags.push_back(option);
    }
    return flags;
}

std::vector<fs::path> emulator_sources() {
    std::vector<fs::path> sources;
    for (const char* name : {"block", "fiber", "finding", "instrumentation", "memory", "shadow"})
        sources.push_back(folder() / (std::string(name) + ".cpp"));
    return sources;
}

fs::path emulator_headers() { return folder() / "include"; }

std::vector<std::string> emulator_flags() { return {"-I" + (home_folder() / "src").string(), include_flag()}; }

std::string emulated_call_adapter(const Problem& problem) {
    std::vector<std::string> types, arguments, rows;
    std::string dimensions;
    const auto add_tensor = [&](const Tensor& tensor, bool is_output) {
        types.push_back((is_output ? "" : "const ") + std::string(c_type(tensor.dtype)) + "*");
        arguments.push_back(fmt::format("static_cast<{}>(strop_all[{}].device)", types.back(), rows.size()));
        rows.push_back(fmt::format("{{\"{}\", strop_tensors[{}], {}, {}}}", tensor.name, rows.size(),
                                   extent_product(tensor), is_output));
    };
    for (const Tensor& input : problem.inputs) add_tensor(input, false);
    for (const Tensor& output : problem.outputs) add_tensor(output, true);
    for (size_t i = 0; i < problem.parameters.size(); ++i) {
        const Parameter& parameter = problem.parameters[i];
        types.push_back(c_type(parameter.dtype));
        arguments.push_back(fmt::format("static_cast<{}>(strop_parameters[{}])", types.back(), i));
        if (!is_floating(parameter.dtype))  // extents may read them
            dimensions +=
                fmt::format("    [[maybe_unused]] const int64_t {} = static_cast<int64_t>(strop_parameters[{}]);\n",
                            parameter.name, i);
    }
    for (size_t i = 0; i < problem.dimensions.size(); ++i) {
        types.push_back("int64_t");
        arguments.push_back(problem.dimensions[i]);
        dimensions += fmt::format("    const int64_t {} = strop_dimensions[{}];\n", problem.dimensions[i], i);
    }
    types.push_back("void*");
    arguments.push_back("nullptr");
    return fmt::format(
        "#include \"language/cuda_emulator/memory.h\"\n\nextern \"C\" void {0}({1});\n\n"
        "extern \"C\" int64_t {6}[{7}];\nint64_t {6}[{7}];\n\n"
        "extern \"C\" void {8}(void* const* strop_tensors, const double* strop_parameters,\n"
        "                           const int64_t* strop_dimensions) {{\n    (void)strop_parameters;\n{2}"
        "    emulator::Tensor strop_all[] = {{\n        {3}}};\n"
        "    emulator::copy_in(strop_all, {4});\n    {0}({5});\n    emulator::copy_out(strop_all, {4});\n}}\n",
        problem.name, join(types, ", "), dimensions, join(rows, ",\n        "), rows.size(),
        join(arguments, ",\n        "), late_values_name, most_late_tunables, kernel_entry_name);
}

std::optional<std::string> missing_in_emulator(const std::string& said) {
    static const std::regex undeclared(
        "(?:undeclared identifier|unknown type name|no type named) '((?:cuda|cu|__)\\w+)'"),
        no_file("fatal error: '([^']+)' file not found");
    std::smatch found;
    for (const std::regex* form : {&undeclared, &no_file})
        if (std::regex_search(said, found, *form)) return found[1].str();
    return std::nullopt;
}

std::optional<EmulatorFinding> emulator_finding(const std::string& report, const fs::path& library) {
    const size_t at = report.find(mark);
    if (at == std::string::npos) return std::nullopt;
    const std::string line = report.substr(at + std::string(mark).size());
    const std::string text = line.substr(0, line.find('\n'));
    const bool by_chance = text.starts_with("race") || text.starts_with("uninitialised");
    return EmulatorFinding{by_chance ? Verdict::nondeterministic : Verdict::crashed,
                           printable(Places(library).resolve(text))};
}

}  // namespace strop
