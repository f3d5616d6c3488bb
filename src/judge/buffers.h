// The buffers of one shape point: several input sets in one memory file, the outputs in another, the expected
// values in a third that no candidate ever inherits.
#pragma once

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "core/problem.h"
#include "judge/inputs.h"
#include "judge/renewal.h"
#include "judge/shared_memory.h"

namespace strop::judge {

// A tensor's place in a memory file: the region is what gets mapped between guards, the data lies inside it.
struct Place {
    int64_t begin = 0, bytes = 0;  // of the region, whole pages
    int64_t data = 0, data_bytes = 0;
};

struct InputSet {
    Distribution distribution = Distribution::declared;
    // Flush: data ends where the region ends, so that one element too far is a fault. Such sets are for checking;
    // the others are aligned to a cache line and are for timing.
    bool flush = false;
    size_t values = 0;                   // index of the set that has the same values: its own, or an earlier one
    int64_t window = 0;                  // of the timed set
    std::vector<Place> inputs, outputs;  // sets share the outputs' regions
    std::vector<int64_t> expected;       // offset of each output's expected values (doubles)
    std::vector<double> scale;           // rms of each output's finite expected values
    std::vector<double> steps;           // of the output's type that a value below its normal ones may be off
    bool at_jumps = false;               // of the function, where it is sure: no element has room of its own
    std::vector<double> tolerance;  // allowed |error| / (|expected| + scale); absolute kinds use Problem::tolerance
};

// For tensors up to this many bytes in all, everything is compared always and several sets are made.
inline constexpr int64_t large_bytes = 32 << 20;
// Up to so many, the timed inputs are turned before every batch.
inline constexpr int64_t small_bytes = 1 << 18;

// The timed set's inputs lie in longer rows of values. A window is a tensor's worth of them: window 0 is the last one,
// and each begins this many bytes before its predecessor. Calls of a batch go from window to window: no two have the
// same inputs, and yet they use the same caches.
inline constexpr int64_t window_stride = 64;

// Small inputs are turned to so many places again and again: what the reference says there is remembered for one kernel
// after the other. No process meets one of them twice.
inline constexpr int64_t most_usual_turns = 96;

// Of all inputs and outputs of a call.
int64_t tensor_bytes(const Problem& problem, const Dimensions& dims);

// What was written since a copy of the buffers elsewhere was made.
struct BufferChanges {
    bool all_inputs = true;
    std::vector<std::pair<int64_t, int64_t>> inputs;  // {offset, bytes} in the memory file
    std::vector<Place> poisoned;                      // outputs
};

class DeviceMirror;

class Buffers {
public:
    // Draws the inputs of every set: one for checking for each of `checks`, then, unless there are no windows, the
    // timed one as declared. A single check and the timed set have the same values, for the reference is slow there.
    Buffers(const Problem& problem, const ShapePoint& point, const std::vector<Distribution>& checks, int64_t windows,
            uint64_t seed);

    // Draws all inputs anew, in place: whoever has mapped them sees the new values.
    void refill(const Problem& problem, uint64_t seed);
    // Draws the inputs of one set, in place; of the timed one those of window 0.
    void refill(const Problem& problem, size_t set, uint64_t seed);

    // The bytes of each input of a set, and other ones in their place.
    using Values = std::vector<std::vector<char>>;
    Values input_values(size_t set);
    void set_input_values(size_t set, const Values& values);

    // Moves the timed set's values round by a secret number of elements, in place: behind every address there is
    // something else afterwards, and the windows are others.
    void turn(const Problem& problem, uint64_t seed);
    // The same to one of the usual places, a secret one. There are none of larger inputs.
    void turn_to(const Problem& problem, size_t usual);
    size_t usual_turns() const { return usual_turns_.size(); }
    // Of the usual place where it is turned to, if it is: a secret window whose expected values are remembered like
    // those of window 0, and the seed of a renewal of which those of window 0 are.
    std::optional<int64_t> usual_window() const;
    std::optional<uint64_t> usual_renewal() const;
    bool can_turn() const { return windows_ > 1 && sets_.back().values == timed(); }

    const ShapePoint& point() const { return point_; }
    std::vector<InputSet>& sets() { return sets_; }
    const std::vector<InputSet>& sets() const { return sets_; }
    size_t timed() const { return sets_.size() - 1; }  // index of the timed set
    bool large() const { return tensor_bytes_ > large_bytes; }
    bool small() const { return can_turn() && tensor_bytes_ <= small_bytes; }
    int64_t tensor_bytes() const { return tensor_bytes_; }  // inputs and outputs of one call

