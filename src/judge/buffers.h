// The buffers of one shape point: several input sets in one memory file, the outputs in another, the expected
// values in a third that no candidate ever inherits.
#pragma once

#include <string>
#include <vector>

#include "core/problem.h"
#include "judge/inputs.h"
#include "judge/shared_memory.h"

namespace strop::judge {

// A tensor's place in a memory file: the region is what gets mapped between guards, the data lies inside it.
struct Place {
    int64_t begin = 0, bytes = 0;   // of the region, whole pages
    int64_t data = 0, data_bytes = 0;
};

struct InputSet {
    Distribution distribution = Distribution::declared;
    // Flush: data ends where the region ends, so that one element too far is a fault. Such sets are for checking;
    // the others are aligned to a cache line and are for timing.
    bool flush = false;
    size_t values = 0;                           // index of the set that has the same values: its own, or an earlier one
    std::vector<Place> inputs, outputs;          // sets share the outputs' regions
    std::vector<int64_t> expected;               // offset of each output's expected values (doubles)
    std::vector<double> scale;                   // rms of each output's finite expected values
    std::vector<double> tolerance;               // allowed |error| / (|expected| + scale); absolute kinds use Problem::tolerance
};

// 0 for tensors up to this many bytes in all: everything is compared always, several sets are made.
inline constexpr int64_t large_bytes = 32 << 20;

class Buffers {
public:
    // Draws the inputs of every set. `flush_sets` sets come first, then `timed_sets`. One of each kind have the same
    // values, for the reference is slow where sets are few.
    Buffers(const Problem& problem, const ShapePoint& point, int flush_sets, int timed_sets,
            const std::vector<Distribution>& unusual, uint64_t seed);

    // Draws all inputs anew, in place: whoever has mapped them sees the new values.
    void refill(const Problem& problem, uint64_t seed);

    // Draws the inputs of one set, in place.
    void refill(const Problem& problem, size_t set, uint64_t seed);
    // Two timed sets change values, in place: behind the same addresses there is something else afterwards.
    void exchange_values(size_t a, size_t b);

    const ShapePoint& point() const { return point_; }
    std::vector<InputSet>& sets() { return sets_; }
    const std::vector<InputSet>& sets() const { return sets_; }
    int flush_sets() const { return flush_sets_; }
    bool large() const { return tensor_bytes_ > large_bytes; }
    int64_t tensor_bytes() const { return tensor_bytes_; }    // inputs and outputs of one call

    SharedMemory& inputs() { return inputs_; }
    SharedMemory& outputs() { return outputs_; }
    char* input(const InputSet& set, size_t tensor) { return inputs_.data() + set.inputs[tensor].data; }
    char* output(const InputSet& set, size_t tensor) { return outputs_.data() + set.outputs[tensor].data; }
    double* expected(const InputSet& set, size_t tensor) {
        return reinterpret_cast<double*>(expected_.data() + set.expected[tensor]);
    }

private:
    ShapePoint point_;
    int flush_sets_ = 0;
    int64_t tensor_bytes_ = 0;
    std::vector<InputSet> sets_;
    SharedMemory inputs_, outputs_, expected_;
};

}  // namespace strop::judge
