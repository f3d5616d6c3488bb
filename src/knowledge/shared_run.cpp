#include "knowledge/shared_run.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "base/error.h"
#include "base/line.h"
#include "base/strings.h"
#include "core/json.h"
#include "core/least_time.h"
#include "knowledge/json_lines.h"

namespace strop {

namespace {

constexpr const char* format_name = "strop-run";
constexpr int schema = 1;
constexpr int expanded_levels = 3;  // an entry of the history is one line
constexpr size_t longest_name = 160;
constexpr double traffic_allowance = 2, arithmetic_allowance = 4;
// More than any processor has; a claim of more is none.
constexpr double most_flops_of_a_core = 1e12, most_bytes_of_a_core = 2e12;

Json testimonies_to_json(const std::vector<Testimony>& testimonies) {
    Json json = Json::array();
    for (const Testimony& one : testimonies)
        json.push_back({{"lesson", one.lesson}, {"kind", name_of(one.kind)}, {"note", one.note}});
    return json;
}

std::vector<Testimony> testimonies_from(const Json& json, const std::string& run) {
    std::vector<Testimony> testimonies = json.get<std::vector<Testimony>>();
    for (Testimony& one : testimonies) one.run = run;  // of no other
    return testimonies;
}

// Also a file's name.
bool may_be_a_run(const std::string& name) {
    return !name.empty() && name.size() <= longest_name && name[0] != '.' && name[0] != '-' &&
           std::all_of(name.begin(), name.end(), [](unsigned char letter) {
               return std::isalnum(letter) || letter == '.' || letter == '_' || letter == '-';
           });
}

void strip(RunRecord& record) {
    RunSettings& settings = record.settings;
    record.problem_folder = record.result = record.origin = "";
    if (!settings.knowledge.empty()) record.note = replace_all(record.note, " (" + settings.knowledge + ")", "");
    settings.out = settings.base_url = settings.key_file = settings.prices = settings.worker = settings.knowledge = "";
    settings.analysis_advice = "";
    settings.kernels.clear();
    settings.other_workers.clear();
    record.workers.clear();
    record.model_losses.clear();
}

bool is_time(double nanoseconds) { return std::isfinite(nanoseconds) && nanoseconds > 0; }

std::string ceilings_claim(const Machine& machine) {
    const Ceilings& ceilings = machine.ceilings;
    const double cores = std::clamp(machine.cores, 1, 4096);
    const double rates[] = {ceilings.memory_read, ceilings.memory_copy, ceilings.memory_copy_one_core};
    bool possible = ceilings.fma_flops_all_cores <= cores * most_flops_of_a_core &&
                    ceilings.fma_flops_one_core <= most_flops_of_a_core;
    for (double rate : rates) possible = possible && rate <= cores * most_bytes_of_a_core;
    for (const CacheLevel& cache : machine.caches)
        possible = possible && cache.read_bytes_per_second <= cores * most_bytes_of_a_core;
    return possible ? "" : "its machine's ceilings are beyond any processor";
}

// The least time that may be claimed at a shape.
double floor_of(Machine machine, const ShapeReport& shape) {
    Ceilings& ceilings = machine.ceilings;
    ceilings.memory_read = ceilings.memory_copy = std::max(ceilings.memory_read, ceilings.memory_copy);
    const LeastTime least = least_time(machine, {shape.bytes, 0, shape.flops});
    return std::max(least.traffic_ns / traffic_allowance, least.compute_ns / arithmetic_allowance);
}

std::string time_claim(const std::string& who, const std::string& label, double nanoseconds, double least) {
    if (!is_time(nanoseconds)) return fmt::format("{} takes no possible time at {}", who, label);
    if (nanoseconds >= least) return {};
    return fmt::format("{} takes {} at {}, and the machine's ceilings allow no less than {}", who,
                       human_nanoseconds(nanoseconds), label, human_nanoseconds(least));
}

}  // namespace

std::string to_text(SharedRun run) {
    strip(run.record);
    Json json = {{"format", format_name},
                 {"schema", schema},
                 {"run", run.record},
                 {"signature", {{"exact", run.signature.exact}, {"operations", run.signature.operations}}},
                 {"testimonies", testimonies_to_json(run.testimonies)}};
    return in_lines(json, expanded_levels);
}

SharedRun shared_run_from(const std::string& text) {
    const Json json = read_document(text, format_name, schema, {"run", "signature", "testimonies"});
    try {
        SharedRun run;
        run.record = json.at("run").get<RunRecord>();
        if (!may_be_a_run(run.record.run))
            throw UsageError(fmt::format("'{}' cannot be the name of a run", one_line(run.record.run)),
                             "names have letters, digits and . _ -");
        if (!run.record.is_finished())
            throw UsageError("the run did not come to its end", "`strop knowledge export` writes finished runs only");
        const Json& signature = json.at("signature");
        run.signature.exact = signature.at("exact").get<std::string>();
        run.signature.operations = signature.at("operations").get<std::map<std::string, int>>();
        run.testimonies = testimonies_from(json.at("testimonies"), run.record.run);
        return run;
    } catch (const Json::exception& error) {
        throw UsageError(fmt::format("is no run: {}", one_line(error.what())), whole_file_hint);
    }
}

std::string impossible_claim(const RunRecord& record, const std::vector<Ceilings>& known) {
    if (record.settings.device != "cpu") return {};  // its ceilings are not the processor's
    if (std::string claim = ceilings_claim(record.machine); !claim.empty()) return claim;
    std::map<std::string, double> least;
    for (const ShapeReport& shape : record.shapes) {
        if (!(shape.bytes > 0) && record.verified) return fmt::format("no bytes move at {}", shape.label);
        double floor = floor_of(record.machine, shape);
        Machine machine = record.machine;
        for (const Ceilings& ceilings : known) {
            machine.ceilings = ceilings;
            floor = std::max(floor, floor_of(machine, shape));
        }
        least[shape.label] = floor;
        if (!record.verified) continue;
        if (std::string claim = time_claim("the result", shape.label, shape.nanoseconds, floor); !claim.empty())
            return claim;
    }
    for (const HistoryEntry& entry : record.history)
        for (const auto& [label, nanoseconds] : entry.nanoseconds) {
            auto floor = least.find(label);
            if (std::string claim =
                    time_claim(entry.kernel, label, nanoseconds, floor == least.end() ? 0 : floor->second);
                !claim.empty())
                return claim;
        }
    return {};
}

}  // namespace strop
