// The text of a problem.yaml, beside the reference and the baselines of a shipped problem.
#include "core/problem.h"
#include "base/strings.h"
#include "fuzz/fuzz.h"
#include "language/contract.h"
#include "problem/loader.h"
#include "problem/memory.h"

namespace {

using namespace strop;

// What everything behind the loader relies on.
void check(const Problem& problem) {
    fuzz::must(!problem.inputs.empty() && !problem.outputs.empty() && !problem.points.empty(), "a part is missing");
    for (const ShapePoint& point : problem.points) {
        for (const std::string& name : problem.dimensions) {
            const Range& range = problem.range.at(name);
            const int64_t extent = point.dims.at(name);
            fuzz::must(range.low <= extent && extent <= range.high, "a shape outside the range");
        }
        fuzz::must(point.dims.size() == problem.dimensions.size(), "a shape with another dimension");
        fuzz::must(needed_bytes(problem, point.dims) > 0, "a shape without elements");
        fuzz::must(admits(problem, point.dims), "a shape that is not admitted");
        fuzz::must(in_sweep(problem, point.dims), "a shape outside the sweep");
    }
    for (const std::string& name : split(argument_list(problem), ','))
        fuzz::must(is_identifier(trim(name)), "an argument without a name: " + name);
    signature(problem);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    const std::string text = fuzz::text_of(data, size);
    Problem problem;
    if (fuzz::accepted([&] { problem = parse_problem(text, STROP_SOURCE_DIR "/problems/softmax/problem.yaml"); }))
        check(problem);
    return 0;
}
