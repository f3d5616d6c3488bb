// What the compiler calls at every access of a source that is compiled with -fsanitize=thread (none of
// ThreadSanitizer's run-time is there), and where -fsanitize=array-bounds,alignment finds something.
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "language/cuda_emulator/block.h"
#include "language/cuda_emulator/finding.h"
#include "language/cuda_emulator/memory.h"

namespace {

using namespace emulator;

// As UndefinedBehaviorSanitizer's calls have them.
struct SourceLocation {
    const char* file;
    uint32_t line, column;
};
struct TypeName {
    uint16_t kind, info;
    char name[1];
};
struct OutOfBounds {
    SourceLocation location;
    const TypeName* array;
    const TypeName* index;
};
struct TypeMismatch {
    SourceLocation location;
    const TypeName* type;
    unsigned char log_alignment, kind;
};

const char* base_name(const char* path) {
    const char* slash = path ? strrchr(path, '/') : nullptr;
    return slash ? slash + 1 : path ? path : "?";
}

}  // namespace

#define ACCESSES(bytes)                                                                                                \
    void __tsan_read##bytes(void* at) { check_access(at, bytes, read_access, __builtin_return_address(0)); }           \
    void __tsan_write##bytes(void* at) { check_access(at, bytes, write_access, __builtin_return_address(0)); }         \
    void __tsan_unaligned_read##bytes(void* at) { check_access(at, bytes, read_access, __builtin_return_address(0)); } \
    void __tsan_unaligned_write##bytes(void* at) {                                                                     \
        check_access(at, bytes, write_access, __builtin_return_address(0));                                            \
    }                                                                                                                  \
    void __tsan_volatile_read##bytes(void* at) {                                                                       \
        check_access(at, bytes, read_access | volatile_access, __builtin_return_address(0));                           \
    }                                                                                                                  \
    void __tsan_volatile_write##bytes(void* at) {                                                                      \
        check_access(at, bytes, write_access | volatile_access, __builtin_return_address(0));                          \
    }                                                                                                                  \
    void __tsan_unaligned_volatile_read##bytes(void* at) {                                                             \
        check_access(at, bytes, read_access | volatile_access, __builtin_return_address(0));                           \
    }                                                                                                                  \
    void __tsan_unaligned_volatile_write##bytes(void* at) {                                                            \
        check_access(at, bytes, write_access | volatile_access, __builtin_return_address(0));                          \
    }

extern "C" {

ACCESSES(1)
ACCESSES(2)
ACCESSES(4)
ACCESSES(8)
ACCESSES(16)

void __tsan_init() {}
void __tsan_func_entry(void*) {}
void __tsan_func_exit() {}
void __tsan_vptr_update(void**, void*) {}
void __tsan_vptr_read(void**) {}
void __tsan_ignore_thread_begin() {}
void __tsan_ignore_thread_end() {}

void* __tsan_memcpy(void* to, const void* from, size_t bytes) {
    if (bytes == 0) return to;
    check_access(from, bytes, read_access, __builtin_return_address(0));
    check_access(to, bytes, write_access, __builtin_return_address(0));
    return memcpy(to, from, bytes);
}

void* __tsan_memmove(void* to, const void* from, size_t bytes) {
    if (bytes == 0) return to;
    check_access(from, bytes, read_access, __builtin_return_address(0));
    check_access(to, bytes, write_access, __builtin_return_address(0));
    return memmove(to, from, bytes);
}

void* __tsan_memset(void* at, int value, size_t bytes) {
    if (bytes == 0) return at;
    check_access(at, bytes, write_access, __builtin_return_address(0));
    return memset(at, value, bytes);
}

[[noreturn]] void __ubsan_handle_out_of_bounds_abort(OutOfBounds* data, uintptr_t index) {
    end_with_finding("out of bounds", nullptr, "index %td of %s at %s:%u", static_cast<ptrdiff_t>(index),
                     data->array->name, base_name(data->location.file), data->location.line);
}

[[noreturn]] void __ubsan_handle_type_mismatch_v1_abort(TypeMismatch* data, uintptr_t at) {
    end_with_finding("misaligned", nullptr, "%s at an address that is no multiple of %u (%#zx) at %s:%u",
                     data->type->name, 1u << data->log_alignment, static_cast<size_t>(at),
                     base_name(data->location.file), data->location.line);
}

}  // extern "C"
