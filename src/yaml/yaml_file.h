// A YAML file whose every complaint names file and line.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include <yaml-cpp/yaml.h>

#include "core/expression.h"

namespace strop {

struct YamlEntry {
    std::string key;
    YAML::Node at;  // the key: where messages point
    YAML::Node value;
};

class YamlFile {
public:
    // `path` is for messages, `form` the hint what such a file looks like. Throws UsageError when the text is not YAML,
    // or is not one map of keys.
    YamlFile(const std::string& text, const std::filesystem::path& path, const std::string& form);

    const std::vector<YamlEntry>& entries() const { return entries_; }

    [[noreturn]] void fail(const YAML::Node& at, const std::string& phrase, const std::string& hint = {}) const;
    // A complaint about the file as a whole (a missing key).
    [[noreturn]] void fail(const std::string& phrase, const std::string& hint = {}) const;

    // The entries of a map in the file's order; `what` names it in messages. Keys are texts and unique.
    std::vector<YamlEntry> map(const YAML::Node& node, const std::string& what) const;
    std::vector<YAML::Node> list(const YAML::Node& node, const std::string& what) const;
    std::string text(const YAML::Node& node, const std::string& what) const;
    int64_t integer(const YAML::Node& node, const std::string& what) const;
    double number(const YAML::Node& node, const std::string& what) const;
    Expression expression(const YAML::Node& node, const std::string& what) const;

    // Fails on an entry whose key is not among `known`.
    void check_keys(const std::vector<YamlEntry>& entries, const std::vector<std::string>& known,
                    const std::string& where) const;

private:
    std::string path_;
    std::vector<YamlEntry> entries_;
};

// The entry of that key, or null.
const YamlEntry* find(const std::vector<YamlEntry>& entries, const std::string& key);

// "did you mean 'inputs'? " when a candidate is near, else nothing; "known: a, b, c" follows.
std::string suggestion(const std::string& word, const std::vector<std::string>& candidates);

}  // namespace strop
