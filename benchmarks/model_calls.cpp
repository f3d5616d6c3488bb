// What Strop itself costs beside its models: planner and coder calls of a model that answers at once, through the
// whole way (prompt, limits, process, store, parsing), and whether memory stays flat over thousands of them.
//
//     bench_model_calls [CALLS]     (default 2000; with the release build's flags)
#include <cstdio>
#include <fstream>

#include <unistd.h>

#include <fmt/format.h>

#include "base/clock.h"
#include "base/file.h"
#include "core/evaluator.h"
#include "run/advisers.h"

namespace {

using namespace strop;

constexpr const char* plan =
    R"({"strategies": [{"id": "plain", "family": "loops", "hypothesis": "plain loops", "bottleneck": "memory", "excludes": [], "regimes": "all", "confidence": 0.5}]})";
constexpr const char* code =
    R"({"source": "// strop:tune BLOCK = 8 | 16\nextern \"C\" void twice(const float* x, float* y, long long N) { for (long long i = 0; i < N; ++i) y[i] = 2 * x[i] + 0 * BLOCK; }\n", "condition": "", "note": ""})";

double resident_mib() {
    std::ifstream file("/proc/self/statm");
    double size = 0, resident = 0;
    file >> size >> resident;
    return resident * static_cast<double>(::sysconf(_SC_PAGESIZE)) / (1 << 20);
}

agent::Briefing briefing() {
    agent::Briefing briefing;
    briefing.problem.name = briefing.problem.function = "twice";
    briefing.problem.dimensions = {"N"};
    briefing.problem.inputs = {{"x", DType::float32, {Expression::parse("N")}}};
    briefing.problem.outputs = {{"y", DType::float32, {Expression::parse("N")}}};
    briefing.reference = "def twice(x):\n    return 2 * x\n";
    return briefing;
}

// No kernel is judged here.
class NoJudge : public Evaluator {
public:
    std::vector<Evaluation> evaluate(std::vector<EvaluationRequest>) override { return {}; }
    std::vector<ProbeResult> probe(const std::vector<EvaluationRequest>&) override { return {}; }
    Comparison compare(const ComparisonRequest&) override { return {}; }
};

}  // namespace

int main(int count, char** words) {
    const int calls = count > 1 ? std::atoi(words[1]) : 2000;
    TemporaryFolder folder("strop-bench");
    write_file(folder.path() / "planner", plan);
    write_file(folder.path() / "coder", code);
    RunSettings settings;
    for (const char* role : {"planner", "coder"})
        settings.models.push_back(fmt::format("{}=exec:cat {}/{}", role, folder.path().string(), role));
    Store store(folder.path() / "runs.db");
    Advisers advisers(settings, store, "run", false, {});
    NoJudge judge;
    advisers.brief(briefing(), judge);
    Clock::time_point start = Clock::now();
    double waited = 0;
    for (int done = 0; done < calls;) {
        if (advisers.agent().plan().empty()) {
            fmt::print(stderr, "the model gave nothing: {}\n", advisers.agent().why_nothing());
            return 1;
        }
        done += 2;
        if (done != 100 && done % 500 != 0) continue;
        RunRecord record;
        advisers.note(record);
        waited = 0;
        for (const ModelUse& use : record.models) waited += use.seconds;
        fmt::print("{:5} calls: {:.2f} s in all, {:.2f} s of them in the model's process, {:.1f} MiB resident\n", done,
                   seconds_since(start), waited, resident_mib());
        std::fflush(stdout);
    }
    return 0;
}
