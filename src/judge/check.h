// Comparing outputs with expected values; poisoning them before a call.
#pragma once

#include <string>
#include <vector>

#include "core/problem.h"
#include "judge/buffers.h"

namespace strop::judge {

// Which elements of an output are compared after a call.
struct Sampling {
    uint64_t seed = 0;
    bool everything = true;  // else some secret blocks, about 1/16 of a large output
};

inline constexpr unsigned char poison_byte = 0xff;  // as float: a NaN
inline constexpr unsigned char slack_byte = 0xa5;

// Fills the outputs of a set with values that no kernel returns (NaNs), all of them, so that nobody can see where will
// be compared; and the slack around them with a pattern. Of large outputs no cache holds more afterwards than before.
// `on_device`: a mirror does that with the values there, and here only the slack is filled: what is fetched comes over
// the rest.
void poison(Buffers& buffers, const InputSet& set, bool on_device = false);

// What each element of each output may differ by, beside the tolerance; of an output without any, nothing.
using Slack = std::vector<std::vector<double>>;

// Empty when every element is within tolerance; else the first wrong element, how many are, and what is allowed.
std::string wrong_output(const Problem& problem, Buffers& buffers, const InputSet& set, const Sampling& sampling,
                         const Slack& slack = {});
// Of each output at most one of a thousand elements is wrong, or none by much: they may be those whose inputs cancel,
// and whole numbers that come from reals half-way between two.
bool may_be_rounding(const Problem& problem, Buffers& buffers, const InputSet& set, const Sampling& sampling);

// The largest error of a floating output over what is allowed there: above 1 an element is wrong, infinite for a NaN
// that should be none. 0 where nothing may differ.
double largest_error(const Problem& problem, Buffers& buffers, const InputSet& set);

// Non-empty when something was written around an output.
std::string wrote_outside(Buffers& buffers, const InputSet& set);

// Some hundred values of each output, chosen by `seed`: taken at a call's return and again later, they tell whether
// somebody went on writing.
uint64_t fingerprint(const Problem& problem, Buffers& buffers, const InputSet& set, uint64_t seed);

// Whether one element of an output, as its bytes, is right; else what is wrong. `expected`: all of that output's
// values; `slack`: what it may differ by beside the tolerance.
std::string wrong_element(const Problem& problem, const InputSet& set, const Dimensions& dims, size_t output,
                          int64_t element, const char* bytes, const std::vector<char>& expected, double slack = 0);

}  // namespace strop::judge