    int64_t windows() const { return windows_; }
    // Nothing is left of what was written to outputs, or beside them.
    void wipe_outputs();
    // Calls of a batch write to so many places in turn, so that a result stays a while after its call.
    int64_t slots() const { return static_cast<int64_t>(slots_.size()); }
    const std::vector<Place>& slot(int64_t index) const { return slots_[static_cast<size_t>(index)]; }
    // The timed set as the call with this number of a batch sees it. Without expected values.
    InputSet seen(int64_t window, int64_t call) const;

    // Gives secret elements of what the timed set shows through its windows other values, until it is restored. Whoever
    // has mapped them sees it, also while a batch runs.
    void renew(const Problem& problem, uint64_t seed);
    void restore();
    bool can_renew() const { return windows_ > 1; }
    bool renewed() const { return present_.has_value(); }

    // Views of the timed set whose expected values are kept (by Expectation): window 0 of what was drawn, and one other
    // at a time, of some window and perhaps of renewed values. Known is what can be seen at present; what is remembered
    // of a usual place is, too.
    InputSet* known(int64_t window);
    InputSet& keep(int64_t window);
    // The values of what was kept last are there: to be remembered where it is turned to a usual place.
    void remember(const InputSet& kept);
    // The window of the other one, if there is one; and its values.
    std::optional<int64_t> other_known() const { return known_[1] ? std::optional(known_[1]->window) : std::nullopt; }
    void show_other();

    // How long the reference took at least: its first answer waits for its process.
    void note_reference(Seconds took) { reference_time_ = std::min(reference_time_, took); }
    Seconds reference_time() const { return reference_time_; }

    // The same in the memory of a CUDA device, made when first asked for; null until then.
    DeviceMirror& mirror(const Problem& problem, int device);
    DeviceMirror* mirror() { return mirror_.get(); }
    // Since it was last asked; recorded once there is a mirror.
    BufferChanges take_changes();
    void note_poisoned(const std::vector<Place>& outputs);

    SharedMemory& inputs() { return inputs_; }
    SharedMemory& outputs() { return outputs_; }
    char* input(const InputSet& set, size_t tensor) { return inputs_.data() + set.inputs[tensor].data; }
    char* output(const InputSet& set, size_t tensor) { return outputs_.data() + set.outputs[tensor].data; }
    double* expected(const InputSet& set, size_t tensor) {
        return reinterpret_cast<double*>(expected_.data() + set.expected[tensor]);
    }

private:
    void place_outputs(const Problem& problem);
    void place_inputs(const Problem& problem, InputSet& set, int64_t slack);
    void fill_slack(const Problem& problem, uint64_t seed);
    void draw_usual_turns(uint64_t seed);
    void move_row(const Problem& problem, size_t tensor, int64_t by);
    int64_t row_elements(const Problem& problem, size_t tensor) const;
    void forget_known();
    bool shows_other() const;
    using View = std::tuple<size_t, uint64_t, int64_t>;  // usual place, renewal (0: none), window
    std::optional<View> usual_view(int64_t window) const;
    InputSet* recall(int64_t window);
    void note_inputs();
    void note_renewal();

    ShapePoint point_;
    int64_t tensor_bytes_ = 0, windows_ = 0;
    int64_t input_bytes_ = 0, output_bytes_ = 0, expected_bytes_ = 0;  // used so far of the memory files
    std::vector<InputSet> sets_;
    std::vector<std::vector<Place>> slots_;
    std::optional<InputSet> known_[2];
    std::optional<Renewal> present_, other_;                    // in force; of what the other known view shows
    std::vector<int64_t> other_expected_, one_expected_bytes_;  // by output
    std::vector<char> turned_;
    struct UsualTurn {
        uint64_t seed;
        int64_t window;
    };
    struct Remembered {
        std::vector<std::vector<char>> expected;  // by output
        std::vector<double> scale;
    };
    std::vector<UsualTurn> usual_turns_;
    std::optional<size_t> turned_to_;
    std::vector<int64_t> turned_by_;  // elements of each input's row, in all
    std::map<View, Remembered> remembered_;
    Seconds reference_time_ = Seconds::max();
    SharedMemory inputs_, outputs_, expected_;
    BufferChanges changes_;
    std::shared_ptr<DeviceMirror> mirror_;
};

}  // namespace strop::judge
