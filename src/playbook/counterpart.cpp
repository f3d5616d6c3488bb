#include "playbook/counterpart.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/strings.h"

namespace strop::playbook {

namespace {

constexpr const char* past_the_caches = "stores that go past the caches";
constexpr const char* meeting = "barriers among all threads: a second launch merges what they have";
constexpr const char* block_memory = "a block's own memory: a core has its caches";
constexpr const char* packing = "operands copied into the order of use: a block loads its tiles into its memory";

// Of several with the same schedule the first is taken on the way back.
struct Pair {
    const char *cpp, *scheduled;
    const char *only_cpp, *only_scheduled;  // what gets lost on the way to the other; empty: nothing
};
constexpr Pair pairs[] = {
    {"resident_passes", "block_per_row", "", "threads of a block that share a row: a core takes it in vectors"},
    {"streamed", "block_per_row", past_the_caches, ""},
    {"kept_and_streamed", "block_keeps_row", past_the_caches, block_memory},
    {"online_single_read", "block_once_over_row", "", ""},
    {"split_rows", "rows_in_parts", meeting, "a second launch: threads meet at barriers"},
    {"split_depth", "rows_in_parts", meeting, "a second launch: threads meet at barriers"},
    {"rows_across_lanes", "thread_per_row", "", ""},
    {"column_panels", "thread_per_row", "panels of several columns in one thread's registers", ""},
    {"prefix_in_lanes", "block_scans", "", block_memory},
    {"panel_scan", "thread_scans", "panels of several columns in one thread's registers", ""},
    {"packed_tiled", "tiles", packing, block_memory},
    {"packed_right", "tiles", packing, block_memory},
    {"implicit_gemm", "tiles", packing, block_memory},
    {"pointwise_gemm", "tiles", packing, block_memory},
    {"direct_tiled", "thread_per_element", "tiles in one thread's registers", ""},
    {"fused_loop", "thread_per_element", "", ""},
    {"fused_streaming", "thread_per_element", past_the_caches, ""},
    {"direct_windows", "thread_per_element", "", ""},
    {"fused_stages", "fused_stages", "", ""},
    {"stages_apart", "stages_apart", "", ""},
    {"plain_stages", "plain_stages", "", ""},
};

void add(const char* phrase, std::vector<std::string>& to) {
    if (*phrase) to.emplace_back(phrase);
}

Counterpart between_schedules(const std::string& strategy, Language to, const std::set<std::string>& available) {
    if (available.contains(strategy)) return {strategy, {}, {}};
    return {{}, {}, fmt::format("{} has no {} for this problem", name_of(to), strategy)};
}

}  // namespace

Counterpart counterpart(const std::string& strategy, Language from, Language to,
                        const std::set<std::string>& available) {
    if (from == to) return {{}, {}, fmt::format("it is in {} already", name_of(to))};
    if (from != Language::cpp && to != Language::cpp) return between_schedules(strategy, to, available);
    const std::vector<std::string> parts = split(strategy, '+');
    Counterpart result;
    std::string missing;  // a counterpart that this problem does not have
    for (const Pair& pair : pairs) {
        if (parts[0] != (from == Language::cpp ? pair.cpp : pair.scheduled)) continue;
        const char* other = from == Language::cpp ? pair.scheduled : pair.cpp;
        if (!available.contains(other)) {
            missing = other;
            continue;
        }
        result.strategy = other;
        add(from == Language::cpp ? pair.only_cpp : pair.only_scheduled, result.cannot);
        break;
    }
    if (result.strategy.empty()) {
        result.refused = missing.empty()
                             ? fmt::format("no strategy of {} computes as {} does", name_of(to), parts[0])
                             : fmt::format("{} has no {} for this problem, which would be the counterpart of {}",
                                           name_of(to), missing, parts[0]);
        return result;
    }
    for (size_t i = 1; i < parts.size(); ++i) result.cannot.push_back(fmt::format("the variant {}", parts[i]));
    return result;
}

}  // namespace strop::playbook
