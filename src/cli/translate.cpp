// strop translate: the strategy of a kernel in another language, from the playbook's schedules and emitters.
#include <algorithm>
#include <random>
#include <regex>
#include <set>

#include <fmt/format.h>

#include "base/citation.h"
#include "base/error.h"
#include "base/file.h"
#include "base/interrupt.h"
#include "base/strings.h"
#include "cli/commands.h"
#include "cli/emulated.h"
#include "cli/finish.h"
#include "cli/kernel_file.h"
#include "cli/problem_argument.h"
#include "cli/report_file.h"
#include "cli/sources.h"
#include "cli/store_access.h"
#include "core/json.h"
#include "device/machine.h"
#include "device/opencl.h"
#include "language/contract.h"
#include "language/cuda_source.h"
#include "language/opencl_host.h"
#include "playbook/counterpart.h"
#include "problem/trace.h"
#include "run/held_out.h"
#include "run/judgement.h"
#include "run/verification.h"
#include "search/dispatch.h"

namespace strop::cli {

namespace {

constexpr size_t drawn_shapes = 64, most_of_range = 4;  // where the sweep has none

struct Original {
    Kernel kernel;
    Configuration configuration;
};

struct Translation {
    Original original;
    std::string refused;              // why there is none
    std::string strategy, source;     // in the other language
    std::string condition;            // where it may be called; empty: everywhere
    Configuration kept;               // tunables that both have, with the original's values as defaults of the source
    std::vector<std::string> cannot;  // what the other language does not express
    std::string not_judged;           // why not
    bool beside_the_sweep = false;    // judged at shapes of the range: its condition holds at none of the sweep
    std::optional<Judgement> judgement;
    std::optional<Ratio> over_original;  // paired, geometric mean over shapes; above 1: the translation is faster
    bool holds() const { return refused.empty() && (!judgement || judgement->evaluation.ok()); }
};

// What a tunable's declaration, its default in a Python module and the condition, which `strop write` says in its own
// words, leave of a source.
std::string without_values(const std::string& source) {
    static const std::regex declared("^(//|#) (for|strop:(tune|late|flags|compiler|when)) .*$"),
        module_value("^[A-Z][A-Z_]* = [A-Za-z0-9_.]+$");
    std::string text;
    for (const std::string& line : split(source, '\n'))
        if (!std::regex_match(line, declared) && !std::regex_match(line, module_value)) text += line + "\n";
    return text;
}

TunableSpace space_of(Language language, const std::string& source, const Problem& problem, const std::string& file) {
    if (language == Language::opencl)
        return parse_tunables(opencl_host(problem, read_opencl(source, problem, file)), file);
    return parse_tunables(replace_all(source, "# strop:", "// strop:"), file);  // Python's comments as the others'
}

// The kernel of the playbook that the file holds. UsageError where it is none.
Original original_of_file(const std::string& given, const Problem& problem, const std::string& graph) {
    const std::string ending = fs::path(given).extension();
    bool readable = false;
    for (Language language : {Language::cpp, Language::opencl, Language::cuda, Language::triton, Language::tilelang}) {
        if (file_ending(language) != ending) continue;
        readable = true;
        check_source_size(fs::file_size(given), given);
        const std::string source = read_file(given);
        for (const Written& one : sources_in(language, problem, graph).written) {
            if (without_values(one.source) != without_values(source)) continue;
            Kernel kernel;
            kernel.id = kernel.strategy = one.id;
            kernel.language = language;
            kernel.author = "playbook";
            kernel.condition = one.condition;
            kernel.source =
                language == Language::opencl ? opencl_host(problem, read_opencl(source, problem, given)) : source;
            kernel.space = space_of(language, source, problem, given);
            return {kernel, default_configuration(kernel.space)};
        }
    }
    if (readable)
        throw UsageError(
            fmt::format("{}: is no kernel of the playbook for {}, so its strategy is not known", given, problem.name),
            "give a result folder, or a file of `strop write` whose tunables alone were changed");
    throw UsageError(fmt::format("{}: is in no language that strategies are written in", given),
                     "give a .cpp, .cl, .cu or .py file of `strop write`");
}

// A kernel once, whatever the number of its regimes.
std::vector<Original> originals_of_run(const RunRecord& record) {
    std::vector<Original> originals;
    std::set<std::string> known;
    for (const Regime& regime : record.regimes)
        for (const Kernel& kernel : record.kernels)
            if (kernel.id == regime.kernel && known.insert(kernel.id).second)
                originals.push_back({kernel, regime.configuration});
    if (originals.empty())
        throw UsageError(fmt::format("{}: has no winner to translate", record.run), "`strop list` shows results");
    return originals;
}

struct Given {
    Problem problem;
    std::string graph;
    std::vector<Original> originals;
};

RunRecord record_of(const std::string& given, const Arguments& arguments) {
    std::error_code failed;
    if (fs::exists(given, failed)) return read_report_file(given).record;
    if (const std::unique_ptr<Store> store = existing_store(arguments))
        if (std::optional<RunRecord> record = store->load_run(given)) return *record;
    throw UsageError(fmt::format("{}: there is no such result, run or kernel", given),
                     "give a folder in strop-out, a run that `strop runs` lists, or a file of `strop write`");
}

Given read_given(const Arguments& arguments) {
    const std::string given = arguments.text("KERNEL"), folder = arguments.text("--problem");
    std::error_code failed;
    if (fs::is_regular_file(given, failed) && fs::path(given).extension() != ".json") {
        Given result{problem_of_kernel(arguments), {}, {}};
        result.graph = trace_reference(result.problem);
        result.originals = {original_of_file(given, result.problem, result.graph)};
        return result;
    }
    const RunRecord record = record_of(given, arguments);
    if (folder.empty() && !fs::exists(record.problem_folder, failed))
        throw UsageError(fmt::format("{}: its problem's folder is gone: {}", given, record.problem_folder),
                         "name the problem with --problem DIR");
    Given result{problem_argument(folder.empty() ? record.problem_folder : folder), {}, originals_of_run(record)};
    if (result.problem.name != record.problem)
        throw UsageError(fmt::format("{}: is a result of {}, not of {}", given, record.problem, result.problem.name),
                         "name its problem with --problem DIR");
    result.graph = trace_reference(result.problem);
    return result;
}

// The source with this value as the tunable's default: first of its list, and what a Python module begins with.
std::string with_default(const std::string& source, const Tunable& tunable, const Value& value) {
    std::vector<std::string> values = {to_string(value)};
    for (const Value& other : tunable.values)
        if (other != value) values.push_back(to_string(other));
    const std::string declared =
        fmt::format(" strop:{} {} = ", tunable.kind == Tunable::Kind::late ? "late" : "tune", tunable.name);
    const std::string module_value = tunable.name + " = ";
    std::vector<std::string> lines = split(source, '\n');
    for (std::string& line : lines)
        if (const size_t at = line.find(declared); at != std::string::npos && at <= 2)
            line = line.substr(0, at + declared.size()) + join(values, " | ");
        else if (line.starts_with(module_value)) line = module_value + values[0];
    return join(lines, "\n");
}

bool is_value(const Tunable& tunable) {
    return tunable.kind == Tunable::Kind::constant || tunable.kind == Tunable::Kind::late;
}

// Those of C++ turn other things than those of schedules, also where they have one name.
void keep_tunables(Translation& translation, Language to, const Problem& problem) {
    const TunableSpace space = space_of(to, translation.source, problem, translation.strategy);
    const bool comparable = to != Language::cpp && translation.original.kernel.language != Language::cpp;
    Configuration lost;
    for (const auto& [name, value] : translation.original.configuration) {
        const auto same =
            std::find_if(space.tunables.begin(), space.tunables.end(),
                         [&, &key = name](const Tunable& one) { return one.name == key && is_value(one); });
        const bool possible = comparable && same != space.tunables.end() &&
                              std::find(same->values.begin(), same->values.end(), value) != same->values.end();
        std::map<std::string, std::string> texts = {{name, to_string(value)}};
        for (const auto& [key, kept] : translation.kept) texts[key] = to_string(kept);
        try {
            if (!possible) throw UsageError(name);
            chosen_configuration(space, texts);  // the constraints allow them together
            translation.kept[name] = value;
            translation.source = with_default(translation.source, *same, value);
        } catch (const UsageError&) {
            lost[name] = value;
        }
    }
    if (!lost.empty()) translation.cannot.push_back("the tunables " + describe(lost));
}

Translation translate(const Original& original, Language to, const Sources& sources, const Problem& problem) {
    Translation translation;
    translation.original = original;
    const Kernel& kernel = original.kernel;
    if (kernel.author != "playbook") {
        translation.refused =
            fmt::format("it is by {}, and only strategies of the playbook are known in other languages", kernel.author);
        return translation;
    }
    std::set<std::string> available;
    for (const Written& one : sources.written) available.insert(one.id);
    const playbook::Counterpart found = playbook::counterpart(kernel.strategy, kernel.language, to, available);
    translation.refused = found.refused;
    if (sources.written.empty() && kernel.language != to) translation.refused = sources.lacks;
    if (const auto lacking = sources.lacking.find(kernel.strategy); lacking != sources.lacking.end())
        translation.refused = fmt::format("{} lacks {}", name_of(to), lacking->second);
    if (!translation.refused.empty()) return translation;
    for (const Written& one : sources.written) {
        if (one.id != found.strategy) continue;
        translation.strategy = one.id;
        translation.source = one.source;
        translation.cannot = found.cannot;
        if (!one.condition) continue;
        translation.condition = one.condition->text();
        translation.source = with_condition(translation.source, translation.condition);
    }
    keep_tunables(translation, to, problem);
    return translation;
}

// Why kernels in that language cannot be judged or checked; empty: they can.
std::string why_not_judged(Language language) {
    std::string why;
    switch (language) {
        case Language::opencl: return opencl_devices(why).empty() ? "no device: " + why : "";
        case Language::triton:
            if (interpreter(reference_python()).packages.contains("triton")) return {};
            return "Triton is not installed, whose interpreter would check it (pip install triton)";
        case Language::tilelang: return "no device: kernels in tilelang run on GPUs, and nothing here judges them";
        case Language::cpp:
        case Language::cuda:
        case Language::python: break;
    }
    return {};
}

Kernel judged_kernel(const Translation& translation, Language to, const Problem& problem) {
    Kernel kernel;
    kernel.id = kernel.strategy = translation.strategy;
    kernel.author = "playbook";
    kernel.language = to;
    const std::string file = translation.strategy + file_ending(to);
    kernel.source = translation.source;
    if (to == Language::opencl) kernel.source = opencl_host(problem, read_opencl(kernel.source, problem, file));
    kernel.space = parse_tunables(kernel.source, translation.strategy);
    if (to == Language::cuda) kernel.source = emulated_cuda(kernel.source, file);
    if (to == Language::triton) kernel.language = Language::python;
    kernel.initial = default_configuration(kernel.space);
    if (!translation.condition.empty()) kernel.condition = Expression::parse(translation.condition);
    return kernel;
}

// The problem with the shapes at which all of them may be called.
Problem callable_part(Problem problem, const std::vector<const Kernel*>& kernels) {
    std::erase_if(problem.points, [&](const ShapePoint& point) {
        return std::any_of(kernels.begin(), kernels.end(), [&](const Kernel* kernel) {
            return !may_be_called(*kernel, bindings_of(problem, point.dims));
        });
    });
    return problem;
}

// The same of shapes that the range allows beside the sweep.
Problem callable_part_of_range(Problem problem, const Kernel& kernel, uint64_t seed) {
    problem.points = search::held_out_shapes(problem, drawn_shapes, probe_bytes, seed, problem.points);
    problem = callable_part(std::move(problem), {&kernel});
    if (problem.points.size() > most_of_range) problem.points.resize(most_of_range);
    return problem;
}

std::optional<Ratio> against_original(judge::WorkerClient& worker, const Problem& problem, const Kernel& kernel,
                                      const Original& original, Seconds per_shape) {
    ComparisonRequest request;
    request.contenders = {{"translation", "", kernel, kernel.initial},
                          {"original", "", original.kernel, original.configuration}};
    request.points = callable_part(problem, {&kernel, &original.kernel}).points;
    if (request.points.empty()) return {};
    request.seconds_per_point = per_shape.count();
    return speedup_over_best(worker.compare(request));  // the original is the only one beside it
}

void judge_all(std::vector<Translation>& translations, Language to, const Problem& given, const Arguments& arguments) {
    const std::string why = arguments.has("--no-judge") ? "as asked" : why_not_judged(to);
    const bool any = std::any_of(translations.begin(), translations.end(),
                                 [](const Translation& one) { return one.refused.empty(); });
    for (Translation& one : translations) one.not_judged = why;
    if (!why.empty() || !any) return;
    install_interrupt_handler();
    judge::WorkerClient worker = started(worker_of(arguments));
    const Problem problem = worker.open(given, {}, std::random_device{}());
    const Seconds per_shape = arguments.duration("--per-shape");
    for (Translation& one : translations) {
        if (!one.refused.empty()) continue;
        const Kernel kernel = judged_kernel(one, to, problem);
        const uint64_t seed = std::random_device{}();
        Problem part = callable_part(problem, {&kernel});
        one.beside_the_sweep = part.points.empty();
        if (one.beside_the_sweep) part = callable_part_of_range(problem, kernel, seed);
        if (part.points.empty()) {
            one.not_judged =
                fmt::format("its condition holds at no shape of the sweep or the range: {}", one.condition);
            continue;
        }
        const auto same = std::find_if(translations.begin(), translations.end(), [&](const Translation& other) {
            return other.judgement && other.source == one.source;
        });
        if (same != translations.end()) one.judgement = same->judgement;
        else if (stand_in_for(to).empty())
            one.judgement = judge_kernel(worker, part, kernel, kernel.initial, {seed, true, per_shape, false});
        else one.judgement = emulate_kernel(worker, part, kernel, kernel.initial, seed);
        one.judgement->evaluation.evidence =
            with_file_name(one.judgement->evaluation.evidence, one.strategy + file_ending(to));
        const Language from = one.original.kernel.language;
        if (one.judgement->evaluation.ok() && stand_in_for(to).empty() && stand_in_for(from).empty() &&
            why_not_judged(from).empty())
            one.over_original = against_original(worker, problem, kernel, one.original, per_shape);
    }
}

Json json_of(const Translation& one, Language to) {
    Json json = {
        {"kernel", one.original.kernel.id}, {"language", name_of(one.original.kernel.language)}, {"refused", nullptr}};
    if (!one.refused.empty()) json["refused"] = one.refused;
    if (!one.refused.empty()) return json;
    json.update({{"strategy", one.strategy},
                 {"source", one.source},
                 {"condition", one.condition.empty() ? Json() : Json(one.condition)},
                 {"kept", configuration_to_json(one.kept)},
                 {"cannot", one.cannot},
                 {"not_judged", one.not_judged.empty() ? Json() : Json(one.not_judged)},
                 {"verdict", nullptr},
                 {"over_original", one.over_original ? Json(*one.over_original) : Json()}});
    if (!one.judgement) return json;
    json["verdict"] = name_of(one.judgement->evaluation.verdict);
    json["evidence"] = one.judgement->evaluation.evidence;
    json["beside_the_sweep"] = one.beside_the_sweep;
    json["checked_in"] = stand_in_for(to).empty() ? Json() : Json(stand_in_for(to));
    json["speedup"] = one.judgement->speedup ? Json(*one.judgement->speedup) : Json();
    return json;
}

void print_text(const Translation& one, Language to) {
    fmt::print("{} ({}) -> ", one.original.kernel.id, name_of(one.original.kernel.language));
    if (!one.refused.empty()) {
        fmt::print("refused: {}\n", one.refused);
        return;
    }
    fmt::print("{} ({})\n", one.strategy, name_of(to));
    fmt::print("  kept: the strategy{}\n", one.kept.empty() ? "" : ", " + describe(one.kept));
    if (!one.condition.empty()) fmt::print("  may be called for {}\n", one.condition);
    for (const std::string& phrase : one.cannot) fmt::print("  not expressed: {}\n", phrase);
    if (!one.judgement) {
        fmt::print("  not judged: {}\n", one.not_judged);
        return;
    }
    const Judgement& judgement = *one.judgement;
    const std::string stand_in = stand_in_for(to);
    if (one.beside_the_sweep)
        fmt::print("  judged at {} of the range: it may be called at none of the sweep\n",
                   counted(judgement.evaluation.points.size(), "shape"));
    fmt::print("  verdict: {}{}\n", name_of(judgement.evaluation.verdict),
               stand_in.empty() ? ""
                                : fmt::format(", in {} at {}: checked, not timed", stand_in,
                                              counted(judgement.evaluation.points.size(), "shape")));
    if (!judgement.evaluation.evidence.empty()) fmt::print("{}\n", cited(judgement.evaluation.evidence));
    if (judgement.speedup) fmt::print("  {} of the best baselines' speed\n", ratio_text(*judgement.speedup));
    if (one.over_original) fmt::print("  {} of the original's speed\n", ratio_text(*one.over_original));
}

// Two kernels may become one strategy; where their sources differ the original's name tells them apart.
void write_files(const std::vector<Translation>& translations, Language to, const fs::path& folder) {
    std::map<std::string, std::string> written;  // source, by name
    for (const Translation& one : translations) {
        if (!one.refused.empty()) continue;
        std::string name = one.strategy;
        if (written.contains(name) && written[name] != one.source) name += "_of_" + one.original.kernel.id;
        if (written.emplace(name, one.source).second) write_file(folder / (name + file_ending(to)), one.source);
    }
}

}  // namespace

int command_translate(const Arguments& arguments) {
    if (!arguments.has("--to"))
        throw UsageError("`strop translate` needs --to LANGUAGE", "choose from cpp, opencl, cuda, triton, tilelang");
    const Language to = written_language(arguments.text("--to"));
    const Given given = read_given(arguments);
    const Sources sources = sources_in(to, given.problem, given.graph);
    std::vector<Translation> translations;
    for (const Original& original : given.originals)
        translations.push_back(translate(original, to, sources, given.problem));
    const std::string out = arguments.text("--out");
    if (!out.empty()) write_files(translations, to, out);
    judge_all(translations, to, given.problem, arguments);
    Json document = Json::array();
    for (const Translation& one : translations) document.push_back(json_of(one, to));
    if (arguments.has("--json"))
        fmt::print("{}\n", dump({{"problem", given.problem.name}, {"to", name_of(to)}, {"kernels", document}}, 2));
    else
        for (const Translation& one : translations) print_text(one, to);
    const bool all =
        std::all_of(translations.begin(), translations.end(), [](const Translation& one) { return one.holds(); });
    return all ? 0 : static_cast<int>(Exit::no_improvement);
}

}  // namespace strop::cli
