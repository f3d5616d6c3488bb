#include "core/evaluation.h"

#include <limits>

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

std::string name_of(Decision decision) {
    switch (decision) {
        case Decision::faster: return "faster";
        case Decision::slower: return "slower";
        case Decision::undecided: return "undecided";
    }
    return {};
}

double Evaluation::nanoseconds(const std::string& label) const {
    for (const PointResult& result : points)
        if (result.point.label == label && result.verdict == Verdict::ok && !result.time.samples_ns.empty())
            return result.time.median_ns;
    return std::numeric_limits<double>::infinity();
}

}  // namespace strop
