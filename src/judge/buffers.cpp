#include "judge/buffers.h"

#include <algorithm>

#include "base/hash.h"

namespace strop::judge {

namespace {

constexpr int64_t page = 4096, huge_page = 1 << 21, line = 64;

int64_t round_up(int64_t value, int64_t to) { return (value + to - 1) / to * to; }

// Appends a region to a memory file of `size` bytes.
Place place_region(int64_t& size, int64_t bytes) {
    Place place;
    place.data_bytes = bytes;
    place.bytes = round_up(std::max<int64_t>(bytes, 1), page);
    size = round_up(size, bytes >= huge_page ? huge_page : page);
    place.begin = size;
    size += place.bytes;
    return place;
}

Place with_data(Place place, bool flush) {
    place.data = place.begin + place.bytes - (flush ? place.data_bytes : round_up(place.data_bytes, line));
    return place;
}

}  // namespace

Buffers::Buffers(const Problem& problem, const ShapePoint& point, int flush_sets, int timed_sets,
                 const std::vector<Distribution>& unusual, uint64_t seed)
    : point_(point), flush_sets_(flush_sets) {
    int64_t input_bytes = 0, output_bytes = 0, expected_bytes = 0;
    std::vector<Place> outputs;
    for (const Tensor& tensor : problem.outputs) {
        outputs.push_back(place_region(output_bytes, bytes_of(problem, tensor, point.dims)));
        tensor_bytes_ += outputs.back().data_bytes;
    }
    for (int i = 0; i < flush_sets + timed_sets; ++i) {
        InputSet set;
        set.flush = i < flush_sets;
        set.values = flush_sets == 1 && timed_sets == 1 ? 0 : static_cast<size_t>(i);
        const bool shares = set.values < sets_.size();  // an earlier set has the same values
        // The first set of each kind is as declared; the other checks take an unusual one.
        if (i > 0 && i < flush_sets && !unusual.empty())
            set.distribution = unusual[mix64(seed + static_cast<uint64_t>(i)) % unusual.size()];
        for (size_t t = 0; t < problem.inputs.size(); ++t) {
            int64_t bytes = bytes_of(problem, problem.inputs[t], point.dims);
            bool same_place = shares && bytes % line == 0;   // aligned and flush at once
            set.inputs.push_back(same_place ? sets_[set.values].inputs[t]
                                            : with_data(place_region(input_bytes, bytes), set.flush));
        }
        for (size_t t = 0; t < problem.outputs.size(); ++t) {
            set.outputs.push_back(with_data(outputs[t], set.flush));
            if (shares) continue;
            set.expected.push_back(expected_bytes);
            expected_bytes += 8 * element_count(problem, problem.outputs[t], point.dims);
        }
        if (shares) set.expected = sets_[set.values].expected;
        set.scale.resize(problem.outputs.size());
        set.tolerance.resize(problem.outputs.size());
        sets_.push_back(std::move(set));
    }
    for (const Place& place : sets_.front().inputs) tensor_bytes_ += place.data_bytes;
    inputs_ = SharedMemory(input_bytes, SharedMemory::Pages::huge);
    outputs_ = SharedMemory(output_bytes, SharedMemory::Pages::huge);
    expected_ = SharedMemory(expected_bytes);
    refill(problem, seed);
}

void Buffers::refill(const Problem& problem, uint64_t seed) {
    for (size_t s = 0; s < sets_.size(); ++s) refill(problem, s, mix64(seed) + 1000 * sets_[s].values);
}

void Buffers::refill(const Problem& problem, size_t set, uint64_t seed) {
    Bindings bindings = bindings_of(problem, point_.dims);
    for (size_t t = 0; t < problem.inputs.size(); ++t) {
        const Tensor& tensor = problem.inputs[t];
        int64_t limit = tensor.limit ? tensor.limit->evaluate_integer(bindings) : 2;
        fill_tensor(input(sets_[set], t), tensor.dtype, element_count(problem, tensor, point_.dims), tensor.fill, limit,
                    sets_[set].distribution, seed + t);
    }
}

void Buffers::exchange_values(size_t a, size_t b) {
    InputSet &first = sets_[a], &second = sets_[b];
    for (size_t t = 0; t < first.inputs.size(); ++t) {
        char* at = input(first, t);
        std::swap_ranges(at, at + first.inputs[t].data_bytes, input(second, t));
    }
    std::swap(first.distribution, second.distribution);
    std::swap(first.expected, second.expected);
    std::swap(first.scale, second.scale);
    std::swap(first.tolerance, second.tolerance);
}

}  // namespace strop::judge
