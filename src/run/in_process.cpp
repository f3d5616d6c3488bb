#include "run/in_process.h"

#include <algorithm>
#include <numeric>

#include <fmt/format.h>

#include "base/error.h"
#include "base/file.h"
#include "base/interrupt.h"
#include "base/strings.h"
#include "core/json.h"
#include "device/machine.h"
#include "language/call_plan.h"
#include "problem/cpp_reference.h"
#include "problem/framework.h"
#include "sandbox/process.h"
#include "stats/paired.h"

namespace strop {

namespace {

constexpr Seconds start_limit{120};  // compiling the result, starting the framework, its own compilations
constexpr const char* ours = "strop";

struct Framework {
    std::string name;
    std::vector<std::string> versions;
    fs::path file;
    std::string function;
};

Framework best_framework(const Problem& problem, const std::vector<std::string>& baselines) {
    auto ran = [&](const std::string& name) {
        return std::find(baselines.begin(), baselines.end(), name) != baselines.end();
    };
    auto of = [&](const std::string& name, const fs::path& file, const std::string& function) {
        Framework framework{name, {name}, file, function};
        if (name == "pytorch" && ran("torch.compile")) framework.versions.push_back("torch.compile");
        return framework;
    };
    for (const char* name : {"pytorch", "jax"})
        for (const fs::path& file : problem.baselines)
            if (file.stem() == name && file.extension() == ".py" && ran(name)) return of(name, file, problem.name);
    if (is_cpp(problem.reference)) return {};
    return of(framework_of(problem.reference), problem.reference, problem.function);  // NumPy's, or PyTorch's
}

// Copied, the code that frameworks compiled before costs nothing again; more than this is not.
constexpr uintmax_t most_compiled_bytes = uintmax_t{1} << 30;

// What frameworks compiled for baselines, as this process's own: a result's kernel runs there, and what it could write
// is nothing that a later baseline would run.
void copy_compiled(const fs::path& from, const fs::path& to) {
    std::error_code failed;
    uintmax_t bytes = 0;
    for (fs::recursive_directory_iterator file(from, failed), end; !failed && file != end; file.increment(failed))
        if (file->is_regular_file(failed)) bytes += file->file_size(failed);
    if (!failed && bytes <= most_compiled_bytes) fs::copy(from, to, fs::copy_options::recursive, failed);
}

Json point_json(const Problem& problem, const ShapePoint& point) {
    Json shapes = Json::array(), limits = Json::array(), asked = Json::object();
    for (const Tensor& tensor : problem.inputs) {
        shapes.push_back(extents(problem, tensor, point.dims));
        limits.push_back(tensor.limit ? Json(tensor.limit->evaluate_integer(bindings_of(problem, point.dims)))
                                      : Json());
    }
    for (const std::string& name : plan_call(problem).asked) asked[name] = point.dims.at(name);
    return {{"label", point.label}, {"shapes", shapes}, {"limits", limits}, {"asked", asked}};
}

Json specification(const Problem& problem, const Framework& framework, const fs::path& folder, uint64_t seed,
                   Seconds limit) {
    Json spec = {{"module", (folder / (problem.name + ".py")).string()},
                 {"name", problem.name},
                 {"framework", framework.name},
                 {"versions", framework.versions},
                 {"file", framework.file.string()},
                 {"function", framework.function},
                 {"inputs", Json::array()},
                 {"parameters", Json::array()},
                 {"points", Json::array()},
                 {"seconds", limit.count()},
                 {"seed", seed}};
    for (const Tensor& tensor : problem.inputs)
        spec["inputs"].push_back(
            {{"dtype", name_of(tensor.dtype)}, {"fill", name_of(tensor.fill)}, {"scale", tensor.scale}});
    for (const Parameter& parameter : problem.parameters)
        spec["parameters"].push_back(
            {{"name", parameter.name}, {"dtype", name_of(parameter.dtype)}, {"value", parameter.value}});
    for (const ShapePoint& point : problem.points) spec["points"].push_back(point_json(problem, point));
    return spec;
}

std::string last_line(const std::string& text) {
    const std::vector<std::string> lines = split(trim(text), '\n');
    return lines.empty() ? "" : lines.back();
}

// As a user's process: no threads bound, no memory kept.
sandbox::Finished run_python(const fs::path& scratch, Seconds limit) {
    sandbox::Command command;
    command.argv = {reference_python(), (home_folder() / "python/strop/in_process.py").string(),
                    (scratch / "spec.json").string()};
    command.environment = {{"PYTHONDONTWRITEBYTECODE", "1"},
                           {"TORCHINDUCTOR_COMPILE_THREADS", "1"},
                           {"TORCHINDUCTOR_CACHE_DIR", (scratch / "inductor").string()},
                           {"JAX_PLATFORMS", "cpu"}};
    command.scratch = scratch.string();
    command.trust = sandbox::Trust::baseline;
    command.limits.wall = limit + start_limit;
    return sandbox::run(command, {}, [] { return interrupted(); });
}

}  // namespace

InProcess in_process_of(const std::string& framework, const std::string& printed) {
    InProcess result;
    result.framework = framework;
    std::vector<stats::Interval> ratios;
    const Json document = Json::parse(printed);
    for (const Json& measured : document.at("points")) {
        InProcessPoint point;
        point.label = measured.at("label");
        std::map<std::string, std::vector<double>> calls, neighbours;
        for (const auto& [name, rounds] : measured.at("samples").items())
            for (const Json& round : rounds) {
                calls[name].push_back(round.at(0));
                neighbours[name].push_back(round.at(1));
            }
        std::vector<size_t> rounds(calls[ours].size());
        std::iota(rounds.begin(), rounds.end(), size_t{0});
        point.nanoseconds = stats::median(calls[ours]);
        for (const auto& [name, samples] : calls) {
            if (name == ours) continue;
            const stats::Interval ratio = stats::paired_ratio(calls[ours], samples, rounds);
            point.baselines[name] = stats::median(samples);
            point.speedups[name] = {ratio.value, ratio.low, ratio.high};
            if (point.best_baseline.empty() || point.baselines[name] < point.baselines[point.best_baseline])
                point.best_baseline = name;
        }
        const Ratio& best = point.speedups.at(point.best_baseline);
        ratios.push_back({best.ratio, best.low, best.high});
        point.neighbour = stats::median(neighbours[ours]) / stats::median(neighbours[point.best_baseline]);
        result.points.push_back(std::move(point));
    }
    const stats::Interval whole = stats::combine(ratios);
    result.headline = {whole.value, whole.low, whole.high};
    return result;
}

InProcess measure_in_process(const Problem& problem, const RunRecord& record, const ResultFiles& files,
                             const std::vector<std::string>& baselines, Seconds limit) {
    const Framework framework = best_framework(problem, baselines);
    InProcess missing{framework.name, "", {}, {}};
    if (framework.name.empty()) {
        missing.missing = "the reference is in C++, and no baseline in Python ran";
        return missing;
    }
    try {
        const TemporaryFolder folder("strop-in-process");
        copy_compiled(cache_folder() / "frameworks", folder.path());
        write_python_result(folder.path(), problem, record, files);
        write_file(folder.path() / "spec.json",
                   dump(specification(problem, framework, folder.path(), record.settings.seed, limit)));
        const sandbox::Finished finished = run_python(folder.path(), limit);
        if (finished.ok()) return in_process_of(framework.name, last_line(finished.out));
        missing.missing = finished.describe();
        if (const std::string said = last_line(finished.err); !said.empty()) missing.missing += ": " + printable(said);
    } catch (const Error& error) {
        missing.missing = error.what();
    } catch (const std::exception& error) {  // what was printed is nothing that in_process.py prints
        missing.missing = error.what();
    }
    check_interrupt();  // what was cut short is not a failure
    return missing;
}

}  // namespace strop
