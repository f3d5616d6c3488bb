// Memory that no cache holds: what a call finds whose tensors were not used for long.
#pragma once

#include <cstdint>

namespace strop::judge {

// Takes the lines out of the caches of all cores, whoever has mapped the memory (CLFLUSH goes by the physical address).
// False where the processor lets only the system do that.
bool flush_from_caches(const void* data, int64_t bytes);

// Fills memory without leaving it in a cache, where the processor can.
void fill_past_caches(void* data, unsigned char value, int64_t bytes);

}  // namespace strop::judge
