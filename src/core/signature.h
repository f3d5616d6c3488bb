// What a problem computes, without names and sizes: by it runs of one problem are of use to another.
#pragma once

#include <map>
#include <string>

namespace strop {

struct Signature {
    std::string exact;                      // equal: the same operations on the same operands; empty: not traced
    std::map<std::string, int> operations;  // how often each occurs: "reduction max [-1]", "pointwise exp"
};

// 1: the same; 0: nothing in common. The share of operations that both have, of those that either has; the structure
// (reductions, contractions, ...) counts more than what is done with each element.
double similarity(const Signature& a, const Signature& b);

}  // namespace strop
