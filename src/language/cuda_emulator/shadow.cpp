#include "language/cuda_emulator/shadow.h"

#include <stdio.h>

#include <unordered_map>
#include <vector>

#include "language/cuda_emulator/block.h"
#include "language/cuda_emulator/finding.h"
#include "language/cuda_emulator/memory.h"

namespace emulator {

namespace {

struct Order {
    uint32_t epoch = 1, block_epoch = 1, launch_epoch = 1;
    uint32_t blocks = 0;
    bool fenced = false;                                         // this block has
    std::vector<bool> seen;                                      // blocks whose writes this one may rely on
    std::unordered_map<uintptr_t, std::vector<bool>> published;  // by location: blocks that wrote before it changed
};
Order order;

// A read of what nobody has written yet. It stands where nobody writes it without an order either: that is a race, of
// which the threads' turns have shown one side.
struct Unwritten {
    bool is_there = false;
    Place place;
    size_t offset, bytes;
    const void* code;
    Culprit reader;
};
Unwritten unwritten_shared, unwritten_global;

void note_unwritten(Unwritten& note, const Place& place, uintptr_t at, size_t bytes, const void* code) {
    if (note.is_there) return;
    note = {true,  place, static_cast<size_t>(at - place.begin),
            bytes, code,  {running_number(), {blockIdx.x, blockIdx.y, blockIdx.z}}};
}

void report_unwritten(const Unwritten& note, const char* memory, const char* when) {
    if (!note.is_there) return;
    blame(note.reader);
    end_with_finding("uninitialised", note.code, "a read of %zu bytes at byte %zu of %s%s, which nobody has written%s,",
                     note.bytes, note.offset, memory, note.place.name, when);
}

// Nobody can have seen both in another order.
bool is_ordered(const Record& before, bool shared) {
    if (before.epoch < order.launch_epoch || before.epoch == 0) return true;
    if (before.epoch < order.block_epoch)
        return shared || (before.block < order.seen.size() && order.seen[before.block]);
    if (before.epoch < order.epoch) return true;
    const unsigned me = running_number();
    if (before.thread == me) return true;
    if (before.thread / warp_size != me / warp_size) return false;
    return running()->clocks[before.thread % warp_size] >= before.clock;
}

constexpr uint8_t not_atomic = 0, atomic_operation = 1, through_volatile = 2;

bool conflicts(const Record& before, uint8_t bytes, bool atomic, bool shared) {
    return (before.bytes & bytes) && !(atomic && before.atomic) && !is_ordered(before, shared);
}

[[noreturn]] void report_race(const Record& before, bool wrote, uintptr_t at, size_t bytes, unsigned kind,
                              const void* code, const Place& place, bool shared) {
    const bool same_block = before.epoch >= order.block_epoch;
    const uint3 thread = index_of(before.thread);
    char who[96];
    if (same_block) snprintf(who, sizeof who, "thread (%u, %u, %u) of the same block", thread.x, thread.y, thread.z);
    else snprintf(who, sizeof who, "thread (%u, %u, %u) of block %u", thread.x, thread.y, thread.z, before.block);
    end_with_finding("race", code, "%s of %zu bytes at byte %zu of %s%s, which %s %s {+0x%x} with no %s between,",
                     kind & atomic_access  ? "an atomic"
                     : kind & write_access ? "a write"
                                           : "a read",
                     bytes, static_cast<size_t>(at - place.begin), shared ? "shared " : "", place.name, who,
                     wrote ? before.atomic == atomic_operation ? "changed by an atomic" : "wrote" : "read", before.code,
                     same_block ? "barrier" : "order of blocks");
}

Record record_of(uint8_t bytes, uint8_t atomic, const void* code) {
    Record made;
    const unsigned me = running_number();
    made.epoch = order.epoch;
    made.block = running_block();
    made.clock = running()->clocks[me % warp_size];
    made.code = offset_of(code) - 1;
    made.thread = static_cast<uint16_t>(me);
    made.bytes = bytes;
    made.atomic = atomic;
    return made;
}

// One whose order is already settled makes room.
void keep_read(Cell& cell, const Record& read, bool shared) {
    for (Record& kept : cell.reads)
        if (kept.epoch == read.epoch && kept.thread == read.thread && kept.block == read.block) {
            const uint8_t bytes = kept.bytes;
            kept = read;
            kept.bytes |= bytes;
            return;
        }
    for (Record& kept : cell.reads)
        if (is_ordered(kept, shared)) {
            kept = read;
            return;
        }
}

uint8_t written(const Cell& cell, bool shared) {
    if (shared && cell.written >> 4 != order.block_epoch) return 0;
    return cell.written & 15;
}

void set_written(Cell& cell, uint8_t bytes, bool shared) {
    cell.written = static_cast<uint32_t>(written(cell, shared) | bytes) | (shared ? order.block_epoch << 4 : 0);
}

}  // namespace

void Shadow::access(uintptr_t at, size_t bytes, unsigned kind, const void* code, const Place& place) const {
    const bool writes = kind & (write_access | atomic_access), reads = !(kind & write_access);
    // Legacy code of warps that wait for each other by `volatile` alone is a race, flags between blocks are not.
    const uint8_t atomic = kind & atomic_access                  ? atomic_operation
                           : !shared && (kind & volatile_access) ? through_volatile
                                                                 : not_atomic;
    const uintptr_t end = at + bytes;
    for (uintptr_t next = at; next < end;) {
        const uintptr_t cell_begin = first + (next - first) / cell_bytes * cell_bytes;
        const uintptr_t stop = end < cell_begin + cell_bytes ? end : cell_begin + cell_bytes;
        const uint8_t mask = static_cast<uint8_t>(((1u << (stop - next)) - 1) << (next - cell_begin));
        Cell& cell = cells[(next - first) / cell_bytes];
        if (reads && !initialised && (written(cell, shared) & mask) != mask)
            note_unwritten(shared ? unwritten_shared : unwritten_global, place, at, bytes, code);
        // Two blocks that write one place: what the first has written is lost, and a flag has one writer.
        const bool lost = writes && atomic == through_volatile && cell.write.atomic == through_volatile &&
                          cell.write.block != running_block() && conflicts(cell.write, mask, false, shared);
        if (lost || conflicts(cell.write, mask, atomic, shared))
            report_race(cell.write, true, at, bytes, kind, code, place, shared);
        const Record me = record_of(mask, atomic, code);
        if (writes) {
            for (Record& read : cell.reads) {
                if (conflicts(read, mask, atomic, shared))
                    report_race(read, false, at, bytes, kind, code, place, shared);
                read.epoch = 0;
            }
            cell.write = me;
            set_written(cell, mask, shared);
        } else {
            keep_read(cell, me, shared);
        }
        next = stop;
    }
}

void Shadow::mark_written(uintptr_t at, size_t bytes) const {
    for (uintptr_t next = at; next < at + bytes; ++next)
        set_written(cells[(next - first) / cell_bytes], static_cast<uint8_t>(1u << (next - first) % cell_bytes),
                    shared);
}

uint8_t Shadow::written_in(uintptr_t at) const { return written(cells[(at - first) / cell_bytes], shared); }

void shadow_launch_begins(uint32_t blocks) {
    order.launch_epoch = ++order.epoch;
    order.blocks = blocks;
    order.published.clear();
}

void shadow_launch_ends() { report_unwritten(unwritten_global, "", ""); }
void shadow_block_ends() { report_unwritten(unwritten_shared, "shared ", " in this block"); }

void shadow_block_begins() {
    order.block_epoch = ++order.epoch;
    order.fenced = false;
    order.seen.clear();
}

void shadow_barrier_passed() {
    shadow_block_ends();
    ++order.epoch;
}

void shadow_fence() { order.fenced = true; }

void synchronise(uintptr_t at, bool reads, bool writes) {
    auto found = order.published.find(at);
    if (reads && found != order.published.end()) {
        if (order.seen.size() < order.blocks) order.seen.resize(order.blocks);
        for (size_t i = 0; i < found->second.size(); ++i)
            if (found->second[i]) order.seen[i] = true;
    }
    if (!writes || !order.fenced) return;
    std::vector<bool>& known = order.published[at];
    if (known.size() < order.blocks) known.resize(order.blocks);
    for (size_t i = 0; i < order.seen.size(); ++i)
        if (order.seen[i]) known[i] = true;
    known[running_block()] = true;
}

}  // namespace emulator
