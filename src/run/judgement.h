// The whole judgement of one kernel: in full at every shape of the sweep, at shapes that nobody listed, and
// paired with the baselines.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "core/evaluation.h"
#include "judge/worker_client.h"

namespace strop {

struct Judgement {
    Evaluation evaluation;                 // of the sweep; verdict and evidence also of what came after
    Comparison comparison;                 // empty after a failure
    std::vector<SanitizerRun> sanitizers;  // empty unless asked for
    std::optional<Ratio> speedup;          // over the best baseline of each shape; nothing when no baseline ran
    uint64_t seed = 0;                     // of the shapes that nobody listed
    double seconds = 0;
};

struct JudgementOptions {
    uint64_t seed = 0;               // of the shapes that nobody listed
    bool paired = true;              // compare with the baselines as well
    Seconds seconds_per_shape{0.5};  // for that; clear cases need less
    bool sanitize = false;           // run builds that watch themselves, too
    // Told what is done next: "at 8 shapes that nobody listed"; may be empty.
    std::function<void(const std::string&)> phase = {};
};

// Of a kernel in CUDA C++ in the emulator, at the shapes of the sweep and at others, small ones first, for a minute.
// The evaluation has the shapes that were run, and no times.
Judgement emulate_kernel(judge::WorkerClient& worker, const Problem& problem, const Kernel& kernel,
                         const Configuration& configuration, uint64_t seed);

Judgement judge_kernel(judge::WorkerClient& worker, const Problem& problem, const Kernel& kernel,
                       const Configuration& configuration, const JudgementOptions& options);

// Kernels in turns with each other, the first one being compared with the others: what two judgements of their own
// cannot tell.
Comparison compare_kernels(judge::WorkerClient& worker, const Problem& problem, const std::vector<Contender>& kernels,
                           Seconds seconds_per_shape);

}  // namespace strop
