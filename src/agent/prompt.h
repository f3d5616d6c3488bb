// Prompts: plain templates in prompts/*.md with {{names}}, and the JSON Schemas of their replies.
#pragma once

#include <map>
#include <string>

namespace strop::agent {

// The text before the line "# Task" stays the same over a run, which lets providers cache it; the rest does not.
struct Prompt {
    std::string system, task;
};

using Facts = std::map<std::string, std::string>;

// Reads prompts/NAME.md and fills it in. What is filled in is never looked at again: a reference that holds
// "{{source}}" stays as it is. A name that nobody gave is a std::logic_error.
Prompt load_prompt(const std::string& name, const Facts& facts);

// prompts/schemas/NAME.json
std::string load_schema(const std::string& name);

// A template filled in; what load_prompt does to each half.
std::string fill(const std::string& text, const Facts& facts);

}  // namespace strop::agent
