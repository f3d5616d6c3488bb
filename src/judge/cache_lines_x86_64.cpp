#include <emmintrin.h>

#include "judge/cache_lines.h"

namespace strop::judge {

bool flush_from_caches(const void* data, int64_t bytes) {
    constexpr int64_t line = 64;
    const char* first = static_cast<const char*>(data);
    for (int64_t at = 0; at < bytes; at += line) _mm_clflush(first + at);
    if (bytes > 0) _mm_clflush(first + bytes - 1);   // data need not begin with a line
    _mm_mfence();
    return true;
}

}  // namespace strop::judge
