// What is known of each four bytes that threads share: who wrote them last, who has read them since.
#pragma once

#include <stddef.h>
#include <stdint.h>

namespace emulator {

// One access. Epochs count the barriers, blocks and launches so far.
struct Record {
    uint32_t epoch = 0;  // 0: there was none
    uint32_t block = 0, clock = 0, code = 0;
    uint16_t thread = 0;
    uint8_t bytes = 0;   // a bit for each of the four
    uint8_t atomic = 0;  // not_atomic, an atomic operation, or an access through `volatile`
};

struct Cell {
    Record write;
    Record reads[2];
    uint32_t written = 0;  // a bit for each of the four bytes, above them the block's first epoch
};

constexpr size_t cell_bytes = 4;

// What a run of cells belongs to, for messages.
struct Place {
    const char* name;
    uintptr_t begin;
    size_t bytes;
};

// Checks an access to bytes of cells that begin at `first`, and records it. `shared`: of the block, whose values do not
// outlive it. `initialised`: as if all had been written.
struct Shadow {
    Cell* cells = nullptr;
    uintptr_t first = 0;
    bool shared = false, initialised = false;

    void access(uintptr_t at, size_t bytes, unsigned kind, const void* code, const Place& place) const;
    void mark_written(uintptr_t at, size_t bytes) const;
    // Of the bytes of one cell: a bit each.
    uint8_t written_in(uintptr_t at) const;
};

// The order of what has happened; see memory.h.
void shadow_launch_begins(uint32_t blocks);
void shadow_launch_ends();
void shadow_block_begins();
void shadow_block_ends();
void shadow_barrier_passed();
void shadow_fence();
// An atomic or volatile access to memory of the device: what its block knows of others, and they of it.
void synchronise(uintptr_t at, bool reads, bool writes);

}  // namespace emulator
