#include "language/units.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/strings.h"
#include "device/target.h"
#include "language/contract.h"
#include "language/team_text.h"

namespace strop {

namespace {

constexpr const char* unit_line = "// strop:unit ";

const char* const chooser_form = R"text(#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <atomic>

@declarations@
namespace @name@_detail {

using Kernel = decltype(&@first@);

struct Target {
    const char* name;
    bool (*fits)();  // this processor
    Kernel kernel;
};
@native@
// What asks most of a processor comes first.
const Target targets[] = {
@targets@};

const Target* named(const char* name) {
    for (const Target& target : targets)
        if (strcmp(target.name, name) == 0) return target.fits() ? &target : nullptr;
    return nullptr;
}

// That of @name@_TARGET where it is set, else the first that fits; null: there is none.
const Target* target_of_this_processor() {
    __builtin_cpu_init();
    const char* asked = getenv("@name@_TARGET");
    if (asked && *asked) return named(asked);
    for (const Target& target : targets)
        if (target.fits()) return &target;
    return nullptr;
}

std::atomic<const Target*> chosen{nullptr};

const Target* choose() {
    const Target* target = chosen.load(std::memory_order_acquire);
    if (!target && (target = target_of_this_processor())) chosen.store(target, std::memory_order_release);
    return target;
}

// A processor that executes none of them would be stopped by an illegal instruction.
[[noreturn]] void refuse() {
    const char* asked = getenv("@name@_TARGET");
    if (asked && *asked) fprintf(stderr, "@name@: @name@_TARGET=%s is no target that this processor executes\n", asked);
    else fprintf(stderr, "@name@: this processor executes none of its targets (@names@)\n");
    abort();
}

}  // namespace @name@_detail

extern "C" const char* @name@_target(void) {
    const auto* target = @name@_detail::choose();
    return target ? target->name : nullptr;
}

extern "C" int @name@_use_target(const char* target) {
    const auto* found = target ? @name@_detail::named(target) : @name@_detail::target_of_this_processor();
    if (found) @name@_detail::chosen.store(found, std::memory_order_release);
    return found != nullptr;
}

@signature@ {
    const auto* target = @name@_detail::chosen.load(std::memory_order_acquire);
    if (!target && !(target = @name@_detail::choose())) @name@_detail::refuse();
    target->kernel(@arguments@);
}
)text";

const char* const native_form = R"text(
// What this file was compiled for, as the compiler says. The chooser compares it with the processor before anything of
// this file runs.
extern "C" {
extern const char* const @entry@_needs[];
const char* const @entry@_needs[] = {
@features@    nullptr,
};
}
)text";

// Among the chooser's functions.
const char* const native_fits_form = R"text(
// Whether this processor has all that the file was compiled for.
bool native_fits() {
    const struct {
        const char* name;
        bool is_there;
    } features[] = {
@features@    };
    for (const char* const* needed = @entry@_needs; *needed; ++needed)
        for (const auto& feature : features)
            if (strcmp(feature.name, *needed) == 0 && !feature.is_there) return false;
    return true;
}
)text";

// As compilers define it where they may use it, and as both of them ask for it.
const std::vector<std::pair<std::string, std::string>> native_features = {
    {"SSE4_2", "sse4.2"},
    {"SSE4A", "sse4a"},
    {"POPCNT", "popcnt"},
    {"LZCNT", "lzcnt"},
    {"MOVBE", "movbe"},
    {"F16C", "f16c"},
    {"AVX", "avx"},
    {"AVX2", "avx2"},
    {"FMA", "fma"},
    {"BMI", "bmi"},
    {"BMI2", "bmi2"},
    {"AVX512F", "avx512f"},
    {"AVX512VL", "avx512vl"},
    {"AVX512BW", "avx512bw"},
    {"AVX512DQ", "avx512dq"},
    {"AVX512CD", "avx512cd"},
    {"AVX512IFMA", "avx512ifma"},
    {"AVX512VBMI", "avx512vbmi"},
    {"AVX512VBMI2", "avx512vbmi2"},
    {"AVX512VNNI", "avx512vnni"},
    {"AVX512BITALG", "avx512bitalg"},
    {"AVX512VPOPCNTDQ", "avx512vpopcntdq"},
    {"AVX512VP2INTERSECT", "avx512vp2intersect"},
    {"AVX512BF16", "avx512bf16"},
    {"AVX512FP16", "avx512fp16"},
    {"AVXVNNI", "avxvnni"},
    {"GFNI", "gfni"},
    {"VAES", "vaes"},
    {"VPCLMULQDQ", "vpclmulqdq"},
};

std::string filled(std::string text, const std::vector<std::pair<std::string, std::string>>& values) {
    for (const auto& [key, value] : values) text = replace_all(std::move(text), "@" + key + "@", value);
    return text;
}

// The function under another name, its lines aligned.
std::string signature_as(Problem problem, const std::string& name) {
    problem.name = name;
    return signature(problem);
}

