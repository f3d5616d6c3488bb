#include "playbook/window_helpers.h"

namespace strop::playbook {

std::string vector_walker() {
    return R"(
// step(j, lanes) for every vector of [begin, end); the last one reaches back over some that are done already.
template <class Step>
__attribute__((always_inline)) static inline void each_vector(int64_t begin, int64_t end, Step step) {
    int64_t j = begin;
    for (; j + VL <= end; j += VL) step(j, VL);
    if (j == end) return;
    if (end - begin >= VL) step(end - VL, VL);
    else step(j, end - j);
}
)";
}

std::string taps_helper() {
    return R"(
// Of a window's taps those that lie inside of an axis: `count` of them from `first` on. The first tap is at `start`.
struct Taps {
    int64_t first, count;
};
static inline Taps taps_inside(int64_t start, int64_t taps, int64_t dilation, int64_t extent) {
    const int64_t first = start < 0 ? (dilation - 1 - start) / dilation : 0;
    const int64_t fitting = start < extent ? (extent - start + dilation - 1) / dilation : 0;
    const int64_t end = fitting < taps ? fitting : taps;
    return {first, end > first ? end - first : 0};
}
)";
}

std::string every_helper() {
    return R"(
// Of the elements from `from` on, which load(place) gives a vector at a time, each STRIDE-th beginning with `phase`.
template <int STRIDE, class Load>
__attribute__((always_inline)) static inline vec every(Load load, int64_t from, int phase) {
    vec part[STRIDE], picked;
#pragma GCC unroll 4
    for (int s = 0; s < STRIDE; ++s) part[s] = load(from + s * VL);
#pragma GCC unroll 64
    for (int i = 0; i < VL; ++i) picked[i] = part[(i * STRIDE + phase) / VL][(i * STRIDE + phase) % VL];
    return picked;
}
)";
}

}  // namespace strop::playbook
