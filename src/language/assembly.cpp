#include "language/assembly.h"

#include <algorithm>
#include <charconv>
#include <map>

#include <fmt/format.h>

#include "base/clock.h"
#include "base/strings.h"
#include "language/loops.h"
#include "sandbox/process.h"

namespace strop {

namespace fs = std::filesystem;

namespace {

constexpr double read_limit_seconds = 30;
constexpr int64_t read_memory_bytes = int64_t{4} << 30, text_bytes = int64_t{32} << 20;

template <class Number>
std::optional<Number> number(std::string_view text, int base) {
    Number value = 0;
    auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
    if (text.empty() || error != std::errc() || end != text.data() + text.size()) return std::nullopt;
    return value;
}

bool one_of(std::string_view name, std::initializer_list<std::string_view> names) {
    return std::find(names.begin(), names.end(), name) != names.end();
}

// "0x1140 <dot+0x40>", the last operand; a name may have commas: "x8, 0x80 <copy(int, int)>".
std::string_view target_operand(std::string_view operands) {
    size_t comma = operands.substr(0, operands.find(" <")).rfind(", ");
    return comma == std::string_view::npos ? operands : operands.substr(comma + 2);
}

// Of "0x1030 <exp@plt>" the name; without one, what is there.
std::string_view target_name(std::string_view target) {
    size_t start = target.find(" <");
    return start == std::string_view::npos || !target.ends_with('>')
               ? target
               : target.substr(start + 2, target.size() - start - 3);
}

// "0000000000001100 <dot>:"
std::optional<std::string> function_name(std::string_view line) {
    size_t start = line.find(" <");
    if (start == std::string_view::npos || !line.ends_with(">:")) return std::nullopt;
    if (!number<uint64_t>(line.substr(0, start), 16)) return std::nullopt;
    return std::string(line.substr(start + 2, line.size() - start - 4));
}

// "; /folder/dot.cpp:3" -> 3, or 0 when that is another file; nothing when the line says something else.
std::optional<int> source_line(std::string_view line, std::string_view source) {
    if (!line.starts_with("; ")) return std::nullopt;
    line = line.substr(2, line.find(" (discriminator") - 2);
    size_t colon = line.rfind(':');
    if (colon == std::string_view::npos) return std::nullopt;
    std::optional<int> at = number<int>(line.substr(colon + 1), 10);
    if (!at) return std::nullopt;
    std::string_view file = line.substr(0, colon);
    return file.substr(file.rfind('/') + 1) == source ? *at : 0;
}

// "    1157:      \tvfmadd231ps\tymm0, ymm4, ymm5 # ymm0 = (ymm4 * ymm5) + ymm0". Prefixes have fields of their own:
// "rep\t\tstosq\tqword ptr es:[rdi], rax". Data has its bytes after the colon, and is left out.
std::optional<Instruction> instruction_of(std::string_view line) {
    size_t colon = line.find(':'), tab = line.find('\t');
    if (colon == std::string_view::npos || tab == std::string_view::npos || tab < colon) return std::nullopt;
    std::optional<uint64_t> address = number<uint64_t>(trim(line.substr(0, colon)), 16);
    if (!address || !trim(line.substr(colon + 1, tab - colon - 1)).empty()) return std::nullopt;
    std::string_view text = line.substr(tab + 1);
    for (std::string_view comment : {" # ", " // "}) text = text.substr(0, text.find(comment));
    std::vector<std::string> fields;
    for (const std::string& field : split(text, '\t'))
        if (!trim(field).empty()) fields.emplace_back(trim(field));
    if (fields.empty()) return std::nullopt;
    Instruction instruction;
    instruction.address = *address;
    if (fields.size() > 1) {
        instruction.operands = fields.back();
        fields.pop_back();
    }
    instruction.mnemonic = join(fields, " ");
    return instruction;
}

std::string architecture_of(std::string_view line) {
    auto names = [&](const char* word) { return line.find(word) != std::string_view::npos; };
    return names("aarch64") || names("arm64") ? "aarch64" : names("x86-64") ? "x86_64" : "";
}

}  // namespace

Flow flow_of(const Instruction& instruction) {
    // The architectures have no such name in common that would mean something else in the other.
    std::string_view name = instruction.mnemonic;
    name = name.substr(name.rfind(' ') + 1);
    if (one_of(name, {"call", "bl", "blr"})) return Flow::call;
    if (one_of(name, {"jmp", "b", "br"})) return Flow::jump;
    if (one_of(name, {"ret", "ud2", "int3", "hlt", "udf", "brk"})) return Flow::end;
    bool branch = name.starts_with('j') || name.starts_with("b.") || name.starts_with("loop") ||
                  one_of(name, {"cbz", "cbnz", "tbz", "tbnz"});
    return branch ? Flow::branch : Flow::next;
}

std::optional<uint64_t> target_of(const Instruction& instruction) {
    std::string_view target = target_operand(instruction.operands);
    target = target.substr(0, target.find(' '));
    if (target.starts_with("0x")) target.remove_prefix(2);
    return number<uint64_t>(target, 16);
}

std::string with_target(const Instruction& instruction, std::string_view target) {
    const std::string& operands = instruction.operands;
    return operands.substr(0, operands.size() - target_operand(operands).size()).append(target);
}

bool is_padding(const Instruction& instruction) {
    const std::string& name = instruction.mnemonic;
    return name == "nop" || name.ends_with(" nop");
}

const Loop* Assembly::loop_at(uint64_t address) const {
    const Loop* found = nullptr;
    for (const Loop& loop : loops) {
        const std::vector<Instruction>& all = functions[loop.function].instructions;
        if (address < all[loop.first].address || address > all[loop.last].address) continue;
        if (!found || loop.last - loop.first < found->last - found->first) found = &loop;
    }
    return found;
}

const Function* Assembly::function_at(uint64_t address) const {
    for (const Function& function : functions)
        if (address >= function.instructions.front().address && address <= function.instructions.back().address)
            return &function;
    return nullptr;
}

Assembly parse_disassembly(const std::string& text, const std::string& source) {
    const std::string file = fs::path(source).filename();
    Assembly assembly;
    int at = 0;
    for (const std::string& line : split(text, '\n')) {
        if (assembly.architecture.empty() && line.find("file format ") != std::string::npos)
            assembly.architecture = architecture_of(line);
        if (std::optional<std::string> name = function_name(line)) {
            assembly.functions.push_back({*name, {}});
            at = 0;
        } else if (std::optional<int> number = source_line(line, file)) {
            at = *number;
        } else if (assembly.functions.empty()) {
            continue;
        } else if (std::optional<Instruction> instruction = instruction_of(line)) {
            instruction->line = at;
            assembly.functions.back().instructions.push_back(std::move(*instruction));
        }
    }
    std::erase_if(assembly.functions, [](const Function& function) { return function.instructions.empty(); });
    for (size_t i = 0; i < assembly.functions.size(); ++i)
        for (auto [first, last] : innermost_loops(assembly.functions[i])) assembly.loops.push_back({i, first, last});
    return assembly;
}

std::optional<Assembly> disassemble(const fs::path& library, const std::string& source) {
    for (const char* program : {"llvm-objdump-19", "llvm-objdump"}) {
        sandbox::Command command;
        command.argv = {program,
                        "-d",
                        "-l",
                        "--demangle",
                        "--no-show-raw-insn",
                        "--x86-asm-syntax=intel",
                        fs::absolute(library).string()};
        command.trust = sandbox::Trust::compiler;
        command.readable = {fs::absolute(library).string()};
        command.limits.wall = command.limits.processor = Seconds(read_limit_seconds);
        command.limits.memory_bytes = read_memory_bytes;
        command.limits.output_bytes = text_bytes;
        sandbox::Finished finished = sandbox::run(command);
        if (finished.not_found) continue;
        if (!finished.ok()) return std::nullopt;
        return parse_disassembly(printable(finished.out), source);  // the names are a stranger's
    }
    return std::nullopt;
}

std::string listing_of(const Assembly& assembly, const Loop& loop) {
    const std::vector<Instruction>& all = assembly.functions[loop.function].instructions;
    std::map<uint64_t, std::string> labels;  // of addresses in the loop
    auto transfers = [](const Instruction& one) { return flow_of(one) != Flow::next && target_of(one); };
    for (size_t i = loop.first; i <= loop.last; ++i)
        if (transfers(all[i])) labels[*target_of(all[i])];
    int count = 0;
    std::erase_if(labels, [&](const auto& label) {
        return label.first < all[loop.first].address || label.first > all[loop.last].address;
    });
    for (auto& [address, label] : labels) label = fmt::format("L{}", ++count);
    std::string text;
    for (size_t i = loop.first; i <= loop.last; ++i) {
        auto own = labels.find(all[i].address);
        std::string operands = all[i].operands;
        if (transfers(all[i])) {
            auto label = labels.find(*target_of(all[i]));
            operands =
                with_target(all[i], label != labels.end() ? label->second : target_name(target_operand(operands)));
        }
        text += fmt::format("{:<5}{}{}{}\n", own != labels.end() ? own->second + ":" : "", all[i].mnemonic,
                            operands.empty() ? "" : " ", operands);
    }
    return text;
}

}  // namespace strop
