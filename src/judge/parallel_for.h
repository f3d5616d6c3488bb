// A loop on all cores. It includes nothing else of ours, so that the process of a kernel can have it too.
#pragma once

#include <sched.h>

#include <algorithm>
#include <cstdint>
#include <thread>
#include <vector>

namespace strop::judge {

// Where the calling thread may run when it shares no core with another process (OneCore in cores.h); null: it shares
// none.
inline thread_local const cpu_set_t* unshared_cores = nullptr;

// Runs body(begin, end) over [0, count) in chunks on all cores; serial when small.
template <typename Body>
void parallel_for(int64_t count, int64_t grain, const Body& body) {
    if (count / grain <= 1) return body(int64_t{0}, count);  // to ask for the cores is a file to read
    int64_t threads = std::min<int64_t>(std::max(1u, std::thread::hardware_concurrency()), count / grain);
    if (threads <= 1) return body(int64_t{0}, count);
    std::vector<std::thread> pool;
    int64_t chunk = (count + threads - 1) / threads;
    for (int64_t begin = 0; begin < count; begin += chunk)
        pool.emplace_back([&body, begin, end = std::min(count, begin + chunk), cores = unshared_cores] {
            if (cores) (void)::sched_setaffinity(0, sizeof *cores, cores);
            body(begin, end);
        });
    for (std::thread& thread : pool) thread.join();
}

}  // namespace strop::judge
