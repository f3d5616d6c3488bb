#include "playbook/loop_helpers.h"

namespace strop::playbook {

std::string tail_helpers() {
    return R"(
// `lanes` is VL but at the end of a row; the compiler drops the other branch where it is a constant.
static inline vec load_part(const float* p, int64_t lanes) {
    return lanes == VL ? load(p) : load_tail(p, lanes);
}
static inline void store_part(float* p, vec v, int64_t lanes) {
    if (lanes == VL) store(p, v);
    else store_tail(p, v, lanes);
}
)";
}

std::string put_helper() {
    return R"(
// Of a tensor that nothing was aligned to.
static inline void put(float* p, vec v, int64_t lanes, bool streamed) {
    if (streamed && lanes == VL && (uintptr_t)p % sizeof(vec) == 0) stream(p, v);
    else store_part(p, v, lanes);
}
)";
}

std::string mask_helpers() {
    return R"(
static inline vmask load_mask_part(const bool* p, int64_t lanes) {
    return lanes == VL ? load_mask(p) : load_mask_tail(p, lanes);
}
static inline void store_mask_part(bool* p, vmask m, int64_t lanes) {
    if (lanes == VL) store_mask(p, m);
    else store_mask_tail(p, m, lanes);
}
)";
}

std::string product_helper() {
    return R"(
static inline float product(vec v) {
    float result = 1.0f;
    for (int i = 0; i < VL; ++i) result *= v[i];
    return result;
}
)";
}

std::string scratch_helper() {
    return R"(
// Memory of the calling thread's own, kept between calls, aligned to a cache line.
// Not inlined: clang lets values stay in the upper vector registers of AVX-512 while a thread-local variable is looked up,
// and the lookup may change them.
__attribute__((noinline)) static float* scratch(int64_t count) {
    static thread_local struct Kept {
        float* memory = nullptr;
        int64_t size = 0;
        ~Kept() { delete[] memory; }
    } kept;
    if (kept.size < count + 16) {
        delete[] kept.memory;
        kept.memory = nullptr;
        kept.size = 0;
        kept.memory = new float[count + 16];
        kept.size = count + 16;
    }
    return (float*)(((uintptr_t)kept.memory + 63) / 64 * 64);
}
)";
}

std::string walkers() {
    return R"(
// The first `lanes` lanes of v, the others `rest`.
static inline vec first(vec v, int64_t lanes, float rest) {
    if (lanes == VL) return v;
    vmask index;
    for (int i = 0; i < VL; ++i) index[i] = i;
    return select(index < (int32_t)lanes, v, splat(rest));
}

// step(u, j, lanes) for every vector of [j, end), UNROLL independent ones at a time.
template <class Step>
__attribute__((always_inline)) static inline void each_vector(int64_t j, int64_t end, Step step) {
    for (; j + UNROLL * VL <= end; j += UNROLL * VL) {
#pragma GCC unroll 16
        for (int u = 0; u < UNROLL; ++u) step(u, j + u * VL, VL);
    }
    for (; j + VL <= end; j += VL) step(0, j, VL);
    if (j < end) step(0, j, end - j);
}
)";
}

std::string aligned_walkers() {
    return R"(
// step(u, j, lanes, streamed): where y is streamed, from the first j on at which y + j is aligned to the vector, whole
// vectors are. Which it is stands fast in each loop, so that none tests it.
template <class Step>
__attribute__((always_inline)) static inline void each_aligned(const float* y, bool streamed, int64_t j,
                                                               int64_t end, Step step) {
    if (!streamed)
        return each_vector(j, end, [&](int u, int64_t at, int64_t lanes) __attribute__((always_inline)) {
            step(u, at, lanes, false);
        });
    const int64_t past = (int64_t)((uintptr_t)(y + j) / sizeof(float) % VL);
    if (past != 0 && j < end) {
        const int64_t head = end - j < VL - past ? end - j : VL - past;
        step(0, j, head, false);
        j += head;
    }
    each_vector(j, end, [&](int u, int64_t at, int64_t lanes) __attribute__((always_inline)) {
        step(u, at, lanes, lanes == VL);
    });
}

// With what each_aligned says of y.
static inline void put_aligned(float* p, vec v, int64_t lanes, bool streamed) {
    if (streamed) stream(p, v);
    else store_part(p, v, lanes);
}
)";
}

std::string strided_helpers() {
    return R"(
static inline vec load_strided(const float* p, int64_t stride, int64_t lanes) {
    vec v = {};
    if (lanes == VL)
        for (int i = 0; i < VL; ++i) v[i] = p[i * stride];
    else
        for (int i = 0; i < lanes; ++i) v[i] = p[i * stride];
    return v;
}
static inline void store_strided(float* p, vec v, int64_t stride, int64_t lanes) {
    if (lanes == VL)
        for (int i = 0; i < VL; ++i) p[i * stride] = v[i];
    else
        for (int i = 0; i < lanes; ++i) p[i * stride] = v[i];
}
)";
}

std::string group_helpers() {
    return R"(
// step(i, count, j, lanes) for every vector of columns [left, right), in groups of ROWS rows, then single rows.
template <class Step>
__attribute__((always_inline)) static inline void each_row_group(int64_t top, int64_t bottom, int64_t left,
                                                                 int64_t right, Step step) {
    int64_t i = top;
    for (; i + ROWS <= bottom; i += ROWS) {
        int64_t j = left;
        for (; j + VL <= right; j += VL) step(i, ROWS, j, VL);
        if (j < right) step(i, ROWS, j, right - j);
    }
    for (; i < bottom; ++i) {
        int64_t j = left;
        for (; j + VL <= right; j += VL) step(i, 1, j, VL);
        if (j < right) step(i, 1, j, right - j);
    }
}
)";
}

}  // namespace strop::playbook
