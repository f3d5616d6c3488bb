// Kernels that watch themselves: what no compared output and no guarded page tells.
#include <algorithm>

#include <fmt/format.h>

#include "base/interrupt.h"
#include "judge/referee.h"

namespace strop::judge {

namespace {

const Seconds call_limit{60};
constexpr int least_racers = 2;  // threads

}  // namespace

std::vector<SanitizerRun> Referee::sanitize(const EvaluationRequest& request, Seconds limit) {
    const Clock::time_point start = Clock::now();
    const Compiler* compiler = toolchain_.find(compiler_of(request.kernel.space, request.configuration));
    if (!compiler) return {};
    const std::vector<Sanitizer> sanitizers = sanitizers_of(*compiler);
    std::vector<SanitizerRun> results;
    if (request.kernel.language != Language::cpp) {
        const char* why = request.kernel.language == Language::python
                              ? "it sees nothing of what an interpreter and its libraries do"
                              : "it sees nothing of what an OpenCL driver compiles";
        for (const Sanitizer& sanitizer : sanitizers) results.push_back({sanitizer.name, 0, Verdict::ok, {}, why});
        return results;
    }
    std::vector<Build> builds;
    for (const Sanitizer& sanitizer : sanitizers)
        if (sanitizer.missing.empty())
            builds.push_back(
                {request.kernel.source, request.configuration, request.kernel.space, sanitizer.flags, false});
    const std::vector<Built> built = toolchain_.build(problem_, builds, folder_.path(), machine_.cores);
    size_t next = 0;
    for (const Sanitizer& sanitizer : sanitizers) {
        SanitizerRun result{sanitizer.name, 0, Verdict::ok, {}, sanitizer.missing};
        if (sanitizer.missing.empty()) {
            // What the first leaves over is the second's.
            const double share = (limit.count() - seconds_since(start)) / static_cast<double>(builds.size() - next);
            run_sanitized(sanitizer, built[next++], request, Seconds(share), result);
        }
        results.push_back(std::move(result));
    }
    return results;
}

// Races depend on how the work is cut: two numbers of threads, one of them odd.
void Referee::run_sanitized(const Sanitizer& sanitizer, const Built& built, const EvaluationRequest& request,
                            Seconds limit, SanitizerRun& result) {
    if (!built.ok) {
        result.missing = "it does not compile with it: " + built.message;
        return;
    }
    const Clock::time_point start = Clock::now();
    const std::vector<Buffers*> buffers = callable_at(request);
    std::vector<std::unique_ptr<Runner>> runners;
    std::vector<int> threads = {machine_.cores};
    if (sanitizer.watches_threads) {
        threads[0] = std::max(least_racers, machine_.cores);
        threads.push_back(threads[0] + 1);
    }
    for (int count : threads) runners.push_back(Runner::kernel(built, problem_, buffers, count, &sanitizer));
    for (size_t i = 0; i < buffers.size(); ++i) {
        check_interrupt();
        if (i > 0 && Clock::now() - start > limit) {
            result.missing = fmt::format("no time was left for {} of {} shapes", buffers.size() - i, buffers.size());
            return;
        }
        for (const std::unique_ptr<Runner>& runner : runners) {
            Runner::Outcome outcome = runner->prepare(i, prepare_limit);
            const uint32_t timed = static_cast<uint32_t>(buffers[i]->timed());
            for (uint32_t set : {0u, timed})
                if (outcome.ok()) outcome = check(*runner, i, set, true, call_limit);
            if (outcome.ok()) continue;
            result.verdict = outcome.verdict;
            result.evidence = outcome.evidence;
            return;
        }
        ++result.shapes;
    }
}

}  // namespace strop::judge
