// What `strop check` found of a result, in its forms: for programs, for continuous integration, for a pull request.
// Pure.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/record.h"
#include "report/change.h"

namespace strop::report {

struct CheckedResult {
    std::string given;  // as the user named it
    std::string problem, problem_hash, run;
    Machine machine;                // that it was checked on: processor, cores and fingerprint
    std::string verdict, evidence;  // "ok", "slower", "not compared", or the judge's
    bool right = false;             // the answers
    bool kept = false;              // right, and slower at no shape that was held to a ratio
    bool held = false;              // ratios count; false: they are of another machine and only shown
    std::string held_to;            // "its report", or the file of --baseline
    std::vector<std::string> notes;
    std::vector<Change> changes;   // of the shapes, against what was promised
    std::vector<ShapeReport> now;  // as they are measured now
    std::optional<Kernel> kernel;  // that was measured
    double seconds = 0;
};

// The word for a shape: "ok", "faster", "slower" or "not compared".
std::string standing(const Change& change, bool held);

// One document; read_checked() takes it back as a baseline.
std::string checked_json(const std::vector<CheckedResult>& results);
// JUnit's XML: a suite a result, a case for the answers and one for each shape. What is not held to is skipped.
std::string checked_junit(const std::vector<CheckedResult>& results);
// A summary for a pull request.
std::string checked_markdown(const std::vector<CheckedResult>& results);

// Of a checked_json() document what a later check is held to: problem, machine, the ratios of then (`now`) and the
// kernel of then. A UsageError when the text is none.
std::vector<CheckedResult> read_checked(const std::string& json);

}  // namespace strop::report
