// Who decides. Lives here, and not in judge, so that search knows no compiler.
#pragma once

#include <vector>

#include "core/evaluation.h"

namespace strop {

class Evaluator {
public:
    virtual ~Evaluator() = default;
    // Judges a batch: compiles in parallel, then checks and times one after the other. Results in the order
    // of the requests. A failure is a verdict, never an exception.
    virtual std::vector<Evaluation> evaluate(std::vector<EvaluationRequest> requests) = 0;
    // Compiles and times like a screening, in the same sandbox, but compares no output; the requests' effort is not
    // looked at. Results in the order of the requests.
    virtual std::vector<ProbeResult> probe(const std::vector<EvaluationRequest>& requests) = 0;
    // Interleaved, paired measurement of all contenders at each point, every output checked.
    virtual Comparison compare(const ComparisonRequest& request) = 0;
};

}  // namespace strop
