// A run in one file: every model call, every evaluation, every comparison. From it the run can be walked again
// without network, and without measuring anything.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "core/evaluation.h"
#include "core/record.h"
#include "knowledge/store.h"

namespace strop {

// How far each phase got that ends with its time: a replay ends them there. The search counts how often it asked for
// the time and some was left, for it also asks models and measures probes after its last evaluation.
struct Marks {
    int search_looks = 0;
    std::vector<int> dispatch_comparisons;  // of each time that the dispatch was planned
    int held_out_comparisons = 0;

    // UsageError where the recorded run planned it less often.
    int comparisons_of_dispatch(size_t which) const;
};

// Keys of a run's documents in the store.
inline constexpr const char* call_prefix = "call:";
inline constexpr const char* probe_prefix = "probe:";
inline constexpr const char* marks_key = "marks";
inline constexpr const char* machine_key = "machine";
inline constexpr const char* lessons_key = "lessons";
inline constexpr const char* earlier_prefix = "earlier:";
inline constexpr const char* earlier_winners_key = "earlier winners";
inline constexpr const char* experience_key = "experience";
inline constexpr const char* journal_prefix = "journal:";

void save_marks(Store& store, const std::string& run, const Marks& marks);
// UsageError when there are none, or, `with_models`, of a Strop whose search waited for every reply.
Marks load_marks(Store& store, const std::string& run, bool with_models);

// Written whole or not at all.
void write_recording(const std::filesystem::path& path, Store& store, const RunRecord& record);

struct Recording {
    RunSettings settings;
    std::string problem_hash;
    std::vector<Evaluation> evaluations;
    std::map<std::string, std::string> documents;
};
// UsageError that names the file and what is wrong with it.
Recording read_recording(const std::filesystem::path& path);
void copy_into(Store& store, const std::string& run, const Recording& recording);

}  // namespace strop
