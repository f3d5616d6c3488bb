// Random inputs: what a tensor is filled with, from a seed, in parallel.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/problem.h"

namespace strop::judge {

// How the values of a floating input set differ from what the problem declares.
enum class Distribution {
    declared,
    scaled_up,     // ×1e3
    scaled_down,   // ×1e-3
    shifted,       // +10: means far from zero
    sparse,        // nine of ten are zero
    repeated,      // few different values
};
std::string name_of(Distribution distribution);
// Every distribution but `declared`.
const std::vector<Distribution>& unusual_distributions();

// Fills `count` elements. Integers and booleans ignore the distribution; `limit` bounds Fill::integers.
void fill_tensor(void* data, DType dtype, int64_t count, Fill fill, int64_t limit, Distribution distribution,
                 uint64_t seed);

// Runs body(begin, end) over [0, count) in chunks on all cores; serial when small.
template <typename Body>
void parallel_for(int64_t count, int64_t grain, const Body& body);

}  // namespace strop::judge

#include <algorithm>
#include <thread>

namespace strop::judge {

template <typename Body>
void parallel_for(int64_t count, int64_t grain, const Body& body) {
    int64_t threads = std::min<int64_t>(std::max(1u, std::thread::hardware_concurrency()), count / grain);
    if (threads <= 1) return body(int64_t{0}, count);
    std::vector<std::thread> pool;
    int64_t chunk = (count + threads - 1) / threads;
    for (int64_t begin = 0; begin < count; begin += chunk)
        pool.emplace_back([&body, begin, end = std::min(count, begin + chunk)] { body(begin, end); });
    for (std::thread& thread : pool) thread.join();
}

}  // namespace strop::judge
