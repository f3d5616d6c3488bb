// How far the judge can be trusted on this machine: trials whose right answer is known.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "base/file.h"
#include "judge/worker_command.h"

namespace strop {

struct CalibrationOptions {
    judge::WorkerCommand worker;
    fs::path home;    // holds problems/ and tests/exploits/
    int trials = 60;  // of a kernel against itself, and two fifths as many with a planted slowdown
    double planted_percent = 3;
    double seconds_per_trial = 20;  // at most: clear cases end early
    std::function<void(const std::string&)> progress;
};

struct Calibration {
    struct Trials {
        int trials = 0, hits = 0;  // claims of a difference; planted slowdowns that were found
    };
    Trials against_itself;  // half of them while another process loads a core
    Trials planted;
    std::map<std::string, int> not_found;  // "softmax at large": so many planted slowdowns
    double planted_percent = 0;
    double planted_seconds = 0;     // that a typical planted trial took: a clear case ends early
    double resolution_percent = 0;  // half of a typical interval: smaller differences need more time
    int exploits = 0, caught = 0;   // of the corpus, as far as small shapes show them
    std::vector<std::string> missed;
    std::vector<std::string> weaker;  // protections that this system does not offer
    bool interrupted = false;         // by the user: all that was tried until then is here
    double seconds = 0;
};

// UsageError when the shipped problems are not there.
Calibration calibrate(const CalibrationOptions& options);

}  // namespace strop
