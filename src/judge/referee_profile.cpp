// Where a kernel's time goes: its threads are looked at while they work, its loops are read in the library.
#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "judge/counters.h"
#include "judge/referee.h"
#include "language/assembly.h"
#include "language/throughput.h"

namespace strop::judge {

namespace {

constexpr size_t profile_samples = 9;  // of the time on all cores, and on one
constexpr double profile_sample_ns = 5e6;
constexpr size_t most_sightings = 1500;
constexpr double watched_ns = 1.5e9;  // a batch that is looked at
const Nanoseconds sightings_apart{700'000};
constexpr double hot_share = 0.03;  // of the sightings, that a loop is worth telling
constexpr size_t most_hot_loops = 4;
constexpr const char* lines_flag = "-g1";  // line numbers, and the same code
const Seconds watched_limit{60};

bool is_thread_library(const std::string& name) { return name.starts_with("libomp") || name.starts_with("libgomp"); }

// The part of language/team_text.h that is not called by kernels.
bool is_team(const std::optional<Assembly>& assembly, uint64_t address) {
    const Function* function = assembly ? assembly->function_at(address) : nullptr;
    return function && function->name.find("team::") != std::string::npos &&
           function->name.find("team::body_of<") == std::string::npos;
}

// An idle thread looks for work for a while before it sleeps.
void note_places(const std::vector<Sighting>& sightings, const std::string& library,
                 const std::optional<Assembly>& assembly, PointProfile& profile) {
    const double one = 1 / static_cast<double>(std::max<size_t>(1, sightings.size()));
    profile.samples = static_cast<int>(sightings.size());
    for (const Sighting& sighting : sightings) {
        const bool own = sighting.library == library;
        const bool idle = is_thread_library(sighting.library) || (own && is_team(assembly, sighting.address));
        if (sighting.waiting || idle) profile.places["waiting"] += one;
        else if (own) profile.places["kernel"] += one;
        else profile.places[sighting.library.empty() ? "elsewhere" : sighting.library] += one;
    }
}

void note_loops(const std::vector<Sighting>& sightings, const std::string& library, const Assembly& assembly,
                PointProfile& profile) {
    std::map<const Loop*, size_t> seen;
    for (const Sighting& sighting : sightings)
        if (sighting.library == library && !is_team(assembly, sighting.address))
            if (const Loop* loop = assembly.loop_at(sighting.address)) ++seen[loop];
    for (const auto& [loop, count] : seen) {
        const double share = static_cast<double>(count) / static_cast<double>(sightings.size());
        if (share < hot_share) continue;
        const Function& function = assembly.functions[loop->function];
        HotLoop hot;
        hot.function = function.name;
        hot.first = function.instructions[loop->first].address;
        hot.last = function.instructions[loop->last].address;
        for (size_t i = loop->first; i <= loop->last; ++i)
            if (const int line = function.instructions[i].line; line > 0) {
                hot.line = hot.line == 0 ? line : std::min(hot.line, line);
                hot.last_line = std::max(hot.last_line, line);
            }
        hot.share = share;
        hot.mix = mix_of(assembly, *loop);
        hot.listing = listing_of(assembly, *loop);
        profile.loops.push_back(std::move(hot));
    }
    std::sort(profile.loops.begin(), profile.loops.end(),
              [](const HotLoop& a, const HotLoop& b) { return a.share > b.share; });
    if (profile.loops.size() > most_hot_loops) profile.loops.resize(most_hot_loops);
    for (HotLoop& hot : profile.loops) hot.throughput = throughput_of(assembly, *assembly.loop_at(hot.first));
}

void note_missing(std::vector<std::string>& missing, const std::string& what) {
    if (!what.empty() && std::find(missing.begin(), missing.end(), what) == missing.end()) missing.push_back(what);
}

uint32_t calls_in(double ns, double estimate_ns) {
    return static_cast<uint32_t>(std::clamp(ns / std::max(1.0, estimate_ns), 1.0, 1e7));
}

}  // namespace

Profile Referee::profile(EvaluationRequest request) {
    request.effort = Effort::full;
    const Evaluation evaluation = evaluate({request}).front();
    Profile profile{evaluation.verdict, evaluation.evidence, {}, {}};
    if (!evaluation.ok()) return profile;
    std::vector<std::string> flags = options_.flags;
    flags.push_back(lines_flag);
    const Built built =
        toolchain_
            .build(problem_, {{request.kernel.source, request.configuration, request.kernel.space, flags, false}},
                   folder_.path(), machine_.cores)
            .front();
    for (const PointResult& judged : evaluation.points)
        profile.points.push_back(profile_point(built, judged, profile.missing));
    return profile;
}

PointProfile Referee::profile_point(const Built& built, const PointResult& judged, std::vector<std::string>& missing) {
    PointProfile result;
    result.point = judged.point;
    Buffers& buffers = expectation_.at(judged.point);
    std::unique_ptr<Runner> all = Runner::kernel(built, problem_, {&buffers}, machine_.cores);
    std::unique_ptr<Runner> one = Runner::kernel(built, problem_, {&buffers}, 1);
    for (Runner* runner : {all.get(), one.get()})
        if (!runner->prepare(0, prepare_limit).ok()) return result;
    time_in_turns(*all, *one, judged.time.median_ns, result);
    one.reset();
    result.threads = static_cast<int>(all->threads().size());
    const std::vector<Sighting> sightings = watch(*all, result.time.median_ns);
    const std::string library = built.library.filename();
    const std::optional<Assembly> assembly = disassemble(built.library, built.library.stem().string() + ".cpp");
    note_places(sightings, library, assembly, result);
    if (sightings.empty())
        note_missing(missing, "no instruction pointers: this system lets nobody look at another process");
    if (assembly) note_loops(sightings, library, *assembly, result);
    else note_missing(missing, "no assembly: llvm-objdump is missing");
    result.counters = count_events(*all, result.time.median_ns, missing);
    return result;
}

void Referee::time_in_turns(Runner& all, Runner& one, double estimate_ns, PointProfile& result) {
    double estimates[2] = {estimate_ns, machine_.cores * estimate_ns};
    one.pause();
    all.pause();
    for (size_t i = 0; i < profile_samples; ++i)
        for (int which : {0, 1}) {
            Runner& runner = which == 0 ? all : one;
            Measurement& time = which == 0 ? result.time : result.one_core;
            runner.resume();
            if (i == 0) (void)call_unseen(runner, 0, 3, watched_limit);
            if (sample(runner, 0, estimates[which], profile_sample_ns, Look::screen, true, nullptr, time).ok())
                estimates[which] = std::max(1.0, time.samples_ns.back());
            runner.pause();
        }
    all.resume();
    one.resume();
    summarise(result.time);
    summarise(result.one_core);
}

std::vector<Sighting> Referee::watch(Runner& runner, double estimate_ns) {
    Buffers& buffers = *runner.points()[0];
    const uint32_t calls = calls_in(watched_ns, estimate_ns);
    if (buffers.small()) buffers.turn(problem_, random());
    std::vector<Sighting> sightings;
    Runner::Glance meanwhile{Nanoseconds(0), [&] {
                                 sightings = watch_threads(runner.pid(), runner.threads(), most_sightings,
                                                           sightings_apart, [&] { return runner.progress() >= calls; });
                             }};
    (void)runner.call(0, calls, static_cast<uint32_t>(buffers.timed()), 0, watched_limit, &meanwhile);
    return sightings;
}

std::map<std::string, double> Referee::count_events(Runner& runner, double estimate_ns,
                                                    std::vector<std::string>& missing) {
    std::string why_none;
    Counters counters(runner.threads(), hardware_counters, why_none);
    note_missing(missing, why_none);
    if (!why_none.empty()) return {};
    const uint32_t calls = calls_in(watched_ns / 4, estimate_ns);
    counters.start();
    (void)call_unseen(runner, 0, calls, watched_limit);
    std::map<std::string, double> events = counters.stop();
    for (auto& [name, count] : events) count /= calls;
    return events;
}

}  // namespace strop::judge
