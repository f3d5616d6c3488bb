// What a machine has, and what was measured of its ceilings. Plain data; device/ fills it in.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

namespace strop {

struct CacheLevel {
    int level = 1;
    int64_t bytes = 0;                 // of one instance
    int shared_by = 1;                 // cores that share an instance
    double read_bytes_per_second = 0;  // all cores together; 0: not measured
};

struct Ceilings {
    double fma_flops_one_core = 0;  // float32 FLOP/s, register-resident fused multiply-adds
    double fma_flops_all_cores = 0;
    double memory_read = 0;  // bytes/s, all cores, arrays far larger than the last cache
    double memory_copy = 0;  // bytes/s read plus written, streaming stores
    double memory_copy_one_core = 0;
};

struct Machine {
    std::string cpu;           // "AMD EPYC 7B13"
    std::string architecture;  // "x86_64", "aarch64"
    std::string isa;           // "avx512", "avx2", "sse2", "neon"
    std::string target;        // what of it kernels may use, "cpu-avx2" (device/target.h); empty: all
    int vector_bytes = 16;     // widest vector register that kernels should use
    int vector_registers = 16;
    int cores = 1;  // that this process may run on
    int64_t memory_bytes = 0;
    int64_t page_bytes = 4096;
    std::vector<CacheLevel> caches;  // data caches, level 1 first
    Ceilings ceilings;
    std::string fingerprint;  // hash of what the ceilings depend on; the key of their cache

    int64_t cache_bytes(int level) const {  // 0 when there is no such level
        for (const CacheLevel& cache : caches)
            if (cache.level == level) return cache.bytes;
        return 0;
    }
    CacheLevel last_cache() const {  // of no bytes: not known
        CacheLevel last{0};
        for (const CacheLevel& cache : caches)
            if (cache.bytes > last.bytes) last = cache;
        return last;
    }
    int64_t last_cache_bytes() const { return last_cache().bytes; }
};

}  // namespace strop
