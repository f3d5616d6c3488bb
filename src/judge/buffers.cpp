#include "judge/buffers.h"

#include <algorithm>
#include <cstring>
#include <numeric>

#include "base/hash.h"
#include "judge/device_mirror.h"
#include "judge/tensor_pages.h"

namespace strop::judge {

namespace {

constexpr int64_t page = 4096, huge_page = 1 << 21, line = 64;
constexpr int64_t slots_bytes = 1 << 13;  // of small outputs; larger ones have two places, large ones a single one
constexpr int64_t most_slots = 64;
constexpr int64_t remembered_bytes = 16 << 20;  // of expected values, at most
constexpr int64_t views_of_a_turn = 3;          // that are remembered

int64_t round_up(int64_t value, int64_t to) { return (value + to - 1) / to * to; }

// Appends a region to a memory file of `size` bytes, with so much room before the data.
Place place_region(int64_t& size, int64_t bytes, int64_t slack = 0) {
    Place place;
    place.data_bytes = bytes;
    place.bytes = round_up(std::max<int64_t>(bytes, 1) + slack, page);
    size = round_up(size, bytes >= huge_page ? huge_page : page);
    place.begin = size;
    size += place.bytes;
    return place;
}

Place with_data(Place place, bool flush) {
    place.data = place.begin + place.bytes - (flush ? place.data_bytes : round_up(place.data_bytes, line));
    return place;
}

std::vector<Place> with_data(std::vector<Place> places, bool flush) {
    for (Place& place : places) place = with_data(place, flush);
    return places;
}

}  // namespace

int64_t tensor_bytes(const Problem& problem, const Dimensions& dims) {
    int64_t bytes = 0;
    for (const auto* tensors : {&problem.inputs, &problem.outputs})
        for (const Tensor& tensor : *tensors) bytes += bytes_of(problem, tensor, dims);
    return bytes;
}

Buffers::Buffers(const Problem& problem, const ShapePoint& point, const std::vector<Distribution>& checks,
                 int64_t windows, uint64_t seed)
    : point_(point),
      windows_(windows) {
    place_outputs(problem);
    for (const Tensor& tensor : problem.outputs)
        one_expected_bytes_.push_back(8 * element_count(problem, tensor, point.dims));
    for (size_t i = 0; i < checks.size() + (windows > 0); ++i) {
        InputSet set;
        set.flush = i < checks.size();
        set.values = checks.size() == 1 && windows > 0 ? 0 : i;
        if (set.flush) set.distribution = checks[i];
        const bool in_windows = !set.flush || (checks.size() == 1 && windows > 0);
        place_inputs(problem, set, in_windows ? (windows - 1) * window_stride : 0);
        set.outputs = with_data(slots_.front(), set.flush);
        if (set.values < sets_.size()) set.expected = sets_[set.values].expected;
        for (size_t t = set.expected.size(); t < problem.outputs.size(); ++t) {
            set.expected.push_back(expected_bytes_);
            expected_bytes_ += one_expected_bytes_[t];
        }
        set.scale.resize(problem.outputs.size());
        set.tolerance.resize(problem.outputs.size());
        sets_.push_back(std::move(set));
    }
    for (size_t t = 0; windows > 1 && t < problem.outputs.size(); ++t) {
        other_expected_.push_back(expected_bytes_);
        expected_bytes_ += one_expected_bytes_[t];
    }
    for (std::vector<Place>& slot : slots_) slot = with_data(slot, false);
    const SharedMemory::Pages pages = tensor_pages(problem);
    inputs_ = SharedMemory(input_bytes_, pages);
    outputs_ = SharedMemory(output_bytes_, pages);
    expected_ = SharedMemory(expected_bytes_);
    refill(problem, seed);
    if (small()) draw_usual_turns(mix64(seed ^ 0x7a4e));
}

void Buffers::draw_usual_turns(uint64_t seed) {
    const int64_t bytes = std::accumulate(one_expected_bytes_.begin(), one_expected_bytes_.end(), int64_t{1});
    const int64_t count = std::min(most_usual_turns, remembered_bytes / (views_of_a_turn * bytes));
    for (uint64_t i = 0; i < static_cast<uint64_t>(count); ++i) {
        const uint64_t own = mix64(seed + i);
        const uint64_t window = windows_ / 2 + mix64(own) % static_cast<uint64_t>(windows_ - windows_ / 2);
        usual_turns_.push_back({own, static_cast<int64_t>(window)});
    }
}

void Buffers::place_outputs(const Problem& problem) {
    int64_t bytes = 0;
    for (const Tensor& tensor : problem.outputs) bytes += bytes_of(problem, tensor, point_.dims);
    tensor_bytes_ = strop::judge::tensor_bytes(problem, point_.dims);
    int64_t count =
        windows_ <= 1 || large() ? 1 : std::clamp<int64_t>(slots_bytes / std::max<int64_t>(bytes, 1), 2, most_slots);
    for (int64_t slot = 0; slot < count; ++slot) {
        slots_.emplace_back();
        for (const Tensor& tensor : problem.outputs)
            slots_.back().push_back(place_region(output_bytes_, bytes_of(problem, tensor, point_.dims)));
    }
}

// A set that has the values of an earlier one shares its place where that is aligned and flush at once.
void Buffers::place_inputs(const Problem& problem, InputSet& set, int64_t slack) {
    const bool shares = set.values < sets_.size();
    for (size_t t = 0; t < problem.inputs.size(); ++t) {
        int64_t bytes = bytes_of(problem, problem.inputs[t], point_.dims);
        bool same_place = shares && bytes % line == 0;
        set.inputs.push_back(same_place ? sets_[set.values].inputs[t]
                                        : with_data(place_region(input_bytes_, bytes, slack), set.flush));
    }
}

void Buffers::refill(const Problem& problem, uint64_t seed) {
    note_inputs();
    present_.reset();
    turned_to_.reset();
    turned_by_.assign(problem.inputs.size(), 0);
    remembered_.clear();
    for (size_t s = 0; s < sets_.size(); ++s) refill(problem, s, mix64(seed) + 1000 * sets_[s].values);
    if (windows_ > 1) fill_slack(problem, mix64(seed ^ 0x51ac));
    forget_known();
}

void Buffers::forget_known() {
    for (std::optional<InputSet>& set : known_) set.reset();
    other_.reset();
}

void Buffers::refill(const Problem& problem, size_t set, uint64_t seed) {
    note_inputs();
    Bindings bindings = bindings_of(problem, point_.dims);
    for (size_t t = 0; t < problem.inputs.size(); ++t) {
        const Tensor& tensor = problem.inputs[t];
        fill_tensor(input(sets_[set], t), element_count(problem, tensor, point_.dims), tensor, bindings,
                    sets_[set].distribution, seed + t);
    }
}

Buffers::Values Buffers::input_values(size_t set) {
    Values values;
    for (size_t t = 0; t < sets_[set].inputs.size(); ++t) {
        const char* at = input(sets_[set], t);
        values.emplace_back(at, at + sets_[set].inputs[t].data_bytes);
    }
    return values;
}

void Buffers::set_input_values(size_t set, const Values& values) {
    note_inputs();
    for (size_t t = 0; t < values.size(); ++t) std::memcpy(input(sets_[set], t), values[t].data(), values[t].size());
}

void Buffers::fill_slack(const Problem& problem, uint64_t seed) {
    Bindings bindings = bindings_of(problem, point_.dims);
    const int64_t slack = (windows_ - 1) * window_stride;
    for (size_t t = 0; t < problem.inputs.size(); ++t) {
        const Tensor& tensor = problem.inputs[t];
        fill_tensor(input(sets_.back(), t) - slack, slack / static_cast<int64_t>(size_of(tensor.dtype)), tensor,
                    bindings, Distribution::declared, seed + t);
    }
}

int64_t Buffers::row_elements(const Problem& problem, size_t tensor) const {
    const int64_t size = static_cast<int64_t>(size_of(problem.inputs[tensor].dtype));
    return ((windows_ - 1) * window_stride + sets_.back().inputs[tensor].data_bytes) / size;
}

void Buffers::move_row(const Problem& problem, size_t tensor, int64_t by) {
    const int64_t size = static_cast<int64_t>(size_of(problem.inputs[tensor].dtype));
    const int64_t elements = row_elements(problem, tensor);
    const size_t head = static_cast<size_t>(by * size), all = static_cast<size_t>(elements * size);
    char* row = input(sets_.back(), tensor) - (windows_ - 1) * window_stride;
    turned_.assign(row, row + head);
    std::memmove(row, row + head, all - head);
    std::memcpy(row + all - head, turned_.data(), head);
    turned_by_[tensor] = (turned_by_[tensor] + by) % elements;
}

void Buffers::turn(const Problem& problem, uint64_t seed) {
    restore();
    note_inputs();
    turned_to_.reset();
    for (size_t t = 0; t < problem.inputs.size(); ++t) {
        const int64_t size = static_cast<int64_t>(size_of(problem.inputs[t].dtype));
        // Not by whole strides: the windows would be the same in other places.
        int64_t by = 1 + static_cast<int64_t>(mix64(seed + t) % static_cast<uint64_t>(row_elements(problem, t) - 1));
        if (by * size % window_stride == 0) --by;
        move_row(problem, t, by);
    }
    forget_known();
}

void Buffers::turn_to(const Problem& problem, size_t usual) {
    restore();
    note_inputs();
    turned_to_ = usual;
    for (size_t t = 0; t < problem.inputs.size(); ++t) {
        const int64_t size = static_cast<int64_t>(size_of(problem.inputs[t].dtype));
        const int64_t elements = row_elements(problem, t);
        const int64_t to = static_cast<int64_t>(mix64(usual_turns_[usual].seed + t) % static_cast<uint64_t>(elements));
        int64_t by = (to - turned_by_[t] + elements) % elements;
        if (by * size % window_stride == 0) {  // as above; so it is a place of its own
            by = (by + 1) % elements;
            turned_to_.reset();
        }
        move_row(problem, t, by);
    }
    forget_known();
}

std::optional<int64_t> Buffers::usual_window() const {
    return turned_to_ ? std::optional(usual_turns_[*turned_to_].window) : std::nullopt;
}

std::optional<uint64_t> Buffers::usual_renewal() const {
    return turned_to_ ? std::optional(mix64(usual_turns_[*turned_to_].seed)) : std::nullopt;
}

void Buffers::renew(const Problem& problem, uint64_t seed) {
    restore();
    const int64_t slack = (windows_ - 1) * window_stride;
    std::vector<Row> rows;
    for (const Place& place : sets_.back().inputs)
        rows.push_back({place.data - slack, slack + place.data_bytes, place.data_bytes});
    present_.emplace(problem, point_.dims, rows, inputs_.data(), seed);
    present_->apply(inputs_.data());
    note_renewal();
}

void Buffers::restore() {
    if (present_) present_->undo(inputs_.data());
    note_renewal();
    present_.reset();
}

InputSet Buffers::seen(int64_t window, int64_t call) const {
    InputSet set = sets_.back();
    set.window = window;
    for (Place& place : set.inputs) place.data -= window * window_stride;
    set.outputs = slot(call % slots());
    return set;
}

bool Buffers::shows_other() const {
    if (!present_ || !other_) return !present_ && !other_;
    return present_->name() == other_->name();
}

InputSet* Buffers::known(int64_t window) {
    std::optional<InputSet>& kept = known_[window == 0 && !present_ ? 0 : 1];
    const bool is_other = &kept == &known_[1];
    if (kept && (!is_other || (kept->window == window && shows_other()))) return &*kept;
    return recall(window);
}

std::optional<Buffers::View> Buffers::usual_view(int64_t window) const {
    if (!turned_to_) return std::nullopt;
    return View{*turned_to_, present_ ? present_->name() : 0, window};
}

InputSet* Buffers::recall(int64_t window) {
    const std::optional<View> view = usual_view(window);
    const auto found = view ? remembered_.find(*view) : remembered_.end();
    if (found == remembered_.end()) return nullptr;
    InputSet& set = keep(window);
    set.scale = found->second.scale;
    for (size_t t = 0; t < one_expected_bytes_.size(); ++t)
        std::memcpy(expected(set, t), found->second.expected[t].data(), found->second.expected[t].size());
    return &set;
}

void Buffers::remember(const InputSet& kept) {
    const std::optional<View> view = usual_view(kept.window);
    const bool usual = view && (kept.window == usual_window() || kept.window == 0);
    if (!usual || (present_ && present_->name() != Renewal::name_of(*usual_renewal()))) return;
    Remembered& values = remembered_[*view];
    values = {{}, kept.scale};
    for (size_t t = 0; t < one_expected_bytes_.size(); ++t) {
        const char* from = expected_.data() + kept.expected[t];
        values.expected.emplace_back(from, from + one_expected_bytes_[t]);
    }
}

InputSet& Buffers::keep(int64_t window) {
    const bool is_first = window == 0 && !present_;
    std::optional<InputSet>& place = known_[is_first ? 0 : 1];
    place = seen(window, 0);
    if (!is_first) {
        place->expected = other_expected_;
        other_ = present_;
    }
    return *place;
}

void Buffers::show_other() {
    restore();
    present_ = other_;
    if (present_) present_->apply(inputs_.data());
    note_renewal();
}

void Buffers::wipe_outputs() {
    std::memset(outputs_.data(), 0, static_cast<size_t>(outputs_.bytes()));
    if (mirror_) mirror_->wipe_outputs();
}

DeviceMirror& Buffers::mirror(const Problem& problem, int device) {
    if (!mirror_) mirror_ = std::make_shared<DeviceMirror>(problem, *this, device);
    return *mirror_;
}

BufferChanges Buffers::take_changes() {
    BufferChanges taken;
    taken.all_inputs = false;
    std::swap(taken, changes_);
    return taken;
}

void Buffers::note_poisoned(const std::vector<Place>& outputs) {
    if (mirror_) changes_.poisoned.insert(changes_.poisoned.end(), outputs.begin(), outputs.end());
}

void Buffers::note_inputs() {
    changes_.all_inputs = true;
    changes_.inputs.clear();
}

void Buffers::note_renewal() {
    if (mirror_ && present_ && !changes_.all_inputs) present_->add_ranges(changes_.inputs);
}

}  // namespace strop::judge
