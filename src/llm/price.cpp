#include "llm/price.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/file.h"
#include "llm/text.h"

namespace strop::llm {

namespace {

using nlohmann::json;

[[noreturn]] void fail(const std::string& file, const std::string& phrase) {
    throw UsageError(fmt::format("{}: {}", file, phrase),
                     R"(expected is {"models": {"openai/NAME": {"input": 1, "cached_input": 0.1, "cache_write": )"
                     R"(1, "output": 4}}}, in dollars for a million tokens)");
}

double number_of(const json& rates, const std::string& key, const std::string& model, const std::string& file) {
    const json& rate = rates.at(key);
    double dollars = rate.is_number() ? rate.get<double>() : -1;
    if (dollars < 0 || !std::isfinite(dollars)) fail(file, fmt::format("'{}': '{}' is no price", model, key));
    return dollars;
}

Price price_of(const json& rates, const std::string& model, const std::string& file) {
    if (!rates.is_object()) fail(file, fmt::format("'{}': no object of prices", model));
    Price price;
    std::map<std::string, double*> fields = {{"input", &price.input},
                                             {"cached_input", &price.cached_input},
                                             {"cache_write", &price.cache_write},
                                             {"output", &price.output}};
    for (const auto& [key, rate] : rates.items())
        if (!fields.contains(key)) fail(file, fmt::format("'{}': unknown key '{}'", model, one_line(key, 60)));
    for (const char* key : {"input", "output"})
        if (!rates.contains(key)) fail(file, fmt::format("'{}': lacks '{}'", model, key));
    for (auto& [key, field] : fields)
        if (rates.contains(key)) *field = number_of(rates, key, model, file);
    // No discount is known, and no surcharge.
    if (!rates.contains("cached_input")) price.cached_input = price.input;
    if (!rates.contains("cache_write")) price.cache_write = price.input;
    return price;
}

void read_prices(const std::string& file, Prices& into) {
    json document = json::parse(read_file(file), nullptr, false);
    if (document.is_discarded()) fail(file, "malformed JSON");
    if (!document.is_object()) fail(file, "no object of keys");
    for (const auto& [key, value] : document.items())
        if (key != "date" && key != "note" && key != "models")
            fail(file, fmt::format("unknown key '{}'", one_line(key, 60)));
    if (auto date = document.find("date"); date != document.end()) {
        if (!date->is_string()) fail(file, "'date': no text");
        into.date = one_line(date->get<std::string>(), 40);
    }
    auto models = document.find("models");
    if (models == document.end() || !models->is_object()) fail(file, "'models': no object of models");
    for (const auto& [model, rates] : models->items()) {
        std::string name = one_line(model, 200);
        if (name.empty()) fail(file, "'models': a name is empty");
        into.models[name] = price_of(rates, name, file);
    }
}

}  // namespace

const Price* Prices::find(const std::string& model) const {
    const Price* found = nullptr;
    size_t longest = 0;
    for (const auto& [name, price] : models) {
        if (!model.starts_with(name) || name.size() < longest) continue;
        longest = name.size();
        found = &price;
    }
    // The same models at the same price, over another protocol.
    constexpr std::string_view chat = "openai-chat/";
    if (!found && model.starts_with(chat)) return find("openai/" + model.substr(chat.size()));
    return found;
}

Prices load_prices(const std::string& override_file) {
    Prices prices;
    read_prices((home_folder() / "data" / "prices.json").string(), prices);
    if (!override_file.empty()) read_prices(override_file, prices);
    return prices;
}

double cost_of(const Price& price, const Usage& usage) {
    auto plain = std::max<int64_t>(0, usage.input_tokens - usage.cached_tokens - usage.cache_write_tokens);
    double dollars = static_cast<double>(plain) * price.input +
                     static_cast<double>(usage.cached_tokens) * price.cached_input +
                     static_cast<double>(usage.cache_write_tokens) * price.cache_write +
                     static_cast<double>(usage.output_tokens) * price.output;
    return dollars / 1e6;
}

}  // namespace strop::llm
