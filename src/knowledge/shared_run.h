// A run as a file for other people and machines, and whether what such a file claims can be.
#pragma once

#include <string>
#include <vector>

#include "core/lesson.h"
#include "core/record.h"
#include "core/signature.h"

namespace strop {

struct SharedRun {
    RunRecord record;
    Signature signature;  // empty: its problem was not traced
    std::vector<Testimony> testimonies;
};

// Without what is nobody else's business: folders, commands, keys' places, prompts, own kernels that did not win. The
// same run gives the same bytes, wherever it is written.
std::string to_text(SharedRun run);

// UsageErrors without the file's name: no JSON, of a newer Strop, unknown keys, no name that a run can have.
SharedRun shared_run_from(const std::string& text);

// What cannot be true, in one phrase; empty: nothing. Times are held against the ceilings that the run states, and
// against `known`: ceilings of the same machine that were measured here. Half of the least time is allowed for ceilings
// that were measured too low, a quarter for arithmetic that a kernel can leave out.
std::string impossible_claim(const RunRecord& record, const std::vector<Ceilings>& known = {});

}  // namespace strop
