#include "language/cuda_emulator/block.h"

#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include <map>
#include <vector>

#include <emulator/launch.h>
#include <emulator/threads.h>

#include "language/cuda_emulator/fiber.h"
#include "language/cuda_emulator/finding.h"
#include "language/cuda_emulator/memory.h"

// In a section of their own: who reads them is not looked at.
#define EMULATOR_INDEX __attribute__((section("strop_indices")))
EMULATOR_INDEX uint3 threadIdx, blockIdx;
EMULATOR_INDEX dim3 blockDim, gridDim;

namespace emulator {

namespace {

constexpr size_t stack_bytes = 640 << 10;  // a device gives a thread 512 KiB
constexpr uint64_t canary = 0x5afe5afe5afe5afe;
constexpr size_t usual_dynamic_bytes = 48 << 10, most_dynamic_bytes = 227 << 10;
constexpr unsigned most_of_grid_y_z = 65535, most_of_grid_x = 2147483647, most_of_block_z = 64;

// The launch that runs; there is one at a time.
struct Launch {
    Body body = nullptr;
    const void* arguments = nullptr;
    const void* kernel = nullptr;
    const char* name = nullptr;  // where there is no address
    std::vector<Thread> threads;
    Thread* running = nullptr;
    uint32_t block = 0;
    void* scheduler = nullptr;  // its stack
    unsigned at_barrier = 0;    // threads
    int counted = 0;            // of the last barrier
    bool moved = false;         // somebody went on in this round
};
Launch now;
char* stacks = nullptr;
std::map<const void*, size_t> allowed_dynamic_bytes;

char* stack_of(unsigned number) { return stacks + number * stack_bytes; }
unsigned number_of(const Thread& thread) { return static_cast<unsigned>(&thread - now.threads.data()); }

void return_to_scheduler() {
    Thread* me = now.running;
    emulator_switch(&me->stack_pointer, now.scheduler);
}

void wait_as(Thread::State state, const void* code) {
    now.running->state = state;
    now.running->code = code;
    return_to_scheduler();
}

// ---- meetings of a warp ----------------------------------------------------------------------------

unsigned first_of_warp(unsigned number) { return number / warp_size * warp_size; }

bool waits_for_the_same(const Thread& a, const Thread& b) {
    return a.state == Thread::State::in_warp && a.mask == b.mask &&
           (a.operation == b.operation || strcmp(a.operation, b.operation) == 0);
}

// Lanes of the mask that are there and have not left, if all of them wait for the same; else 0. Those that come last
// are looked at first.
uint32_t meeting_of(unsigned number) {
    const Thread& me = now.threads[number];
    uint32_t participants = 0;
    for (unsigned i = warp_size; i-- > 0;) {
        const unsigned other = first_of_warp(number) + i;
        if (!(me.mask >> i & 1) || other >= now.threads.size()) continue;
        const Thread& thread = now.threads[other];
        if (thread.state == Thread::State::left) continue;
        if (!waits_for_the_same(thread, me)) return 0;
        participants |= 1u << i;
    }
    return participants;
}

void end_meeting(unsigned number, uint32_t participants) {
    Thread* warp = &now.threads[first_of_warp(number)];
    uint32_t seen[warp_size] = {};
    for (unsigned i = 0; i < warp_size; ++i)
        if (participants >> i & 1)
            for (unsigned k = 0; k < warp_size; ++k)
                if (warp[i].clocks[k] > seen[k]) seen[k] = warp[i].clocks[k];
    for (unsigned i = 0; i < warp_size; ++i) {
        if (!(participants >> i & 1)) continue;
        Thread& thread = warp[i];
        memcpy(thread.clocks, seen, sizeof seen);
        ++thread.clocks[i];
        thread.participants = participants;
        for (unsigned k = 0; k < warp_size; ++k)
            if (participants >> k & 1) thread.gathered[k] = warp[k].value;
        thread.state = Thread::State::ready;
    }
    now.moved = true;
}

void meet(const char* operation, uint32_t mask, uint64_t value, unsigned source, const void* code) {
    if (!now.running) end_with_finding("divergence", code, "%s in code of the host", operation);
    Thread& me = *now.running;
    const unsigned number = number_of(me), lane = number % warp_size;
    if (!(mask >> lane & 1))
        end_with_finding("wrong participants", code, "%s with mask 0x%08x, which lane %u is not in", operation, mask,
                         lane);
    me.operation = operation;
    me.mask = mask;
    me.value = value;
    me.source = source;
    me.state = Thread::State::in_warp;
    me.code = code;
    if (const uint32_t participants = meeting_of(number)) end_meeting(number, participants);
    else return_to_scheduler();
}

// Who left may have been the last that others waited for.
void meet_without(unsigned number) {
    const unsigned first = first_of_warp(number);
    for (unsigned other = first; other < first + warp_size && other < now.threads.size(); ++other) {
        if (now.threads[other].state != Thread::State::in_warp) continue;
        if (const uint32_t participants = meeting_of(other)) end_meeting(other, participants);
    }
}

// ---- barriers of a block ---------------------------------------------------------------------------

void pass_barrier() {
    now.counted = 0;
    const Thread& first = now.threads[0];
    for (Thread& thread : now.threads) {
        if (thread.line != first.line) {
            now.running = &thread;
            end_with_finding("divergent barrier", thread.code,
                             "one thread waits at the barrier of line %d while thread 0 waits at that of line %d",
                             thread.line, first.line);
        }
        now.counted += thread.predicate != 0;
    }
    for (Thread& thread : now.threads) thread.state = Thread::State::ready;
    now.at_barrier = 0;
    now.moved = true;
    barrier_passed();
}

int wait_at_barrier(int predicate, int line, const void* code) {
    if (!now.running) end_with_finding("divergence", code, "a barrier in code of the host");
    now.running->predicate = predicate;
    now.running->line = line;
    if (++now.at_barrier == now.threads.size()) {
        now.running->state = Thread::State::at_barrier;
        now.running->code = code;
        pass_barrier();
    } else {
        wait_as(Thread::State::at_barrier, code);
    }
    return now.counted;
}

// ---- running a block -------------------------------------------------------------------------------

void fiber_main() {
    now.body(now.arguments);
    now.running->state = Thread::State::left;
    meet_without(number_of(*now.running));
    return_to_scheduler();
    __builtin_trap();
}

const char* doing(const Thread& thread, char* room, size_t size) {
    if (thread.state == Thread::State::left) return "has left the kernel";
    if (thread.state == Thread::State::in_warp)
        snprintf(room, size, "waits in %s with mask 0x%08x", thread.operation, thread.mask);
    else snprintf(room, size, "waits at the barrier of line %d", thread.line);
    return room;
}

[[noreturn]] void report_deadlock() {
    Thread* waiting = nullptr;
    for (Thread& thread : now.threads)
        if (thread.state == Thread::State::in_warp && !waiting) waiting = &thread;
    for (Thread& thread : now.threads)
        if (thread.state == Thread::State::at_barrier && !waiting) waiting = &thread;
    now.running = waiting;
    const unsigned number = number_of(*waiting);
    const Thread* missing = nullptr;
    char room[128];
    if (waiting->state == Thread::State::at_barrier) {
        for (const Thread& thread : now.threads)
            if (thread.state != Thread::State::at_barrier && !missing) missing = &thread;
        end_with_finding("divergent barrier", waiting->code,
                         "%u of %zu threads wait at the barrier of line %d, but thread %u %s", now.at_barrier,
                         now.threads.size(), waiting->line, number_of(*missing), doing(*missing, room, sizeof room));
    }
    for (unsigned i = 0; i < warp_size; ++i) {
        const unsigned other = first_of_warp(number) + i;
        if (!(waiting->mask >> i & 1) || other >= now.threads.size() || missing) continue;
        const Thread& thread = now.threads[other];
        if (!waits_for_the_same(thread, *waiting) && thread.state != Thread::State::left) missing = &thread;
    }
    if (!missing) end_with_finding("wrong participants", waiting->code, "%s never ends", waiting->operation);
    end_with_finding("wrong participants", waiting->code, "%s with mask 0x%08x waits for lane %u, which %s",
                     waiting->operation, waiting->mask, number_of(*missing) % warp_size,
                     doing(*missing, room, sizeof room));
}

void go_to(Thread& thread, unsigned number) {
    now.running = &thread;
    threadIdx = index_of(number);
    now.moved = true;
    emulator_switch(&now.scheduler, thread.stack_pointer);
    if (*reinterpret_cast<uint64_t*>(stack_of(number)) != canary)
        end_with_finding("out of bounds", nullptr, "a thread needs more than %zu KiB for its own variables",
                         stack_bytes >> 10);
}

void run_block() {
    const unsigned count = static_cast<unsigned>(now.threads.size());
    for (unsigned i = 0; i < count; ++i) {
        Thread& thread = now.threads[i];
        thread.state = Thread::State::ready;
        memset(thread.clocks, 0, sizeof thread.clocks);
        thread.clocks[i % warp_size] = 1;
        *reinterpret_cast<uint64_t*>(stack_of(i)) = canary;
        thread.stack_pointer = new_stack(stack_of(i) + stack_bytes, fiber_main);
    }
    now.at_barrier = 0;
    block_begins();
    for (unsigned left = 0; left < count;) {
        now.moved = false;
        left = 0;
        for (unsigned i = 0; i < count; ++i) {
            if (now.threads[i].state == Thread::State::ready) go_to(now.threads[i], i);
            left += now.threads[i].state == Thread::State::left;
        }
        if (!now.moved && left < count) report_deadlock();
    }
    now.running = nullptr;
    block_ends();
}

void check_limits(const Configuration& asked, const void* kernel) {
    now.kernel = kernel;
    now.name = asked.name;
    const dim3 grid = asked.grid, block = asked.block;
    const char* kind = "launch limit";
    if (uint64_t{block.x} * block.y * block.z > most_threads || block.z > most_of_block_z)
        end_with_finding(kind, nullptr, "a block of %u x %u x %u threads; it may have 1024, 64 of them in z", block.x,
                         block.y, block.z);
    if (block.x == 0 || block.y == 0 || block.z == 0)
        end_with_finding(kind, nullptr, "a block of %u x %u x %u threads", block.x, block.y, block.z);
    if (grid.x == 0 || grid.y == 0 || grid.z == 0)
        end_with_finding(kind, nullptr, "a grid of %u x %u x %u blocks, which CUDA refuses", grid.x, grid.y, grid.z);
    if (grid.x > most_of_grid_x || grid.y > most_of_grid_y_z || grid.z > most_of_grid_y_z)
        end_with_finding(kind, nullptr, "a grid of %u x %u x %u blocks; y and z may be 65535", grid.x, grid.y, grid.z);
    size_t most = usual_dynamic_bytes;
    for (const auto& [whose, bytes] : allowed_dynamic_bytes)
        if ((!kernel || whose == kernel) && bytes > most) most = bytes;
    if (asked.shared > most || asked.shared > most_dynamic_bytes)
        end_with_finding(kind, nullptr, "%zu bytes of dynamic shared memory; this kernel may have %zu", asked.shared,
                         most < most_dynamic_bytes ? most : most_dynamic_bytes);
}

void need_stacks() {
    if (stacks) return;
    void* made = mmap(nullptr, most_threads * stack_bytes, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (made == MAP_FAILED) end_with_finding("emulator", nullptr, "no memory for the stacks of threads");
    stacks = static_cast<char*>(made);
}

}  // namespace

Thread* running() { return now.running; }
unsigned running_number() { return number_of(*now.running); }
uint32_t running_block() { return now.block; }
const void* running_kernel() { return now.kernel; }
const char* running_kernel_name() { return now.name; }
bool is_in_any_stack(const void* at) {
    return stacks && at >= stacks && at < stacks + now.threads.size() * stack_bytes;
}
bool is_in_own_stack(const void* at) {
    const char* own = stack_of(running_number());
    return at >= own && at < own + stack_bytes;
}
uint3 index_of(unsigned thread) {
    return {thread % blockDim.x, thread / blockDim.x % blockDim.y, thread / (blockDim.x * blockDim.y)};
}

void launch(const Configuration& configuration, const void* kernel, Body body, const void* arguments, size_t bytes) {
    if (now.running) end_with_finding("not emulated", nullptr, "a kernel that launches kernels");
    check_limits(configuration, kernel);
    need_stacks();
    gridDim = configuration.grid;
    blockDim = configuration.block;
    now.body = body;
    now.arguments = arguments;
    now.threads.resize(blockDim.x * blockDim.y * blockDim.z);
    launch_begins(configuration.shared, arguments, bytes, gridDim.x * gridDim.y * gridDim.z);
    now.block = 0;
    for (unsigned z = 0; z < gridDim.z; ++z)
        for (unsigned y = 0; y < gridDim.y; ++y)
            for (unsigned x = 0; x < gridDim.x; ++x) {
                blockIdx = {x, y, z};
                run_block();
                ++now.block;
            }
    launch_ends();
    now.kernel = nullptr;
    now.name = nullptr;
}

void allow_dynamic_shared(const void* kernel, int bytes) {
    allowed_dynamic_bytes[kernel] = bytes > 0 ? static_cast<size_t>(bytes) : 0;
}

unsigned lane() { return running_number() % warp_size; }

uint64_t exchange(const char* operation, unsigned mask, uint64_t value, unsigned source, const void* code) {
    meet(operation, mask, value, source, code);
    const Thread& me = *now.running;
    if (source >= warp_size || !(me.participants >> source & 1))
        end_with_finding("wrong participants", code, "%s reads lane %u, which takes no part in it (mask 0x%08x)",
                         operation, source, mask);
    return me.gathered[source];
}

const uint64_t* gather(const char* operation, unsigned mask, uint64_t value, unsigned* participants, const void* code) {
    meet(operation, mask, value, lane(), code);
    *participants = now.running->participants;
    return now.running->gathered;
}

void check_width(const char* operation, int width, const void* code) {
    if (width < 1 || width > 32 || (width & (width - 1)) != 0)
        end_with_finding("shuffle width", code, "%s with width %d, which is not 1, 2, 4, 8, 16 or 32", operation,
                         width);
}

void let_others_run() {
    if (!now.running) return;
    now.running->state = Thread::State::ready;
    return_to_scheduler();
}

}  // namespace emulator

using emulator::wait_at_barrier;

void __syncthreads(int line) { wait_at_barrier(0, line, __builtin_return_address(0)); }
int __syncthreads_count(int predicate, int line) {
    return wait_at_barrier(predicate, line, __builtin_return_address(0));
}
int __syncthreads_and(int predicate, int line) {
    return wait_at_barrier(predicate, line, __builtin_return_address(0)) ==
           static_cast<int>(emulator::now.threads.size());
}
int __syncthreads_or(int predicate, int line) {
    return wait_at_barrier(predicate, line, __builtin_return_address(0)) != 0;
}
void __syncwarp(unsigned mask) { emulator::meet("__syncwarp", mask, 0, 0, __builtin_return_address(0)); }
unsigned __activemask() {
    const unsigned first = emulator::first_of_warp(emulator::running_number());
    unsigned mask = 0;
    for (unsigned i = 0; i < emulator::warp_size; ++i)
        if (first + i < emulator::now.threads.size() &&
            emulator::now.threads[first + i].state != emulator::Thread::State::left)
            mask |= 1u << i;
    return mask;
}
void __threadfence() { emulator::fence(); }
void __threadfence_system() { emulator::fence(); }
void __threadfence_block() {}
void __nanosleep(unsigned) { emulator::let_others_run(); }
void __trap() { emulator::end_with_finding("trap", __builtin_return_address(0), "the kernel gives up"); }
long long clock64() {
    static long long ticks = 0;
    return ++ticks;
}
