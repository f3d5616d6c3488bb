// What tokens cost: a dated data file (data/prices.json), which a file of the user's may override.
#pragma once

#include <map>
#include <string>

#include "llm/model.h"

namespace strop::llm {

// Dollars for a million tokens.
struct Price {
    double input = 0, cached_input = 0, cache_write = 0, output = 0;
};

struct Prices {
    std::string date;                     // of the file
    std::map<std::string, Price> models;  // "openai/gpt-6"; the longest key that begins a model's name counts
    // Null when none is known.
    const Price* find(const std::string& model) const;
};

// The shipped file, then `override_file` over it when it is not empty. UsageError naming file and key.
Prices load_prices(const std::string& override_file);

double cost_of(const Price& price, const Usage& usage);

}  // namespace strop::llm
