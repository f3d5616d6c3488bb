// Language models on the command line: the flags that choose them, and their calls for reading.
#pragma once

#include <string>
#include <vector>

#include "cli/flags.h"
#include "llm/caller.h"
#include "run/run.h"

namespace strop::cli {

// UsageErrors for what can be seen of them before they are asked.
void check_models(const std::vector<std::string>& models, const std::string& base_url, const std::string& key_file);

// Checks all that can be checked before a run begins.
void read_model_flags(const Arguments& arguments, RunOptions& options);

// Of one run, in the order of asking.
std::vector<llm::Call> load_calls(const Arguments& arguments, const std::string& run);
std::string calls_text(const std::vector<llm::Call>& calls);
// One call for a person: who, when, what it cost, what was asked and answered.
std::string transcript(const llm::Call& call);

}  // namespace strop::cli
