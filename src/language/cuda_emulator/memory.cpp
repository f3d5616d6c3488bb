#include "language/cuda_emulator/memory.h"

#include <link.h>
#include <stdlib.h>
#include <string.h>

#include <vector>

#include <emulator/atomics.h>
#include <emulator/launch.h>

#include "language/cuda_emulator/block.h"
#include "language/cuda_emulator/finding.h"
#include "language/cuda_emulator/shadow.h"

// Ends of the sections of the blocks' variables and of the indices, by the linker.
extern "C" {
extern char __start_strop_shared[] __attribute__((visibility("hidden")));
extern char __stop_strop_shared[] __attribute__((visibility("hidden")));
extern char __start_strop_indices[] __attribute__((visibility("hidden")));
extern char __stop_strop_indices[] __attribute__((visibility("hidden")));
}

namespace emulator {

namespace {

constexpr size_t most_dynamic = 227 << 10, most_static = 48 << 10;
constexpr size_t guard = 4096, alignment = 256;  // around arrays of the device
constexpr uintptr_t near = 1 << 20;              // so far from an array a stray access is still told by its name
constexpr int unwritten = 0xff;                  // NaN in every floating type

__attribute__((section("strop_shared"), aligned(1024), used)) char dynamic_memory[most_dynamic];

// An array of the device.
struct Region {
    const char* name;
    uintptr_t begin, end;
    bool writable;
    Shadow shadow;
    void* whole = nullptr;  // what was allocated
};

std::vector<Region> regions;
size_t last_region = 0;
std::vector<Place> shared_places;
size_t last_place = 0;
Shadow shared_shadow;
size_t dynamic_bytes = 0, static_bytes = 0;
uintptr_t parameters_begin = 0, parameters_end = 0;

// What the source keeps outside of functions, and its constants.
struct Segment {
    uintptr_t begin, end;
    bool writable;
    Shadow shadow;
};
std::vector<Segment> segments;

uintptr_t number(const void* at) { return reinterpret_cast<uintptr_t>(at); }
bool in(uintptr_t at, const char* begin, const char* end) { return at >= number(begin) && at < number(end); }

Cell* new_cells(size_t bytes) {
    void* cells = calloc(bytes / cell_bytes + 2, sizeof(Cell));
    if (!cells) end_with_finding("emulator", nullptr, "no memory to watch %zu bytes", bytes);
    return static_cast<Cell*>(cells);
}

void find_segments() {
    if (!segments.empty()) return;
    dl_iterate_phdr(
        [](dl_phdr_info* info, size_t, void*) {
            if (info->dlpi_addr != library_base()) return 0;
            for (int i = 0; i < info->dlpi_phnum; ++i) {
                const ElfW(Phdr)& part = info->dlpi_phdr[i];
                if (part.p_type != PT_LOAD) continue;
                Segment segment{info->dlpi_addr + part.p_vaddr,
                                info->dlpi_addr + part.p_vaddr + part.p_memsz,
                                (part.p_flags & PF_W) != 0,
                                {}};
                if (segment.writable) segment.shadow = {new_cells(part.p_memsz), segment.begin, false, true};
                segments.push_back(segment);
            }
            return 1;
        },
        nullptr);
}

const char* verb(unsigned kind) {
    return kind & atomic_access ? "an atomic" : kind & write_access ? "a write" : "a read";
}

// "4 bytes behind the end of y (1024 bytes)"
[[noreturn]] void report_outside(uintptr_t at, size_t bytes, unsigned kind, const void* code, const Place* places,
                                 size_t count, const char* memory) {
    const Place* nearest = nullptr;
    uintptr_t distance = near;
    for (size_t i = 0; i < count; ++i) {
        const uintptr_t end = places[i].begin + places[i].bytes;
        const uintptr_t away = at < places[i].begin ? places[i].begin - at : at >= end ? at - end : 0;
        if (away < distance) {
            distance = away;
            nearest = &places[i];
        }
    }
    if (!nearest)
        end_with_finding("out of bounds", code, "%s of %zu bytes at %p, which is in no %s", verb(kind), bytes,
                         reinterpret_cast<void*>(at), memory);
    const uintptr_t end = nearest->begin + nearest->bytes;
    if (at < nearest->begin)
        end_with_finding("out of bounds", code, "%s of %zu bytes that begins %zu bytes before %s (%zu bytes)",
                         verb(kind), bytes, static_cast<size_t>(nearest->begin - at), nearest->name, nearest->bytes);
    if (at >= end)
        end_with_finding("out of bounds", code,
                         "%s of %zu bytes that begins %zu bytes behind the end of %s (%zu bytes)", verb(kind), bytes,
                         static_cast<size_t>(at - end), nearest->name, nearest->bytes);
    end_with_finding("out of bounds", code, "%s of %zu bytes that goes beyond the end of %s (%zu bytes)", verb(kind),
                     bytes, nearest->name, nearest->bytes);
}

void check_shared(uintptr_t at, size_t bytes, unsigned kind, const void* code) {
    const auto inside = [&](const Place& place) {
        return at >= place.begin && at + bytes <= place.begin + place.bytes;
    };
    if (last_place >= shared_places.size() || !inside(shared_places[last_place])) {
        last_place = 0;
        while (last_place < shared_places.size() && !inside(shared_places[last_place])) ++last_place;
        if (last_place == shared_places.size())
            report_outside(at, bytes, kind, code, shared_places.data(), shared_places.size(),
                           "shared variable of this block");
    }
    shared_shadow.access(at, bytes, kind, code, shared_places[last_place]);
}

Region* region_around(uintptr_t at) {
    if (last_region < regions.size() && at >= regions[last_region].begin && at < regions[last_region].end)
        return &regions[last_region];
    for (size_t i = 0; i < regions.size(); ++i)
        if (at >= regions[i].begin && at < regions[i].end) {
            last_region = i;
            return &regions[i];
        }
    return nullptr;
}

[[noreturn]] void report_outside_regions(uintptr_t at, size_t bytes, unsigned kind, const void* code) {
    std::vector<Place> places;
    for (const Region& region : regions) places.push_back({region.name, region.begin, region.end - region.begin});
    report_outside(at, bytes, kind, code, places.data(), places.size(), "array of the device");
}

void check_segments(uintptr_t at, size_t bytes, unsigned kind, const void* code) {
    for (const Segment& segment : segments) {
        if (at < segment.begin || at + bytes > segment.end) continue;
        if (segment.writable) {
            if (kind & (atomic_access | volatile_access))
                synchronise(at, !(kind & write_access), kind & (write_access | atomic_access));
            segment.shadow.access(at, bytes, kind, code, {"a variable of the source", at, bytes});
        } else if (kind & (write_access | atomic_access)) {
            end_with_finding("read-only", code, "%s of %zu bytes to a constant", verb(kind), bytes);
        }
        return;
    }
    report_outside_regions(at, bytes, kind, code);
}

void check_global(uintptr_t at, size_t bytes, unsigned kind, const void* code) {
    Region* region = region_around(at);
    if (!region) return check_segments(at, bytes, kind, code);
    if (at + bytes > region->end) report_outside_regions(at, bytes, kind, code);
    const bool writes = kind & (write_access | atomic_access);
    if (writes && !region->writable)
        end_with_finding("read-only", code, "%s of %zu bytes to the input %s", verb(kind), bytes, region->name);
    if (kind & (atomic_access | volatile_access)) synchronise(at, !(kind & write_access), writes);
    if (region->shadow.cells)
        region->shadow.access(at, bytes, kind, code, {region->name, region->begin, region->end - region->begin});
}

void* add_region(const char* name, size_t bytes, bool writable) {
    char* whole = static_cast<char*>(malloc(bytes + 2 * guard + alignment));
    if (!whole) end_with_finding("emulator", nullptr, "no memory for %zu bytes of the device", bytes);
    const uintptr_t begin = (number(whole) + guard + alignment - 1) / alignment * alignment;
    Region region{name, begin, begin + bytes, writable, {}, whole};
    if (writable) {
        region.shadow = {new_cells(bytes), begin, false, false};
        memset(reinterpret_cast<void*>(begin), unwritten, bytes);
    }
    regions.push_back(region);
    return reinterpret_cast<void*>(begin);
}

void remove_region(size_t i) {
    free(regions[i].shadow.cells);
    free(regions[i].whole);
    regions.erase(regions.begin() + static_cast<long>(i));
}

}  // namespace

void check_access(const void* address, size_t bytes, unsigned kind, const void* code) {
    const uintptr_t at = number(address);
    if (!running()) {
        if (region_around(at))
            end_with_finding("host access", code, "%s of %zu bytes in %s by code of the host", verb(kind), bytes,
                             region_around(at)->name);
        return;
    }
    if (is_in_any_stack(address)) {
        if (is_in_own_stack(address)) return;
        end_with_finding("out of bounds", code, "%s of %zu bytes in a variable of another thread", verb(kind), bytes);
    }
    if (in(at, __start_strop_indices, __stop_strop_indices)) return;
    if (in(at, __start_strop_shared, __stop_strop_shared)) return check_shared(at, bytes, kind, code);
    if (at >= parameters_begin && at < parameters_end) return;
    check_global(at, bytes, kind, code);
    // Who waits for another thread of its block by reading again and again lets it run.
    static unsigned volatile_reads = 0;
    if ((kind & volatile_access) && ++volatile_reads % 64 == 0) let_others_run();
}

void check_atomic(const void* at, size_t bytes, const void* code) { check_access(at, bytes, atomic_access, code); }

void shared_variable(const char* name, const void* at, size_t bytes, const void* code) {
    for (const Place& place : shared_places)
        if (place.begin == number(at)) return;
    shared_places.push_back({name, number(at), bytes});
    static_bytes += bytes;
    if (static_bytes > most_static)
        end_with_finding("launch limit", code, "%zu bytes of static shared memory; a block may have 49152",
                         static_bytes);
    memset(const_cast<void*>(at), unwritten, bytes);
}

char* dynamic_shared_memory() { return dynamic_memory; }

void launch_begins(size_t asked_bytes, const void* parameters, size_t parameter_bytes, uint32_t blocks) {
    find_segments();
    const uintptr_t first = number(__start_strop_shared);
    if (!shared_shadow.cells) shared_shadow = {new_cells(number(__stop_strop_shared) - first), first, true, false};
    parameters_begin = number(parameters);
    parameters_end = parameters_begin + parameter_bytes;
    dynamic_bytes = asked_bytes;
    static_bytes = 0;
    shared_places.clear();
    if (dynamic_bytes > 0) shared_places.push_back({"the dynamic memory", number(dynamic_memory), dynamic_bytes});
    shadow_launch_begins(blocks);
}

void launch_ends() {
    shadow_launch_ends();
    parameters_begin = parameters_end = 0;
}

void block_begins() {
    for (const Place& place : shared_places) memset(reinterpret_cast<void*>(place.begin), unwritten, place.bytes);
    shadow_block_begins();
}

void block_ends() { shadow_block_ends(); }
void barrier_passed() { shadow_barrier_passed(); }
void fence() { shadow_fence(); }

void copy_in(Tensor* tensors, int count) {
    for (int i = 0; i < count; ++i) {
        Tensor& tensor = tensors[i];
        tensor.device = add_region(tensor.name, static_cast<size_t>(tensor.bytes), tensor.is_output);
        if (!tensor.is_output && tensor.bytes > 0)
            memcpy(tensor.device, tensor.host, static_cast<size_t>(tensor.bytes));
    }
}

// What was not written stays as it is, so that the judge sees it.
void copy_out(const Tensor* tensors, int count) {
    for (int i = 0; i < count; ++i) {
        if (!tensors[i].is_output) continue;
        const Region* region = region_around(number(tensors[i].device));
        if (!region) continue;  // of no bytes
        for (uintptr_t at = region->begin; at < region->end; at += cell_bytes) {
            const uint8_t written = region->shadow.written_in(at);
            char* host = static_cast<char*>(tensors[i].host) + (at - region->begin);
            for (size_t byte = 0; byte < cell_bytes; ++byte)
                if (written >> byte & 1) host[byte] = reinterpret_cast<const char*>(at)[byte];
        }
    }
    for (int i = 0; i < count; ++i)
        for (size_t k = 0; k < regions.size(); ++k)
            if (regions[k].begin == number(tensors[i].device)) {
                remove_region(k);
                break;
            }
}

void* allocate_for_host(size_t bytes) { return add_region("an array of cudaMalloc", bytes, true); }

void free_for_host(void* memory, const void* code) {
    if (!memory) return;
    for (size_t i = 0; i < regions.size(); ++i)
        if (regions[i].begin == number(memory) && strcmp(regions[i].name, "an array of cudaMalloc") == 0)
            return remove_region(i);
    end_with_finding("out of bounds", code, "cudaFree of what cudaMalloc did not give, or of what was freed before");
}

// Either side may be of the host, or a variable of the source.
void check_range(const void* at, size_t bytes, bool writes, const void* code) {
    const Region* region = region_around(number(at));
    if (!region || bytes == 0) return;
    if (number(at) + bytes > region->end)
        report_outside_regions(number(at), bytes, writes ? write_access : read_access, code);
    if (!writes) return;
    if (!region->writable)
        end_with_finding("read-only", code, "a copy or fill of %zu bytes to the input %s", bytes, region->name);
    region->shadow.mark_written(number(at), bytes);
}

void fill(void* at, int value, size_t bytes, const void* code) {
    if (!region_around(number(at)) && bytes > 0) report_outside_regions(number(at), bytes, write_access, code);
    check_range(at, bytes, true, code);
    memset(at, value, bytes);
}

void copy(void* to, const void* from, size_t bytes, const void* code) {
    check_range(from, bytes, false, code);
    check_range(to, bytes, true, code);
    memcpy(to, from, bytes);
}

}  // namespace emulator
