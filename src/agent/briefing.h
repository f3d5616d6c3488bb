// What every role is told about the problem, in words: the stable part of all prompts.
#pragma once

#include <string>
#include <vector>

#include "core/evaluation.h"
#include "core/kernel.h"
#include "core/machine.h"
#include "core/problem.h"
#include "core/proposer.h"
#include "core/record.h"

namespace strop::agent {

struct Briefing {
    Problem problem;
    Machine machine;
    std::string compiler;   // "clang 19.1.7 -O3 ..."
    std::string reference;  // the source of the reference
    std::string reference_language = "python";
    std::string graph;                 // one line a node; empty: it could not be traced
    std::vector<ShapeReport> shapes;   // with baselines and rooflines
    std::vector<Strategy> known;       // what other proposers have planned
    std::vector<std::string> lessons;  // of earlier runs
    std::string advice;                // the user's own words for the analyst
};

// The parts that a role needs (docs/models.md has the table).
std::string describe(const Briefing& briefing, const std::string& role);

// How exact a kernel has to be.
std::string describe_tolerance(const Problem& problem);

// The kernel to beat: its time at each shape, the least time of all kernels there, and its source where that is wanted.
std::string describe_best(const Briefing& briefing, const BestKnown& best, bool source);

// "large (M=4096,N=8192): 5.21 ms, 51.5 GB/s, 108% of the roofline (memory), 2.16 times pytorch"; a line a shape.
std::string describe_times(const Briefing& briefing, const Evaluation& evaluation);

// A line a strategy: state, standing, author, reason.
std::string describe_standings(const std::vector<Strategy>& strategies);

// What is known from experiments: their hypotheses and what each probe took; empty when there were none.
std::string describe_experiments(const std::vector<Experiment>& experiments);

// What a judge said of a failed kernel, the first failing shape named.
std::string describe_failure(const Evaluation& evaluation);

}  // namespace strop::agent