std::string fits_text(const std::string& target) {
    const Target* known = find_target(target);
    if (!known || known->level.empty()) return "native_fits";
    return fmt::format("[] {{ return __builtin_cpu_supports(\"{}\") != 0; }}", known->level);
}

std::string native_fits(const std::string& entry) {
    std::string features;
    for (const auto& [macro, name] : native_features)
        features += fmt::format("        {{\"{0}\", __builtin_cpu_supports(\"{0}\") != 0}},\n", name);
    return filled(native_fits_form, {{"features", features}, {"entry", entry}});
}

size_t rank_of(const std::string& target) {
    const std::vector<std::string> names = target_names();
    return static_cast<size_t>(std::find(names.begin(), names.end(), target) - names.begin());
}

// Hands the executor on to all of them.
std::string team_text_of(const Problem& problem, const std::vector<std::string>& targets) {
    const char* type =
        "void (*run)(void* context, int threads, void (*body)(void* job, int thread, int threads), void* job),\n"
        "    void* context, int threads";
    std::string text = "\n", calls;
    for (const std::string& target : targets) {
        const std::string function = unit_entry(problem.name, target) + "_set_parallel";
        text += fmt::format("extern \"C\" void {}(\n    {});\n", function, type);
        calls += fmt::format("    {}(run, context, threads);\n", function);
    }
    return text + fmt::format("extern \"C\" void {}_set_parallel(\n    {}) {{\n{}}}\n", problem.name, type, calls);
}

}  // namespace

std::string unit_entry(const std::string& problem, const std::string& target) {
    return problem + "_" + replace_all(target, "-", "_");
}

std::string target_variable(const std::string& problem) { return problem + "_TARGET"; }

std::string one_text(const Units& units) {
    std::string text = units.chooser;
    for (const Unit& unit : units.units) {
        std::vector<std::string> words = unit.flags;
        words.insert(words.begin(), unit.target);
        text += unit_line + join(words, " ") + "\n" + unit.source;
    }
    return text;
}

Units units_of(const std::string& text) {
    Units units;
    if (text.find(unit_line) == std::string::npos) return {text, {}};
    std::string* part = &units.chooser;
    for (const std::string& line : split(text, '\n')) {
        if (line.starts_with(unit_line)) {
            std::vector<std::string> words = split(line.substr(std::string(unit_line).size()), ' ');
            units.units.push_back({words.front(), {words.begin() + 1, words.end()}, ""});
            part = &units.units.back().source;
        } else {
            *part += line + "\n";
        }
    }
    return units;
}

std::string chooser_source(const Problem& problem, const std::vector<Unit>& units, const std::string& header) {
    std::vector<std::string> names, with_team;
    for (const Unit& unit : units) {
        names.push_back(unit.target);
        if (has_team(unit.source)) with_team.push_back(unit.target);
    }
    std::sort(names.begin(), names.end(),
              [](const std::string& a, const std::string& b) { return rank_of(a) > rank_of(b); });
    std::string declarations, native, targets, text;
    for (const std::string& name : names) {
        const std::string entry = unit_entry(problem.name, name);
        declarations += signature_as(problem, entry) + ";\n";
        if (name == native_target) {
            declarations += fmt::format("extern \"C\" const char* const {}_needs[];\n", entry);
            native = native_fits(entry);
        }
        targets += fmt::format("    {{\"{}\", {}, {}}},\n", name, fits_text(name), entry);
    }
    for (const std::string& line : split(header, '\n')) text += line.empty() ? "" : "// " + line + "\n";
    text += (text.empty() ? "" : "\n") + filled(chooser_form, {{"declarations", declarations},
                                                               {"native", native},
                                                               {"targets", targets},
                                                               {"first", unit_entry(problem.name, names.front())},
                                                               {"names", join(names, ", ")},
                                                               {"signature", signature(problem)},
                                                               {"arguments", argument_list(problem)},
                                                               {"name", problem.name}});
    return with_team.empty() ? text : text + team_text_of(problem, with_team);
}

std::string chooser_declarations(const std::string& problem, const std::vector<std::string>& targets) {
    return filled(R"text(
// The library holds @name@ for several instruction sets (@targets@) and takes the one that asks most of
// the processor it runs on. The environment variable @name@_TARGET names another, at the first call. Where the
// processor executes none of them, or not that one, @name@ says so on standard error and aborts; @name@_target
// tells before.
const char* @name@_target(void);             // in use; null: none that this processor executes
int @name@_use_target(const char* target);   // 1: used from now on; 0: it cannot be. Null: what would be chosen anyway
)text",
                  {{"targets", join(targets, ", ")}, {"name", problem}});
}

std::string native_needs(const std::string& problem) {
    std::string features;
    for (const auto& [macro, name] : native_features)
        features += fmt::format("#ifdef __{}__\n    \"{}\",\n#endif\n", macro, name);
    return filled(native_form, {{"features", features}, {"entry", unit_entry(problem, native_target)}});
}

}  // namespace strop
