// What a server of the Model Context Protocol offers, apart from how it is asked for it.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

namespace strop::mcp {

using Json = nlohmann::json;

// A call of a tool, seen by the tool.
class Call {
public:
    virtual ~Call() = default;
    virtual bool cancelled() const = 0;                     // nobody waits for the answer any more
    virtual void progress(const std::string& message) = 0;  // shown to who asked for progress
};

struct Answer {
    std::string text;     // for people and models
    Json structured;      // fits the tool's output schema; null: none
    bool failed = false;  // the tool's own failure: data, not an error of the protocol
};

struct Tool {
    std::string name, title, description;
    Json input_schema, output_schema;  // JSON Schema 2020-12; a null output schema: text only
    bool read_only = false;            // leaves nothing behind
    std::function<Answer(const Json& arguments, Call& call)> run;  // called on a thread of its own
};

struct Resource {
    std::string uri, name, description, mime_type;
};

struct Prompt {
    std::string name, description;
    std::vector<std::string> arguments;  // all required
    std::function<std::string(const Json& arguments)> text;
};

struct Service {
    std::string name, version, instructions;
    std::vector<Tool> tools;  // in the order in which they are listed
    std::vector<Prompt> prompts;
    std::function<std::vector<Resource>()> resources;
    std::function<std::string(const std::string& uri)> read;  // a UsageError where there is no such resource
};

}  // namespace strop::mcp
