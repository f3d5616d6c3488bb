#include "core/evaluation.h"

#include <algorithm>
#include <limits>

#include "base/hash.h"

namespace strop {

std::string name_of(Verdict verdict) {
    switch (verdict) {
        case Verdict::ok: return "ok";
        case Verdict::compile_failed: return "compile_failed";
        case Verdict::wrong_output: return "wrong_output";
        case Verdict::nondeterministic: return "nondeterministic";
        case Verdict::crashed: return "crashed";
        case Verdict::timed_out: return "timed_out";
        case Verdict::over_limit: return "over_limit";
        case Verdict::cheated: return "cheated";
        case Verdict::unsupported: return "unsupported";
    }
    return {};
}

double disturbed_share(const Measurement& time) {
    return time.samples_ns.empty() ? 0 : time.disturbed / static_cast<double>(time.samples_ns.size());
}

std::string name_of(Decision decision) {
    switch (decision) {
        case Decision::faster: return "faster";
        case Decision::slower: return "slower";
        case Decision::undecided: return "undecided";
    }
    return {};
}

std::string evaluation_key(const EvaluationRequest& request, const std::string& toolchain,
                           const std::string& machine_fingerprint, const std::string& problem_hash) {
    std::string text = request.kernel.source;
    for (const std::string& part : {describe(request.configuration), toolchain, machine_fingerprint, problem_hash,
                                    std::string(request.effort == Effort::full ? "full" : "screen")})
        text += "\n" + part;
    for (const ShapePoint& point : request.points) text += "\n" + point.label + " " + describe(point.dims);
    return content_hash(text);
}

double deciding_ns(const Measurement& time, const Measurement& cold) {
    return cold.samples_ns.empty() ? time.median_ns : std::max(time.median_ns, cold.median_ns);
}

double Evaluation::nanoseconds(const std::string& label) const {
    for (const PointResult& result : points)
        if (result.point.label == label && result.verdict == Verdict::ok && !result.time.samples_ns.empty())
            return deciding_ns(result.time, result.cold);
    return std::numeric_limits<double>::infinity();
}

}  // namespace strop
