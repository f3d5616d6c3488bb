// Every file of the fuzz targets' corpora, and every input that was a defect once, through the same functions.
#include <cstdint>
#include <cstdlib>
#include <map>
#include <new>
#include <string>

#include <gtest/gtest.h>

#include "base/file.h"

extern "C" {
int fuzz_worker(const uint8_t* data, size_t size);
int fuzz_child(const uint8_t* data, size_t size);
int fuzz_problem(const uint8_t* data, size_t size);
int fuzz_tunables(const uint8_t* data, size_t size);
int fuzz_exchange(const uint8_t* data, size_t size);
int fuzz_json_text(const uint8_t* data, size_t size);
int fuzz_assembly(const uint8_t* data, size_t size);
int fuzz_study(const uint8_t* data, size_t size);
}

namespace {

// Time without a clock: what a target allocates. Beyond the bound memory is refused, and so a search without end ends.
// It counts once a target runs.
constexpr size_t no_bound = SIZE_MAX;
size_t allocations_left = no_bound, bytes_left = no_bound;

void* allocate(size_t size) {
    if (allocations_left != no_bound) {
        if (allocations_left == 0 || size > bytes_left) throw std::bad_alloc();
        --allocations_left;
        bytes_left -= size;
    }
    void* memory = std::malloc(size ? size : 1);
    if (!memory) throw std::bad_alloc();
    return memory;
}

}  // namespace

void* operator new(size_t size) { return allocate(size); }
void* operator new[](size_t size) { return allocate(size); }
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete[](void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, size_t) noexcept { std::free(memory); }
void operator delete[](void* memory, size_t) noexcept { std::free(memory); }

namespace strop {
namespace {

using Target = int (*)(const uint8_t*, size_t);

const std::map<std::string, Target> targets = {{"worker", fuzz_worker},     {"child", fuzz_child},
                                               {"problem", fuzz_problem},   {"tunables", fuzz_tunables},
                                               {"exchange", fuzz_exchange}, {"json_text", fuzz_json_text},
                                               {"assembly", fuzz_assembly}, {"study", fuzz_study}};

constexpr size_t most_allocations = 3'000'000, most_bytes = size_t{1} << 30;

void run(Target target, const std::string& input) {
    allocations_left = most_allocations;
    bytes_left = most_bytes;
    try {
        target(reinterpret_cast<const uint8_t*>(input.data()), input.size());
        allocations_left = no_bound;
    } catch (...) {
        allocations_left = no_bound;
        throw;
    }
}

// How many files there were.
int run_all(const std::string& folder) {
    int files = 0;
    for (const auto& [name, target] : targets) {
        const fs::path place = fs::path(STROP_SOURCE_DIR) / "tests/fuzz" / folder / name;
        if (!fs::exists(place)) continue;
        run(target, "");  // what a target loads once does not count
        for (const fs::directory_entry& entry : fs::directory_iterator(place)) {
            const std::string input = read_file(entry.path());
            ++files;
            try {
                run(target, input);
            } catch (const std::exception& error) {
                ADD_FAILURE() << entry.path() << ": " << error.what();
            }
        }
    }
    return files;
}

TEST(Fuzz, the_corpora) { EXPECT_GE(run_all("corpus"), 100); }

TEST(Fuzz, inputs_that_were_defects) { EXPECT_GE(run_all("regressions"), 1); }

}  // namespace
}  // namespace strop
