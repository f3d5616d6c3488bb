#include <emmintrin.h>

#include "judge/cache_lines.h"

namespace strop::judge {

bool flush_from_caches(const void* data, int64_t bytes) {
    constexpr int64_t line = 64;
    const char* first = static_cast<const char*>(data);
    for (int64_t at = 0; at < bytes; at += line) _mm_clflush(first + at);
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
