#include "judge/cache_lines.h"

namespace strop::judge {

bool flush_from_caches(const void*, int64_t) { return false; }

}  // namespace strop::judge
