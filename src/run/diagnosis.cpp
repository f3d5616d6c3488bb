#include "run/diagnosis.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/strings.h"

namespace strop {

namespace {

constexpr double nearly = 0.75;    // of a ceiling: what is left is not worth a search
constexpr double held_back = 0.3;  // of the cycles, by one cause
constexpr double many = 0.25;      // of a loop's instructions, or of its memory accesses
constexpr double at_all = 0.02;    // of the time: not worth a word

std::string percent(double share) { return fmt::format("{:.0f}%", 100 * share); }

// What is lost somewhere, and what to do about it.
struct Flaw {
    double lost = 0;  // share of the time there, at most
    Dimension dimension = Dimension::compute;
    std::string next;
};

std::string place_of(const HotLoop& loop) { return "the loop at " + lines_of(loop); }

int arithmetic(const InstructionMix& mix) {
    int count = mix.scalar;
    for (const auto& [bytes, packed] : mix.packed) count += packed;
    return count;
}

// Of the arithmetic's instructions, what a full vector would do at once.
double vector_share(const InstructionMix& mix, int vector_bytes) {
    const int count = arithmetic(mix);
    if (count == 0) return 1;
    double filled = mix.scalar * 4.0 / vector_bytes;
    for (const auto& [bytes, packed] : mix.packed)
        filled += packed * std::min(1.0, static_cast<double>(bytes) / vector_bytes);
    return filled / count;
}

// The gravest one.
Flaw flaw_of(const HotLoop& loop, const Machine& machine) {
    const InstructionMix& mix = loop.mix;
    const std::string place = place_of(loop);
    const double moves = std::max(1, mix.loads + mix.stores), all = std::max(1, mix.total);
    std::vector<Flaw> flaws(1);
    auto note = [&](double lost, Dimension dimension, std::string next) {
        flaws.push_back({lost, dimension, std::move(next)});
    };
    if (const double share = vector_share(mix, machine.vector_bytes); mix.scalar > 0 && share < nearly)
        note(1 - share, Dimension::compute,
             fmt::format("let {} be vectorised: it computes one value at a time (contiguous accesses, no branch, no "
                         "possible overlap of pointers, sums that may be reordered)",
                         place));
    else if (share < nearly)
        note(1 - share, Dimension::compute,
             fmt::format("use whole vectors in {}: its arithmetic fills {} of {} bytes", place, percent(share),
                         machine.vector_bytes));
    if (arithmetic(mix) == 0 && mix.loads + mix.stores > 0)
        note(loop.share, Dimension::memory,
             fmt::format("less copying: {}, {} of the samples, only moves data", place, percent(loop.share)));
    if (mix.calls > 0)
        note(nearly, Dimension::algorithm, fmt::format("inline what {} calls in every iteration", place));
    if (mix.stack > many * moves)
        note(mix.stack / moves, Dimension::compute,
             fmt::format("smaller tiles in {}: {} of its {} memory accesses are registers that were spilled", place,
                         mix.stack, mix.loads + mix.stores));
    if (mix.gathers > 0)
        note(std::min(nearly, 2.0 * mix.gathers / moves), Dimension::memory,
             fmt::format("contiguous accesses in {}: it gathers from {} addresses an iteration", place, mix.gathers));
    if (loop.throughput && loop.throughput->dependency_share > std::max(held_back, loop.throughput->resource_share))
        note(std::min(nearly, loop.throughput->dependency_share), Dimension::compute,  // four cycles a sum
             fmt::format("more independent accumulators in {}: {} of its cycles wait for an earlier result", place,
                         percent(loop.throughput->dependency_share)));
    if (mix.divisions > 0 && (!loop.throughput || loop.throughput->resource_share > held_back))
        note(held_back, Dimension::compute,
             fmt::format("multiply by a reciprocal in {}: it divides or takes roots {} times an iteration", place,
                         mix.divisions));
    if (mix.shuffles > many * all)
        note(mix.shuffles / all, Dimension::compute,
             fmt::format("another layout for {}: {} of its {} instructions only rearrange values", place, mix.shuffles,
                         mix.total));
    return *std::max_element(flaws.begin(), flaws.end(), [](const Flaw& a, const Flaw& b) { return a.lost < b.lost; });
}

double share_in(const PointProfile& profile, const std::string& place) {
    auto found = profile.places.find(place);
    return found == profile.places.end() ? 0 : found->second;
}

double share_in_loops(const PointProfile& profile) {
    double share = 0;
    for (const HotLoop& loop : profile.loops) share += loop.share;
    return share;
}

// The library that takes most of the time beside the kernel; empty: none worth telling.
std::string busiest_library(const PointProfile& profile) {
    std::string busiest;
    double most = at_all;
    for (const auto& [place, share] : profile.places)
        if (place != "kernel" && place != "waiting" && share > most) most = share, busiest = place;
    return busiest;
}

Finding memory_finding(const PointProfile& profile, const Roofline& roofline) {
    const double ns = profile.time.median_ns;
    const double reached = roofline.traffic_ns > 0 ? std::min(1.0, roofline.traffic_ns / ns) : 0;
    std::string text = fmt::format("{} at least in {}: {:.1f} GB/s", human_bytes(roofline.bytes), human_nanoseconds(ns),
                                   roofline.bytes / ns);
    if (roofline.beaten) text += "; no ceiling: a kernel needed less than what was counted allows";
    if (roofline.traffic_ns > 0)
        text += fmt::format(", {} of what {} gives ({:.1f})", percent(reached),
                            roofline.traffic_from_cache ? "the cache that holds it" : "memory",
                            roofline.bytes / roofline.traffic_ns);
    return {Dimension::memory, reached, text};
}

std::string loop_text(const HotLoop& loop) {
    const InstructionMix& mix = loop.mix;
    std::vector<std::string> parts;
    if (mix.scalar) parts.push_back(fmt::format("{} scalar", mix.scalar));
    for (const auto& [bytes, count] : mix.packed) parts.push_back(fmt::format("{} on {}-byte vectors", count, bytes));
    std::string text = fmt::format("{} ({} of the samples): {} instructions, arithmetic {}", place_of(loop),
                                   percent(loop.share), mix.total, parts.empty() ? "none" : join(parts, " and "));
    if (mix.fused) text += fmt::format(" ({} fused)", mix.fused);
    text += fmt::format(", {}, {}", counted(mix.loads, "load"), counted(mix.stores, "store"));
    if (!loop.throughput) return text;
    text += fmt::format(", {:.1f} cycles by the model", loop.throughput->cycles);
    if (!loop.throughput->busiest.empty()) text += ", most of them for " + loop.throughput->busiest;
    return text;
}

Finding compute_finding(const PointProfile& profile, const Roofline& roofline, const Machine& machine) {
    const double ns = profile.time.median_ns;
    const double reached = std::min(1.0, roofline.compute_ns / ns);
    const double ceiling =
        roofline.compute_ns > 0 ? roofline.flops / roofline.compute_ns : machine.ceilings.fma_flops_all_cores / 1e9;
    std::string text =
        roofline.beaten ? fmt::format("{:.1f} GFLOP/s as counted, no ceiling", roofline.flops / ns)
                        : fmt::format("{:.1f} GFLOP/s of {:.0f} ({})", roofline.flops / ns, ceiling, percent(reached));
    if (!profile.loops.empty()) text += "; " + loop_text(profile.loops.front());
    return {Dimension::compute, reached, text};
}

// Copying on all cores gains less than their number where one nearly saturates the memory.
double attainable_speedup(const Roofline& roofline, const Machine& machine) {
    const Ceilings& ceilings = machine.ceilings;
    if (roofline.bound != "memory" || ceilings.memory_copy_one_core <= 0) return machine.cores;
    return std::clamp(ceilings.memory_copy / ceilings.memory_copy_one_core, 1.0, static_cast<double>(machine.cores));
}

Finding parallelism_finding(const PointProfile& profile, const Roofline& roofline, const Machine& machine) {
    const double speedup = profile.one_core.median_ns / profile.time.median_ns;
    const double attainable = attainable_speedup(roofline, machine);
    std::string text = fmt::format("{:.2f} times as fast on {} cores as on one", speedup, machine.cores);
    if (attainable < machine.cores) text += fmt::format(" (memory allows {:.2f})", attainable);
    text += profile.threads > 1 ? fmt::format(", {} threads", profile.threads) : ", one thread";
    if (const double waiting = share_in(profile, "waiting"); waiting > at_all)
        text += fmt::format(", which wait {} of the time", percent(waiting));
    if (std::max(disturbed_share(profile.time), disturbed_share(profile.one_core)) > disturbed_enough_to_tell)
        text += "; uncertain: others used the processor meanwhile";
    return {Dimension::parallelism, std::clamp(speedup / attainable, 0.0, 1.0), text};
}

Finding algorithm_finding(const PointProfile& profile) {
    const double working = 1 - share_in(profile, "waiting"), loops = share_in_loops(profile);
    if (profile.samples == 0 || working <= 0) return {Dimension::algorithm, 1, "not looked at"};
    std::string text = fmt::format("{} of the work is in innermost loops of the kernel", percent(loops / working));
    if (const double rest = share_in(profile, "kernel") - loops; rest > at_all)
        text += fmt::format(", {} in the rest of it", percent(rest / working));
    if (const std::string library = busiest_library(profile); !library.empty())
        text += fmt::format(", {} in {}", percent(share_in(profile, library) / working), library);
    return {Dimension::algorithm, std::min(1.0, loops / working), text};
}

std::string parallel_advice(const PointProfile& profile) {
    const double ns = profile.time.median_ns, one_ns = profile.one_core.median_ns;
    if (profile.threads == 1) return "share the outermost loop among the cores";
    if (one_ns < 1.1 * ns)
        return fmt::format("use one thread at this size: it takes {} alone and {} on all cores",
                           human_nanoseconds(one_ns), human_nanoseconds(ns));
    if (share_in(profile, "waiting") > at_all)
        return "more even shares: smaller chunks, another loop to share, fewer regions that all have to leave";
    return "a larger part of the work in the shared loop, and memory that each thread touches first itself";
}

std::string algorithm_advice(const PointProfile& profile) {
    const std::string library = busiest_library(profile);
    const double rest = share_in(profile, "kernel") - share_in_loops(profile);
    if (library.empty() || share_in(profile, library) < rest)
        return "less work around the innermost loops: longer ones, and what does not change moved out of them";
    if (library.starts_with("libm")) return "functions of the mathematical library as polynomials over vectors";
    return fmt::format("fewer calls into {}", library);
}

// What nothing else explains is lost on the way to the nearer ceiling; unknown where there is none.
Flaw rest_of(const PointProfile& profile, const Roofline& roofline, double share) {
    if (roofline.beaten)
        return {at_all, Dimension::algorithm, "not known: nothing that was looked at holds this code back"};
    if (roofline.traffic_ns >= roofline.compute_ns)
        return {share, Dimension::memory,
                roofline.traffic_from_cache ? "fewer passes over data that lie in the cache"
                                            : "fewer passes over memory: fused loops, blocks that stay in the cache, "
                                              "streaming stores for what is not read again"};
    if (profile.loops.empty())
        return {share, Dimension::compute, "vector instructions, with as few others around them as can be"};
    const HotLoop& loop = profile.loops.front();
    const int count = arithmetic(loop.mix);
    if (loop.mix.loads > count)
        return {share, Dimension::memory,
                fmt::format("larger tiles in registers: {} loads for {} arithmetic instructions in {}", loop.mix.loads,
                            count, place_of(loop))};
    return {
        share, Dimension::compute,
        fmt::format("larger tiles and less between them: {} of {} instructions in {} are arithmetic, and that reaches "
                    "{} of what the units can do",
                    count, loop.mix.total, place_of(loop), percent(roofline.compute_ns / profile.time.median_ns))};
}

std::string ceiling_advice(Dimension limit) {
    return limit == Dimension::memory
               ? "nothing in this code: only fewer bytes help (fusion with what comes before or after, a narrower type)"
               : "nothing in this code: only fewer operations help (another algorithm, a narrower type)";
}

}  // namespace

Diagnosis diagnose(const PointProfile& profile, const Roofline& roofline, const Machine& machine) {
    Diagnosis diagnosis;
    diagnosis.label = profile.point.label;
    diagnosis.traffic_ns = roofline.traffic_ns;
    diagnosis.compute_ns = roofline.compute_ns;
    if (!(profile.time.median_ns > 0) || !(profile.one_core.median_ns > 0)) return diagnosis;
    diagnosis.findings = {memory_finding(profile, roofline), compute_finding(profile, roofline, machine),
                          parallelism_finding(profile, roofline, machine), algorithm_finding(profile)};
    const double memory = diagnosis.findings[0].reached, compute = diagnosis.findings[1].reached;
    if (std::max(memory, compute) >= nearly) {
        diagnosis.limit = memory >= compute ? Dimension::memory : Dimension::compute;
        diagnosis.at_ceiling = true;
        diagnosis.next = ceiling_advice(diagnosis.limit);
        return diagnosis;
    }
    const double parallel = machine.cores > 1 ? diagnosis.findings[2].reached : 1,
                 loops = diagnosis.findings[3].reached;
    Flaw flaw;
    if (!profile.loops.empty()) flaw = flaw_of(profile.loops.front(), machine);
    // Where mending gains the largest factor, the rest left as it is.
    std::vector<Flaw> losses = {{1 - parallel, Dimension::parallelism, parallel_advice(profile)},
                                {1 - loops, Dimension::algorithm, algorithm_advice(profile)},
                                flaw,
                                rest_of(profile, roofline, (1 - std::max(memory, compute)) / 2)};
    const Flaw& worst =
        *std::max_element(losses.begin(), losses.end(), [](const Flaw& a, const Flaw& b) { return a.lost < b.lost; });
    diagnosis.limit = worst.dimension;
    diagnosis.next = worst.next;
    return diagnosis;
}

}  // namespace strop
