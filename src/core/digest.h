// What a finished run found, without its history and sources: what patterns and queries are made of. Plain data.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "core/kernel.h"

namespace strop {

struct Digest {
    struct Winner {
        std::string strategy, family;
        Configuration configuration;
        std::string condition;            // as the dispatch tests it
        std::vector<std::string> points;  // labels
        std::string bound;                // what limits most of them: "memory", "cache" or "compute"
        double roofline_share = 0;        // geometric mean over its points; 0: unknown
    };
    struct DeadEnd {
        std::string strategy, family, reason;
    };
    // Of one value of a tunable, or of a whole strategy, over the shapes that one thing limits.
    struct Effect {
        std::string family, strategy, bound;
        std::string tunable;  // empty: of the strategy
        Value value;
        double ratio = 1;  // the least time with it over the least time of the strategy, or of the run
        int evaluations = 0;
    };

    std::string run, started, outcome, strop_version, compiler;
    std::string origin;  // RunRecord::origin
    std::string problem, problem_hash;
    std::vector<std::string> tags;  // of the problem
    std::string cpu, isa, fingerprint, language;
    std::string hardware;  // hardware_of
    int cores = 0;
    double speedup = 0;  // over the baseline; 0: none
    std::string baseline;
    int evaluations = 0;
    std::vector<Winner> winners;  // of a run that was verified
    std::vector<DeadEnd> dead_ends;
    std::vector<Effect> effects;
    std::vector<std::string> open;  // strategies that were planned and never measured
};

}  // namespace strop
