// How two partial results of a reduction become one. A state has one or more parts; merging is associative
// and the start changes nothing, so that threads may share the work in any way that keeps the order.
#pragma once

#include <string>
#include <vector>

#include "schedule/term.h"

namespace strop::schedule {

struct Law {
    struct Part {
        std::string name;  // "sum", "value"
        DType dtype = DType::float32;
        double start = 0;
    };
    std::string name;  // "sum"; an identifier
    std::vector<Part> parts;
    std::vector<Term> terms;  // over results "a_PART" (the earlier state) and "b_PART"
    std::vector<int> merged;  // one term per part
};

// sum, prod, max, min, any, all
Law fold_law(const std::string& op, DType dtype);
// argmax, argmin: parts value and place; the first of equal values, and the first NaN.
Law extremum_law(const std::string& op, DType dtype);
// The largest value and the sum of exponentials of the distances to it (online softmax: Milakov and
// Gimelshein, "Online normalizer calculation for softmax", 2018).
Law normalizer_law(DType dtype);

}  // namespace strop::schedule
