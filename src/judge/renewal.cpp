#include "judge/renewal.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "base/hash.h"
#include "judge/inputs.h"

namespace strop::judge {

namespace {

constexpr int most_doublings = 6;            // elements of what a call sees: 1, 2, 4, ... 64
constexpr int64_t least_elements_apart = 4;  // on average
constexpr int64_t most_stretches = 1 << 10;  // of a row, each with as many elements
constexpr int64_t most_elements = 1024;      // of a row where that is one of a stretch: a change has to be quick
constexpr int64_t pool = 64;                 // values to choose among
constexpr int choices = 8;  // the one farthest from the old value, so that the change is seen in what depends on it

double as_double(const char* data, DType dtype) { return as_doubles(data, dtype, 1).front(); }

}  // namespace

Renewal::Renewal(const Problem& problem, const Dimensions& dims, const std::vector<Row>& rows, const char* memory,
                 uint64_t seed)
    : name_(name_of(seed)) {
    std::mt19937_64 random(name_);
    const Bindings bindings = bindings_of(problem, dims);
    for (size_t t = 0; t < problem.inputs.size(); ++t) {
        const Tensor& tensor = problem.inputs[t];
        const Row& row = rows[t];
        const int64_t size = static_cast<int64_t>(size_of(tensor.dtype));
        if (row.seen_bytes < size) continue;
        std::vector<char> values(static_cast<size_t>(pool * size));
        fill_tensor(values.data(), pool, tensor, bindings, Distribution::declared, random());
        const int64_t stretch = std::max({row.seen_bytes / size, row.bytes / size / most_stretches, int64_t{1}});
        const int64_t stretches = (row.bytes / size + stretch - 1) / stretch;
        const int64_t wanted = std::min({int64_t{1} << random() % (most_doublings + 1),
                                         std::max(stretch / least_elements_apart, int64_t{1}),
                                         std::max(most_elements / stretches, int64_t{1})});
        for (int64_t begin = 0; begin < row.bytes / size; begin += stretch) {
            const int64_t elements = std::min(stretch, row.bytes / size - begin);
            for (int64_t i = 0; i < wanted; ++i) {
                const int64_t element = begin + static_cast<int64_t>(random() % static_cast<uint64_t>(elements));
                draw(tensor.dtype, row.at + element * size, values, memory, random);
            }
        }
    }
}

uint64_t Renewal::name_of(uint64_t seed) { return mix64(seed); }

void Renewal::draw(DType dtype, int64_t at, const std::vector<char>& values, const char* memory,
                   std::mt19937_64& random) {
    const size_t size = size_of(dtype);
    Element element{at, size, {}, {}};
    std::memcpy(element.old.data(), memory + at, size);
    const double old = as_double(element.old.data(), dtype);
    double farthest = -1;
    for (int choice = 0; choice < choices; ++choice) {
        const char* value = values.data() + random() % pool * size;
        const double distance = std::fabs(as_double(value, dtype) - old);
        if (distance <= farthest) continue;
        farthest = distance;
        std::memcpy(element.other.data(), value, size);
    }
    elements_.push_back(element);
}

void Renewal::apply(char* memory) const {
    for (const Element& element : elements_) std::memcpy(memory + element.at, element.other.data(), element.size);
}

void Renewal::undo(char* memory) const {
    for (const Element& element : elements_) std::memcpy(memory + element.at, element.old.data(), element.size);
}

void Renewal::add_ranges(std::vector<std::pair<int64_t, int64_t>>& ranges) const {
    for (const Element& element : elements_) ranges.emplace_back(element.at, static_cast<int64_t>(element.size));
}

}  // namespace strop::judge
