// A kernel's source taken apart, so that it can be a part of another.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

namespace strop::playbook {

struct SourceParts {
    std::vector<std::string> comments;  // before anything else
    std::vector<std::string> settings;  // "strop:" comments
    std::vector<std::string> includes;
    std::vector<std::string> pieces;  // of the file's top level: a function, a type, a macro with its conditions
};
SourceParts taken_apart(const std::string& source);

// The piece that holds a kernel's function as the file's own function; the lines of a long list of parameters move with
// its shorter beginning. Others as they are.
std::string as_own_function(const std::string& piece);

// The names that a piece of a file's top level may define: what stands before a parenthesis, a brace, a
// semicolon or an equals sign outside of bodies and values.
std::set<std::string> defined_names(const std::string& piece);

// With other names, whole words only.
std::string with_names(const std::string& text, const std::map<std::string, std::string>& names);

// Whether one of these is a word of the text, or begins one when it is all in capitals ("STAGE").
bool mentions_any(const std::string& text, const std::set<std::string>& names);

// A function of this name that gives memory for what is said: name<slot>(bytes).
std::string kept_memory(const std::string& name, const std::string& what);

}  // namespace strop::playbook
