#include "report/facts.h"

#include <algorithm>
#include <cmath>
#include <map>

#include <fmt/format.h>

#include "base/strings.h"
#include "report/format.h"
#include "stats/sample.h"

namespace strop::report {

namespace {

constexpr double told_overrun = 1.1;  // of a budget

// The baselines that are best at some shape, with the number of shapes, most first.
std::vector<std::pair<std::string, int>> rivals(const RunRecord& record) {
    std::map<std::string, int> wins;
    for (const ShapeReport& shape : record.shapes)
        if (!shape.best_baseline.empty()) ++wins[shape.best_baseline];
    std::vector<std::pair<std::string, int>> sorted(wins.begin(), wins.end());
    std::stable_sort(sorted.begin(), sorted.end(), [](const auto& a, const auto& b) { return a.second > b.second; });
    return sorted;
}

// Who is compared with in the headline: one name, when it is the best one everywhere.
std::string rival_name(const RunRecord& record) {
    std::vector<std::pair<std::string, int>> best = rivals(record);
    return best.size() == 1 ? best[0].first : "the best baseline";
}

// "onednn stays ahead at ragged (0.93×)" for each baseline that does.
std::vector<std::string> lost_shapes(const RunRecord& record) {
    std::map<std::string, std::vector<std::string>> by_baseline;
    for (const ShapeReport& shape : record.shapes)
        if (!shape.best_baseline.empty() && standing(shape.speedup) == Standing::behind)
            by_baseline[shape.best_baseline].push_back(
                fmt::format("{} ({})", shape.label, ratio_text(shape.speedup.ratio)));
    std::vector<std::string> lines;
    for (const auto& [baseline, shapes] : by_baseline)
        lines.push_back(fmt::format("{} stays ahead at {}", baseline, join(shapes, ", ")));
    return lines;
}

// "onednn stays ahead", "onednn and pytorch stay ahead"
std::string who_stays_ahead(const RunRecord& record) {
    std::vector<std::pair<std::string, int>> best = rivals(record);
    if (best.size() == 2) return fmt::format("{} and {} stay ahead", best[0].first, best[1].first);
    return rival_name(record) + " stays ahead";
}

// "; onednn stays ahead at 2 of 12 shapes"
std::string where_behind(const RunRecord& record) {
    std::map<std::string, int> lost;
    for (const ShapeReport& shape : record.shapes)
        if (!shape.best_baseline.empty() && standing(shape.speedup) == Standing::behind) ++lost[shape.best_baseline];
    std::vector<std::string> parts;
    for (const auto& [baseline, count] : lost)
        parts.push_back(fmt::format("{} stays ahead at {} of {} shapes", baseline, count, record.shapes.size()));
    return parts.empty() ? "" : "; " + join(parts, ", ");
}

// Whether the headline alone would not be the whole truth.
bool names_both(const RunRecord& record) {
    const InProcess& inside = record.in_process;
    return inside.measured() && (differs_in_process(record) || standing(inside.headline) != standing(record.headline));
}

// An interval that is wider than this, high over low, says no more than where it begins: a loud machine, or few
// samples.
constexpr double widest_told = 4;

std::string measured_headline(const RunRecord& record) {
    const bool both = names_both(record);
    const std::string beside = both ? "; " + in_process_text(record) : "";
    std::string ratio = ratio_text(record.headline.ratio);
    std::string interval = fmt::format("95% interval {}", interval_text(record.headline));
    std::string rival = rival_name(record);
    switch (standing(record.headline)) {
        case Standing::ahead:
            if (record.headline.high > widest_told * record.headline.low) {
                ratio = "at least " + ratio_text(record.headline.low);
                interval += ", too wide to say more";
            }
            return fmt::format("{} faster than {}{} ({}){}{}", ratio, rival, both ? " alone" : "", interval,
                               where_behind(record), beside);
        case Standing::behind: return fmt::format("{}: {} ({})", who_stays_ahead(record), ratio, interval);
        case Standing::even: break;
    }
    return fmt::format("no difference to {} that can be told: {} ({})", rival, ratio, interval);
}

std::string why_missing(const MissingBaseline& missing) {
    if (missing.how.starts_with("failed: ")) return "it " + missing.how;
    return "it is not installed" + (missing.how.empty() ? "" : fmt::format(" ({})", missing.how));
}

}  // namespace

Standing standing(const Ratio& ratio) {
    if (ratio.low > 1) return Standing::ahead;
    return ratio.high < 1 ? Standing::behind : Standing::even;
}

const Ratio* speedup_over(const ShapeReport& shape, const std::string& baseline) {
    auto found = shape.speedups.find(baseline);
    return found == shape.speedups.end() ? nullptr : &found->second;
}

std::vector<std::string> baseline_names(const RunRecord& record) {
    std::map<std::string, std::vector<double>> ratios;
    for (const ShapeReport& shape : record.shapes) {
        for (const auto& [name, nanoseconds] : shape.baselines) ratios[name];
        for (const auto& [name, ratio] : shape.speedups)
            if (ratio.ratio > 0 && std::isfinite(ratio.ratio)) ratios[name].push_back(ratio.ratio);
    }
    std::vector<std::pair<double, std::string>> sorted;
    for (const auto& [name, values] : ratios)
        sorted.emplace_back(values.empty() ? INFINITY : stats::geometric_mean(values), name);
    std::sort(sorted.begin(), sorted.end());
    std::vector<std::string> names;
    for (const auto& [mean, name] : sorted) names.push_back(name);
    return names;
}

std::string headline(const RunRecord& record) {
    bool compared = !rivals(record).empty();
    switch (record.outcome) {
        case Outcome::improved:
            return compared ? measured_headline(record) : "finished; no baseline was measured to compare with";
        case Outcome::no_improvement:
            if (!compared) return "no improvement" + (record.note.empty() ? "" : ": " + record.note);
            if (standing(record.headline) == Standing::ahead && !record.verified)
                return fmt::format("no improvement: a win of {} over {} did not hold up when it was verified",
                                   ratio_text(record.headline.ratio), rival_name(record));
            return "no improvement: " + measured_headline(record);
        case Outcome::interrupted:
            return "interrupted" + (compared ? "; so far " + measured_headline(record) : std::string());
        case Outcome::running:
            return "still running" + (compared ? "; so far " + measured_headline(record) : std::string());
        case Outcome::failed: return "failed" + (record.note.empty() ? "" : ": " + record.note);
    }
    return {};
}

std::string headline_meaning(const RunRecord& record) {
    std::vector<std::pair<std::string, int>> best = rivals(record);
    if (best.empty()) return {};
    int shapes = static_cast<int>(record.shapes.size());
    int baselines = static_cast<int>(baseline_names(record).size());
    std::vector<std::string> parts;
    for (const auto& [name, count] : best) parts.push_back(fmt::format("{} at {}", name, count));
    std::string versus = baselines == 1     ? fmt::format("against {}, the only baseline measured", best[0].first)
                         : best.size() == 1 ? fmt::format("against {}, the best of {} baselines{}", best[0].first,
                                                          baselines, shapes == 1 ? "" : " at every shape")
                                            : fmt::format("each against the best of {} baselines there ({})", baselines,
                                                          join(parts, ", "));
    return shapes == 1 ? fmt::format("at one shape, {}", versus)
                       : fmt::format("geometric mean over {} shapes, {}", shapes, versus);
}

std::vector<std::string> caveats(const RunRecord& record) {
    std::vector<std::string> lines = lost_shapes(record);
    std::vector<std::string> undecided, disturbed, exceeded;
    for (const ShapeReport& shape : record.shapes) {
        if (!shape.best_baseline.empty() && standing(shape.speedup) == Standing::even)
            undecided.push_back(
                fmt::format("{} ({} against {})", shape.label, interval_text(shape.speedup), shape.best_baseline));
        if (shape.disturbed > disturbed_enough_to_tell)
            disturbed.push_back(fmt::format("{} ({:.0f}% of the samples)", shape.label, 100 * shape.disturbed));
        if (shape.bound_is_beaten())
            exceeded.push_back(fmt::format("{} ({} of the roofline)", shape.label, percent_text(shape.roofline_share)));
    }
    if (!undecided.empty()) lines.push_back("undecided at " + join(undecided, ", "));
    if (!disturbed.empty())
        lines.push_back("others used the processor during the measurement of " + join(disturbed, ", "));
    if (!exceeded.empty())
        lines.push_back(
            "the roofline is not a bound at " + join(exceeded, ", ") +
            ": work was counted that a kernel can leave out (the problem may state its own `work`), or the "
            "machine was slower when its ceilings were measured (strop doctor --fresh measures them again)");
    if (!record.verified && !record.shapes.empty()) lines.push_back(verification_text(record));
    for (const MissingBaseline& missing : record.missing_baselines)
        lines.push_back(fmt::format("not compared with {}: {}", missing.name, why_missing(missing)));
    if (!record.in_process.missing.empty())
        lines.push_back(fmt::format("not measured from Python beside {}: {}",
                                    record.in_process.framework.empty() ? "a framework" : record.in_process.framework,
                                    record.in_process.missing));
    for (const std::string& loss : record.model_losses) lines.push_back("lost: " + loss);
    for (const std::string& protection : record.weaker) lines.push_back("weaker protection: " + protection);
    if (!record.note.empty() && headline(record).find(record.note) == std::string::npos) lines.push_back(record.note);
    return lines;
}

std::string how_measured() {
    return "Times are medians per call of batches that the referee times from outside the kernel's process, "
           "warm, "
           "with every contender interleaved in random order on the same inputs, threads and kind of memory "
           "pages. "
           "Cold times are of single calls whose tensors were in no cache. "
           "Speedups are medians of paired ratios with 95% intervals. What one call from a baseline's host "
           "language "
           "costs is measured apart and left out. Outputs of timed calls are checked too.";
}

std::string verification_text(const RunRecord& record) {
    std::string detail = record.verification.empty() ? "" : ": " + record.verification;
    return (record.verified ? "verified" : "not verified") + detail;
}

std::string sanitizer_text(const SanitizerRun& run) {
    if (run.verdict != Verdict::ok) return run.evidence;
    if (run.shapes == 0) return fmt::format("{}: not run, {}", run.sanitizer, run.missing);
    const std::string found = fmt::format("{} found nothing at {}", run.sanitizer, counted(run.shapes, "shape"));
    return run.missing.empty() ? found : fmt::format("{}, {}", found, run.missing);
}

std::string sanitizers_text(const RunRecord& record) {
    std::vector<std::string> texts;
    for (const SanitizerRun& run : record.sanitizers) texts.push_back(sanitizer_text(run));
    return texts.empty() ? "not run under sanitizers" : join(texts, "; ");
}

std::string cold_text(const ShapeReport& shape) { return shape.cold_ns > 0 ? time_text(shape.cold_ns) : "–"; }

std::string error_text(double share) {
    if (share <= 0) return "none";
    return share < 0.001 ? "below 0.1%" : fmt::format("{:.{}f}%", 100 * share, share < 0.1 ? 1 : 0);
}

std::string cold_ratio_text(const ShapeReport& shape) {
    double best = 0;
    for (const auto& [name, nanoseconds] : shape.cold_baselines)
        if (best == 0 || nanoseconds < best) best = nanoseconds;
    return shape.cold_ns > 0 && best > 0 ? ratio_text(best / shape.cold_ns) : "–";
}

std::string roofline_text(const ShapeReport& shape) {
    if (shape.bound_is_beaten()) return "not a bound";
    return percent_text(shape.roofline_share) + (shape.bound.empty() ? "" : " " + shape.bound);
}

std::string dispatch_text(const RunRecord& record) {
    const DispatchCheck& check = record.dispatch;
    if (check.shapes == 0) return "the dispatching function was not checked on held-out shapes";
    std::string text = fmt::format("{} of {} held-out shapes correct", check.correct, check.shapes);
    if (check.timed > 0)
        text +=
            fmt::format("; the chosen kernel is within 5% of the best one on {} of {} timed, at worst {:.1f}% slower",
                        check.within_5_percent, check.timed, 100 * check.worst_regret);
    return text;
}

std::string stopped_text(const RunRecord& record) {
    static const std::map<std::string, std::string> words = {{"budget", "stopped when the budget was spent"},
                                                             {"plateau", "stopped at a plateau"},
                                                             {"target", "stopped at the target speedup"},
                                                             {"roofline", "stopped near the roofline"},
                                                             {"evaluations", "stopped at the limit of evaluations"},
                                                             {"rounds", "stopped after the last round"},
                                                             {"exhausted", "stopped when nothing was left to try"}};
    auto found = words.find(record.stopped_by);
    std::string how = found != words.end()        ? found->second
                      : record.stopped_by.empty() ? name_of(record.outcome)
                                                  : "stopped by " + record.stopped_by;
    const double budget = record.settings.all_seconds();
    const std::string over = record.stopped_by == "budget" && record.seconds.total > told_overrun * budget
                                 ? fmt::format(
                                       " (of {}: the search has its share, however long reference and baselines "
                                       "took, and what it found is verified)",
                                       seconds_text(budget))
                                 : "";
    return fmt::format("{} after {} in {}{}", how, counted(record.evaluations, "evaluation"),
                       seconds_text(record.seconds.total), over);
}

std::string verdicts_text(const RunRecord& record) {
    std::vector<std::string> parts;
    auto ok = record.evaluations_by_verdict.find("ok");
    if (ok != record.evaluations_by_verdict.end()) parts.push_back(fmt::format("{} ok", ok->second));
    for (const auto& [verdict, count] : record.evaluations_by_verdict)
        if (verdict != "ok") parts.push_back(fmt::format("{} {}", count, verdict));
    for (const auto& [run, count] : record.evaluations_by_others)
        parts.push_back(fmt::format("{} of them judged by {}", count, run));
    return parts.empty() ? "none" : join(parts, ", ");
}

namespace {

std::string device_flag(const RunRecord& record) {
    return record.settings.device == "cpu" ? "" : " --device " + record.settings.device;
}

}  // namespace

std::string next_step(const RunRecord& record) {
    switch (record.outcome) {
        case Outcome::interrupted:
        case Outcome::running: return fmt::format("strop resume {}", record.run);
        case Outcome::failed: return "strop doctor";
        case Outcome::improved: return fmt::format("strop report {} --format html --out report.html", record.run);
        case Outcome::no_improvement: break;
    }
    if (!record.missing_baselines.empty() && record.shapes.empty()) return record.missing_baselines[0].how;
    const std::string problem = record.problem_folder.empty() ? record.problem : record.problem_folder;
    if (record.strategies.empty())  // more time would be of no use
        return fmt::format("strop optimize {}{} --kernel FILE, or --model NAME", problem, device_flag(record));
    return fmt::format("strop optimize {}{} --budget {}s", problem, device_flag(record),
                       std::lround(4 * record.settings.budget_seconds));
}

std::string reproduce_command(const RunRecord& record) {
    std::string command = fmt::format("strop optimize {}{} --budget {:g}s --seed {}",
                                      record.problem_folder.empty() ? record.problem : record.problem_folder,
                                      device_flag(record), record.settings.budget_seconds, record.settings.seed);
    if (record.settings.evaluations > 0) command += fmt::format(" --evaluations {}", record.settings.evaluations);
    if (!record.settings.target.empty()) command += " --for " + record.settings.target;
    return command;
}

std::string measured_on(const RunRecord& record) {
    std::string text = "a machine that it had not looked at";  // stopped in its first second
    if (!record.machine.cpu.empty())
        text = fmt::format("{} ({}, {} cores)", record.machine.cpu, record.machine.isa, record.machine.cores);
    if (!record.device.empty())
        text += (record.settings.device == "opencl" ? ", OpenCL on " : ", kernels on ") + record.device;
    if (!record.origin.empty()) text += ", imported from " + record.origin;
    return text;
}

std::vector<Row> machine_rows(const RunRecord& record) {
    const Machine& machine = record.machine;
    std::vector<Row> rows = {{"processor", fmt::format("{} ({}, {}), {}", machine.cpu, machine.architecture,
                                                       machine.isa, counted(machine.cores, "core"))}};
    const bool is_opencl = record.settings.device == "opencl";
    if (!record.device.empty()) rows.push_back({is_opencl ? "OpenCL device" : "device", record.device});
    if (!record.workers.empty()) rows.push_back({"workers", workers_text(record)});
    if (machine.memory_bytes > 0) rows.push_back({"memory", human_bytes(static_cast<double>(machine.memory_bytes))});
    for (const CacheLevel& cache : machine.caches) {
        std::string text = human_bytes(static_cast<double>(cache.bytes));
        text += cache.shared_by > 1 ? fmt::format(" shared by {} cores", cache.shared_by) : " per core";
        if (cache.read_bytes_per_second > 0)
            text += fmt::format(", read at {} by all cores", rate_text(cache.read_bytes_per_second, "B/s"));
        rows.push_back({fmt::format("L{} data cache", cache.level), text});
    }
    const Ceilings& ceilings = machine.ceilings;
    if (ceilings.memory_read > 0)
        rows.push_back(
            {"memory bandwidth",
             fmt::format("read {}, copy {} (one core {})", rate_text(ceilings.memory_read, "B/s"),
                         rate_text(ceilings.memory_copy, "B/s"), rate_text(ceilings.memory_copy_one_core, "B/s"))});
    if (ceilings.fma_flops_all_cores > 0)
        rows.push_back({"multiply-add rate",
                        fmt::format("{} (one core {}), float32", rate_text(ceilings.fma_flops_all_cores, "FLOP/s"),
                                    rate_text(ceilings.fma_flops_one_core, "FLOP/s"))});
    return rows;
}

namespace {

constexpr size_t most_named_workers = 8;

std::string worker_text(const WorkerUse& use) {
    std::string text = fmt::format("'{}' {} {}", use.name, use.batches, use.batches == 1 ? "batch" : "batches");
    if (use.losses > 0) text += fmt::format(", lost and back {}", counted(use.losses, "time"));
    if (!use.dropped.empty()) text += fmt::format(", gone in the end ({})", use.dropped);
    return text;
}

}  // namespace

std::string workers_text(const RunRecord& record) {
    const std::vector<WorkerUse>& all = record.workers;
    if (all.empty()) return {};
    std::string text = fmt::format("{} took part", all.size());
    std::vector<std::string> named;
    for (const WorkerUse& use : all)
        if (all.size() <= most_named_workers || !use.dropped.empty()) named.push_back(worker_text(use));
    if (all.size() > most_named_workers) {
        auto fewer = [](const WorkerUse& a, const WorkerUse& b) { return a.batches < b.batches; };
        const auto [least, most] = std::minmax_element(all.begin(), all.end(), fewer);
        const auto back = std::count_if(all.begin(), all.end(), [](const WorkerUse& use) { return use.losses > 0; });
        text += fmt::format(", {} to {} batches each", least->batches, most->batches);
        if (back > 0) text += fmt::format(", {} were lost and came back", back);
        if (named.size() > most_named_workers) {
            const size_t rest = named.size() - most_named_workers;
            named.resize(most_named_workers);
            named.push_back(fmt::format("and {} more that are gone", rest));
        }
    }
    return named.empty() ? text : fmt::format("{}: {}", text, join(named, "; "));
}

std::vector<Row> settings_rows(const RunRecord& record) {
    const RunSettings& settings = record.settings;
    std::vector<Row> rows = {
        {"run", record.run},
        {"started", record.started},
        {"strop", record.strop_version},
        {"compiler", record.compiler},
        {"problem", record.problem_folder.empty() ? record.problem : record.problem_folder},
        {"budget", seconds_text(settings.all_seconds())},
        {"rounds, beam", fmt::format("{}, {}", settings.rounds, settings.beam)},
        {"plateau", fmt::format("a round that gains less than {:g}%", 100 * settings.min_improvement)},
        {"seed", std::to_string(settings.seed)}};
    if (settings.evaluations > 0) rows.push_back({"evaluations at most", std::to_string(settings.evaluations)});
    if (settings.target_speedup > 0) rows.push_back({"target speedup", ratio_text(settings.target_speedup)});
    rows.push_back({"target", settings.target});
    rows.push_back({"result", record.result});
    std::erase_if(rows, [](const Row& row) { return row.value.empty(); });
    return rows;
}

std::vector<Phase> phases(const PhaseSeconds& seconds) {
    std::vector<Phase> all = {{"reference", seconds.reference},
                              {"compile", seconds.compile},
                              {"check", seconds.check},
                              {"time", seconds.time},
                              {"other", std::max(0.0, seconds.other())}};
    if (seconds.models > 0) all.insert(all.end() - 1, {"models", seconds.models});
    return all;
}

namespace {

std::string money_text(double cost, bool priced) {
    return priced ? fmt::format("${:.2f}", cost) : cost > 0 ? fmt::format("more than ${:.2f}", cost) : "no known price";
}

}  // namespace

std::string models_text(const RunRecord& record) {
    if (record.models.empty()) return {};
    int calls = 0;
    int64_t input = 0, cached = 0, output = 0;
    double cost = 0;
    bool priced = true;
    for (const ModelUse& use : record.models) {
        calls += use.calls;
        input += use.input_tokens;
        cached += use.cached_tokens;
        output += use.output_tokens;
        cost += use.cost;
        priced = priced && use.priced;
    }
    std::string text = fmt::format("{} calls, {} tokens in ({} cached), {} out, {}", calls, input, cached, output,
                                   money_text(cost, priced));
    double percent = 100 * (record.headline.ratio - 1);
    if (record.outcome == Outcome::improved && cost > 0 && percent > 0)
        text += fmt::format(", ${:.4f} for each percent over the best baseline", cost / percent);
    return text;
}

std::vector<Row> model_rows(const RunRecord& record) {
    std::vector<Row> rows;
    for (const ModelUse& use : record.models)
        rows.push_back({fmt::format("{}: {}", use.role, use.model),
                        fmt::format("{} calls{}, {} tokens in, {} out, {}", use.calls,
                                    use.failed ? fmt::format(" ({} failed)", use.failed) : "", use.input_tokens,
                                    use.output_tokens, money_text(use.cost, use.priced))});
    for (const auto& [subject, cost] : record.model_costs)
        if (cost > 0) rows.push_back({"about " + subject, fmt::format("${:.4f}", cost)});
    return rows;
}

std::vector<Row> experiment_rows(const RunRecord& record) {
    std::vector<Row> rows;
    for (const Experiment& experiment : record.experiments) {
        rows.push_back({experiment.strategy, experiment.hypothesis});
        for (const Probe& probe : experiment.probes) rows.push_back({"probe", describe(experiment, probe)});
    }
    return rows;
}

std::vector<Failure> failures(const RunRecord& record) {
    std::vector<Failure> found;
    for (const HistoryEntry& entry : record.history) {
        if (entry.verdict == Verdict::ok) continue;
        auto same = std::find_if(found.begin(), found.end(), [&](const Failure& failure) {
            return failure.verdict == entry.verdict && failure.kernel == entry.kernel;
        });
        if (same == found.end()) found.push_back({entry.verdict, entry.kernel, one_line(entry.evidence), 1});
        else ++same->count;
    }
    return found;
}

}  // namespace strop::report
