#include <cpuid.h>
#include <immintrin.h>

#include "judge/cache_lines.h"

namespace strop::judge {

namespace {

constexpr int64_t line = 64;

bool has_clflushopt() {
    unsigned a = 0, b = 0, c = 0, d = 0;
    return __get_cpuid_count(7, 0, &a, &b, &c, &d) && (b & bit_CLFLUSHOPT);
}

// Flushes wait for each other.
void flush_in_order(const char* first, int64_t bytes) {
    for (int64_t at = 0; at < bytes; at += line) _mm_clflush(first + at);
}

__attribute__((target("clflushopt"))) void flush_in_any_order(const char* first, int64_t bytes) {
    for (int64_t at = 0; at < bytes; at += line) _mm_clflushopt(const_cast<char*>(first + at));
}

}  // namespace

bool flush_from_caches(const void* data, int64_t bytes) {
    static const auto flush = has_clflushopt() ? flush_in_any_order : flush_in_order;
    const char* first = static_cast<const char*>(data);
    flush(first, bytes);
    if (bytes > 0) _mm_clflush(first + bytes - 1);  // data need not begin with a line
    _mm_mfence();
    return true;
}

void fill_past_caches(void* data, unsigned char value, int64_t bytes) {
    constexpr int64_t width = sizeof(__m128i);
    char* at = static_cast<char*>(data);
    char* const end = at + bytes;
    const __m128i values = _mm_set1_epi8(static_cast<char>(value));
    for (; at < end && reinterpret_cast<uintptr_t>(at) % width != 0; ++at) *at = static_cast<char>(value);
    for (; end - at >= width; at += width) _mm_stream_si128(reinterpret_cast<__m128i*>(at), values);
    for (; at < end; ++at) *at = static_cast<char>(value);
    _mm_sfence();
}

}  // namespace strop::judge
