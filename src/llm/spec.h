// Which model, for which role: what `--model` says.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "llm/model.h"

namespace strop::llm {

// "coder=anthropic/claude-opus-5", "openai/gpt-6", "compatible/qwen3", "exec:./relay --fast"
struct Spec {
    std::string role;      // "coder"; empty: all roles
    std::string provider;  // "openai", "openai-chat", "anthropic", "gemini", "compatible", "exec"
    std::string model;     // its name there; of exec: the command
    std::string text() const;
};

// A UsageError names the text, with the forms that are known.
Spec parse_spec(const std::string& text);

struct Connection {
    std::string base_url;  // empty: the provider's own; `compatible` needs one
    std::string key_file;  // of a provider's key; empty: the environment
    Seconds timeout{600};  // of one attempt
    Seconds connect_timeout{5};
    int retries = 2;         // 4 more for gemini are not ours to choose: one number for all
    double retry_scale = 1;  // of the waits between retries; tests shorten them
};

// The key of a provider: from OPENAI_API_KEY, ANTHROPIC_API_KEY, GEMINI_API_KEY or GOOGLE_API_KEY, STROP_API_KEY
// (compatible; none is fine there), or from the file, which only its owner may read (UsageError otherwise).
std::string find_key(const std::string& provider, const std::string& key_file);

// Takes all keys out of this process's environment, wiped where they stood, so that no child inherits them and
// /proc shows none. Models that exist keep what they need.
void hide_keys();

// Never throws for a missing key: ask() then says no_key.
std::unique_ptr<Model> make_model(const Spec& spec, const Connection& connection);

// One file each. `key` may be empty.
std::unique_ptr<Model> make_openai_responses(const Spec& spec, const Connection& connection, const std::string& key);
std::unique_ptr<Model> make_openai_chat(const Spec& spec, const Connection& connection, const std::string& key);
std::unique_ptr<Model> make_anthropic(const Spec& spec, const Connection& connection, const std::string& key);
std::unique_ptr<Model> make_gemini(const Spec& spec, const Connection& connection, const std::string& key);
std::unique_ptr<Model> make_exec(const Spec& spec, const Connection& connection);

}  // namespace strop::llm
