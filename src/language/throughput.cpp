#include "language/throughput.h"

#include <algorithm>
#include <charconv>
#include <map>

#include <fmt/format.h>

#include "base/clock.h"
#include "base/strings.h"
#include "sandbox/process.h"

namespace strop {

namespace {

constexpr double model_limit_seconds = 30;
constexpr int64_t model_memory_bytes = int64_t{4} << 30, text_bytes = int64_t{16} << 20;
constexpr int iterations = 200;
constexpr size_t most_instructions = 5000;  // a loop that is longer is modelled for seconds
constexpr double busy = 0.85;               // of the cycles: the rest is how the first iterations fill the pipeline
constexpr const char* head_label = ".Lhead";

// The number after `name`, "Total Cycles:      811"; brackets as in "Resource Pressure       [ 3.33% ]" are skipped.
std::optional<double> number_after(std::string_view text, std::string_view name) {
    size_t at = text.find(name);
    if (at == std::string_view::npos) return std::nullopt;
    at = text.find_first_not_of(" :[", at + name.size());
    if (at == std::string_view::npos) return std::nullopt;
    double value = 0;
    auto [end, error] = std::from_chars(text.data() + at, text.data() + text.size(), value);
    if (error != std::errc()) return std::nullopt;
    return value;
}

// The lines between a title and the next empty line.
std::vector<std::string> section(std::string_view text, std::string_view title) {
    size_t at = text.find(fmt::format("\n{}\n", title));
    if (at == std::string_view::npos) return {};
    at += title.size() + 2;
    size_t end = text.find("\n\n", at);
    return split(text.substr(at, end == std::string_view::npos ? end : end - at), '\n');
}

std::vector<std::string> words(std::string_view line) {
    std::vector<std::string> result;
    for (const std::string& word : split(line, ' '))
        if (!trim(word).empty()) result.emplace_back(trim(word));
    return result;
}

// Units of one kind, "[12.0] - Zn4FP45" and "[12.1] - Zn4FP45", share a name; their mean counts.
std::string busiest_units(std::string_view text, double cycles) {
    std::vector<std::string> names, units = section(text, "Resources:");
    for (const std::string& line : units)
        if (size_t dash = line.find(" - "); dash != std::string::npos) names.emplace_back(trim(line.substr(dash + 3)));
    std::vector<std::string> table = section(text, "Resource pressure per iteration:");
    if (table.size() < 2) return {};
    std::vector<std::string> pressures = words(table[1]);
    struct Sum {
        double pressure = 0;
        int count = 0;
    };
    std::map<std::string, Sum> sums;
    for (size_t i = 0; i < std::min(names.size(), pressures.size()); ++i) {
        Sum& sum = sums[names[i]];
        sum.pressure += number_after(pressures[i], "").value_or(0);  // "-": none
        ++sum.count;
    }
    std::vector<std::string> found;
    for (const auto& [name, sum] : sums)
        if (sum.pressure / sum.count >= busy * cycles) found.push_back(name);
    return join(found, ", ");
}

// The model takes what it is given as the body of a loop and follows no branch: any target will do.
std::optional<std::string> assembler_text(const Assembly& assembly, const Loop& loop) {
    std::string text = assembly.architecture == "x86_64" ? ".intel_syntax noprefix\n" : "";
    text += fmt::format("{}:\n", head_label);
    const Function& function = assembly.functions[loop.function];
    for (size_t i = loop.first; i <= loop.last; ++i) {
        const Instruction& instruction = function.instructions[i];
        Flow flow = flow_of(instruction);
        if (flow == Flow::call) return std::nullopt;
        if (is_padding(instruction)) continue;
        bool names_target = instruction.operands.find(" <") != std::string::npos;  // adrp and ldr too
        bool known = (flow == Flow::branch || flow == Flow::jump) && target_of(instruction);
        text += fmt::format("{}\t{}\n", instruction.mnemonic,
                            names_target || known ? with_target(instruction, head_label) : instruction.operands);
    }
    return text;
}

}  // namespace

std::optional<Throughput> parse_throughput(const std::string& text) {
    std::optional<double> count = number_after(text, "Iterations:"), total = number_after(text, "Total Cycles:"),
                          operations = number_after(text, "Total uOps:");
    if (!count || !total || !operations || !(*count >= 1) || !(*total > 0)) return std::nullopt;
    Throughput result;
    result.cycles = *total / *count;
    result.micro_operations = *operations / *count;
    // Missing where nothing holds the loop back but its own length.
    result.resource_share = number_after(text, "Resource Pressure ").value_or(0) / 100;
    result.dependency_share = number_after(text, "Data Dependencies:").value_or(0) / 100;
    result.busiest = busiest_units(text, result.cycles);
    return result;
}

std::optional<Throughput> throughput_of(const Assembly& assembly, const Loop& loop) {
    if (loop.last - loop.first >= most_instructions) return std::nullopt;
    std::optional<std::string> input = assembler_text(assembly, loop);
    if (!input) return std::nullopt;
    for (const char* program : {"llvm-mca-19", "llvm-mca"}) {
        sandbox::Command command;
        command.argv = {program, "-mcpu=native", "-bottleneck-analysis", "-instruction-info=false",
                        fmt::format("-iterations={}", iterations)};
        command.trust = sandbox::Trust::compiler;
        command.limits.wall = command.limits.processor = Seconds(model_limit_seconds);
        command.limits.memory_bytes = model_memory_bytes;
        command.limits.output_bytes = text_bytes;
        sandbox::Finished finished = sandbox::run(command, *input);
        if (finished.not_found) continue;
        return finished.ok() ? parse_throughput(finished.out) : std::nullopt;
    }
    return std::nullopt;
}

}  // namespace strop
