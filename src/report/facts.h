// What a report says, before it is set in any form: sentences, orders and derived numbers of a RunRecord.
// Pure.
#pragma once

#include <string>
#include <vector>

#include "core/record.h"

namespace strop::report {

enum class Standing { ahead, even, behind };  // the whole interval above 1, around it, below it
Standing standing(const Ratio& ratio);

// All baselines of the run, the hardest to beat first.
std::vector<std::string> baseline_names(const RunRecord& record);
// The ratio over a baseline at one shape; null when it was not measured there.
const Ratio* speedup_over(const ShapeReport& shape, const std::string& baseline);

// One plain sentence: "1.42× faster than onednn (95% interval 1.38–1.47)", "no improvement: onednn stays
// ahead: …".
std::string headline(const RunRecord& record);
// What the headline is: "geometric mean over 4 shapes, each against the best of 3 baselines there (onednn at
// 3)".
std::string headline_meaning(const RunRecord& record);
// What a distrustful reader must know: shapes that are not won, missing baselines, weaker protections, no
// verification.
std::vector<std::string> caveats(const RunRecord& record);
std::string how_measured();
std::string verification_text(const RunRecord& record);
// "ThreadSanitizer found nothing at 6 shapes", "ThreadSanitizer: not run, ...", or what it found.
std::string sanitizer_text(const SanitizerRun& run);
std::string sanitizers_text(const RunRecord& record);
// A call with cold tensors: its time, and how many times faster it is than the best of the baselines so; "–" where
// there is none.
std::string cold_text(const ShapeReport& shape);
std::string cold_ratio_text(const ShapeReport& shape);
// "31%", of a largest error over what is allowed; "none" where nothing differs.
std::string error_text(double share);
// "72% memory"; "not a bound" where it was beaten.
std::string roofline_text(const ShapeReport& shape);
std::string dispatch_text(const RunRecord& record);
std::string stopped_text(const RunRecord& record);   // "stopped at a plateau after 60 evaluations in 92.4 s"
std::string verdicts_text(const RunRecord& record);  // "53 ok, 4 compile_failed"
std::string next_step(const RunRecord& record);
std::string reproduce_command(const RunRecord& record);

struct Row {
    std::string name, value;
};
std::vector<Row> machine_rows(const RunRecord& record);
// "AMD EPYC (avx2, 2 cores), OpenCL on NAME"
std::string measured_on(const RunRecord& record);
// "2 took part: 'gpu1' 12 batches; 'gpu2' 11 batches, lost and back 1 time"; empty where this machine's own measured.
std::string workers_text(const RunRecord& record);
std::vector<Row> settings_rows(const RunRecord& record);

// Where the time went; models only where there were any.
struct Phase {
    std::string name;
    double seconds = 0;
};
std::vector<Phase> phases(const PhaseSeconds& seconds);

// The result called from Python beside a framework (in_process_facts.cpp); rows are empty when that was not measured.
bool differs_in_process(const RunRecord& record);      // from the headline, by more than the intervals
std::string in_process_text(const RunRecord& record);  // "1.90× from Python beside pytorch (1.85–1.95)"
std::string in_process_explanation(const RunRecord& record);
std::vector<Row> in_process_rows(const RunRecord& record);

// What language models did: in all, and for each role and model; empty when none was asked.
std::string models_text(const RunRecord& record);
std::vector<Row> model_rows(const RunRecord& record);

// Experiments of models: a strategy with the hypothesis about it, followed by its probes.
std::vector<Row> experiment_rows(const RunRecord& record);

// The strategies as a forest: parents before their children, winners' trees first.
struct StrategyLine {
    const Strategy* strategy;
    int depth = 0;
    std::vector<bool> more;  // for each level: do siblings follow below?
};
std::vector<StrategyLine> strategy_tree(const RunRecord& record);

// Failed evaluations with the same verdict and kernel, counted, with the first one's evidence.
struct Failure {
    Verdict verdict = Verdict::ok;
    std::string kernel, evidence;
    int count = 0;
};
std::vector<Failure> failures(const RunRecord& record);

}  // namespace strop::report
