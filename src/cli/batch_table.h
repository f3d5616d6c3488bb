// How a command over several problems ends: a table, or one JSON document.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/problem.h"
#include "core/record.h"

namespace strop::cli {

struct BatchEntry {
    std::string given;
    std::string problem;  // as given until it is loaded, then its name
    std::string outcome = "not begun";
    std::string note;  // "done before", or why it failed
    RunRecord record;  // as far as it is known
    std::optional<Problem> loaded;
};

std::vector<BatchEntry> batch_entries(const std::vector<std::string>& problems);

// "1.24× (1.20–1.28)", or a dash.
std::string speedup_text(const BatchEntry& entry);

void print_batch(const std::vector<BatchEntry>& entries, bool as_json);

// 0: each improved; 1: not all.
int exit_code_of(const std::vector<BatchEntry>& entries);

}  // namespace strop::cli
