// Measures the ceilings of a machine: fused multiply-adds, reads from each cache and from memory, copies.
// Not part of the library: ceilings.cpp compiles it at run time for this very machine, with the compiler and
// the options that kernels get, so that one source serves every instruction set.
//
//   ceilings_main CPU,CPU,... MEMORY_BYTES CACHE_WORKING_SET...      (working sets in bytes, for each core)
//
// Prints "name value" lines in FLOP/s and bytes/s. -D: VECTOR_BYTES, CHAINS (independent accumulators) and
// STREAM(value, pointer), the store that goes around the caches.
#include <pthread.h>
#include <sched.h>
#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>
#include <thread>
#include <vector>

namespace {

constexpr int rounds = 25, rounds_of_long = 9;  // a long round sees quiet and loud moments by itself
constexpr double long_round_seconds = 0.03;
constexpr size_t vector_bytes = VECTOR_BYTES;
constexpr int chains = CHAINS;

typedef float Floats __attribute__((vector_size(VECTOR_BYTES)));
typedef int64_t Words __attribute__((vector_size(VECTOR_BYTES)));
typedef int64_t Half __attribute__((vector_size(VECTOR_BYTES / 2)));  // the widest stores are not always the fastest

// Keeps a value alive without a store.
template <typename T>
void keep(const T& value) {
    asm volatile("" : : "m"(value) : "memory");
}

// Returns the floating-point operations done.
__attribute__((noinline)) double multiply_add(int64_t steps) {
    Floats sums[chains] = {};
    Floats factor = {}, addend = {};
    for (size_t lane = 0; lane < vector_bytes / sizeof(float); ++lane) {
        factor[lane] = 0.999999f;
        addend[lane] = 1e-6f;
    }
    asm volatile("" : "+m"(factor), "+m"(addend));
    for (int64_t step = 0; step < steps; ++step) {
#pragma GCC unroll 32
        for (int chain = 0; chain < chains; ++chain) sums[chain] = sums[chain] * factor + addend;
    }
    for (const Floats& sum : sums) keep(sum);
    return 2.0 * chains * static_cast<double>(vector_bytes / sizeof(float)) * static_cast<double>(steps);
}

// Reads `bytes` (a multiple of eight vectors) `times` times.
__attribute__((noinline)) void read_all(const char* data, size_t bytes, int64_t times) {
    constexpr int streams = 8;
    const Words* words = reinterpret_cast<const Words*>(data);
    Words seen[streams] = {};
    for (int64_t time = 0; time < times; ++time) {
        for (size_t i = 0; i < bytes / vector_bytes; i += streams) {
#pragma GCC unroll 8
            for (size_t stream = 0; stream < streams; ++stream) seen[stream] |= words[i + stream];
        }
        asm volatile("" : : : "memory");
    }
    for (const Words& word : seen) keep(word);
}

template <typename Vector>
__attribute__((noinline)) void copy_all(const char* from, char* to, size_t bytes) {
    const Vector* source = reinterpret_cast<const Vector*>(from);
    Vector* target = reinterpret_cast<Vector*>(to);
    for (size_t i = 0; i < bytes / sizeof(Vector); ++i) STREAM(source[i], target + i);
}

struct Buffer {
    explicit Buffer(size_t size) : bytes(size) {
        void* pages = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (pages == MAP_FAILED) {
            std::fprintf(stderr, "cannot map %zu bytes\n", bytes);
            std::exit(1);
        }
        madvise(pages, bytes, MADV_HUGEPAGE);
        data = static_cast<char*>(pages);
    }
    size_t bytes;
    char* data;
};

// Runs `work(thread)` on `count` pinned threads that start together; seconds from the first start to the last
// end.
double run_together(const std::vector<int>& cpus, size_t count, const std::function<void(size_t)>& work) {
    using Clock = std::chrono::steady_clock;
    std::atomic<size_t> ready{0};
    std::vector<Clock::time_point> starts(count), ends(count);
    std::vector<std::thread> threads;
    for (size_t thread = 0; thread < count; ++thread) {
        threads.emplace_back([&, thread] {
            cpu_set_t set;
            CPU_ZERO(&set);
            CPU_SET(static_cast<size_t>(cpus[thread]), &set);
            pthread_setaffinity_np(pthread_self(), sizeof set, &set);
            for (ready.fetch_add(1); ready.load() < count;) sched_yield();
            starts[thread] = Clock::now();
            work(thread);
            ends[thread] = Clock::now();
        });
    }
    for (std::thread& thread : threads) thread.join();
    return std::chrono::duration<double>(*std::max_element(ends.begin(), ends.end()) -
                                         *std::min_element(starts.begin(), starts.end()))
        .count();
}

struct Test {
    std::string name;
    std::function<double()> rate;  // measures once
    std::vector<double> rates;
    double seconds = 0;  // that the last one took
};

void measure(Test& test) {
    const auto start = std::chrono::steady_clock::now();
    test.rates.push_back(test.rate());
    test.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

// Others on the machine only ever slow a round down, so the upper quartile is nearer to the ceiling than the
// median.
double upper_quartile(std::vector<double> values) {
    std::sort(values.begin(), values.end());
    return values[values.size() * 3 / 4];
}

std::vector<Test> all_tests(const std::vector<int>& cpus, const std::vector<Buffer>& memory,
                            const std::vector<size_t>& working_sets) {
    size_t cores = cpus.size();
    auto multiply = [&cpus](size_t count) {
        std::vector<double> flops(count);
        double seconds = run_together(cpus, count, [&](size_t t) { flops[t] = multiply_add(1'000'000); });
        return flops[0] * static_cast<double>(count) / seconds;
    };
    auto read = [&cpus, &memory](size_t count, size_t bytes, int64_t times) {
        double seconds = run_together(cpus, count, [&](size_t t) { read_all(memory[t].data, bytes, times); });
        return static_cast<double>(bytes) * static_cast<double>(times) * static_cast<double>(count) / seconds;
    };
    auto copy = [&cpus, &memory](size_t count, auto how) {
        size_t half = memory[0].bytes / 2;
        double seconds = run_together(cpus, count, [&](size_t t) { how(memory[t].data, memory[t].data + half, half); });
        return 2.0 * static_cast<double>(half) * static_cast<double>(count) / seconds;
    };
    std::vector<Test> tests = {
        {"fma_one_core", [=] { return multiply(1); }, {}},
        {"fma_all_cores", [=] { return multiply(cores); }, {}},
        {"memory_read", [=, bytes = memory[0].bytes] { return read(cores, bytes, 1); }, {}},
        {"memory_copy", [=] { return copy(cores, copy_all<Words>); }, {}},
        {"memory_copy_by_halves", [=] { return copy(cores, copy_all<Half>); }, {}},
        {"memory_copy_one_core", [=] { return copy(1, copy_all<Words>); }, {}},
        {"memory_copy_one_core_by_halves", [=] { return copy(1, copy_all<Half>); }, {}},
    };
    for (size_t i = 0; i < working_sets.size(); ++i) {
        size_t bytes = std::min(working_sets[i], memory[0].bytes);
        int64_t times = std::max<int64_t>(2, static_cast<int64_t>((size_t{160} << 20) / bytes));
        tests.push_back({"cache" + std::to_string(i),
                         [=] {
                             read(cores, bytes, 1);  // brings the working set in
                             return read(cores, bytes, times);
                         },
                         {}});
    }
    return tests;
}

std::vector<int> parse_cpus(const char* text) {
    std::vector<int> cpus;
    for (char* end = nullptr; *text; text = *end ? end + 1 : end)
        cpus.push_back(static_cast<int>(std::strtol(text, &end, 10)));
    return cpus;
}

}  // namespace

int main(int count, char** arguments) {
    if (count < 3) return 2;
    std::vector<int> cpus = parse_cpus(arguments[1]);
    constexpr size_t grain = 16 * vector_bytes;
    size_t each = std::strtoull(arguments[2], nullptr, 10) / cpus.size() / grain * grain;
    std::vector<size_t> working_sets;
    for (int i = 3; i < count; ++i)
        working_sets.push_back(std::max<size_t>(grain, std::strtoull(arguments[i], nullptr, 10) / grain * grain));

    std::vector<Buffer> memory;
    for (size_t i = 0; i < cpus.size(); ++i) memory.emplace_back(each);
    // First touched by the thread that uses it, so that it lies in that thread's memory node.
    run_together(cpus, cpus.size(), [&](size_t t) { std::fill_n(memory[t].data, memory[t].bytes, 'x'); });

    std::vector<Test> tests = all_tests(cpus, memory, working_sets);
    for (int round = 0; round < rounds; ++round)
        for (Test& test : tests)
            if (round < rounds_of_long || test.seconds < long_round_seconds) measure(test);
    for (const Test& test : tests) std::printf("%s %.6g\n", test.name.c_str(), upper_quartile(test.rates));
}
