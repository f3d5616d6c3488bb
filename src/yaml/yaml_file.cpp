#include "yaml/yaml_file.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <sstream>

#include <fmt/format.h>
#include <yaml-cpp/eventhandler.h>

#include "base/error.h"
#include "base/file.h"
#include "base/strings.h"

namespace strop {

namespace {

const char* kind_of(const YAML::Node& node) {
    switch (node.Type()) {
        case YAML::NodeType::Map: return "a map";
        case YAML::NodeType::Sequence: return "a list";
        case YAML::NodeType::Scalar: return "a single value";
        default: return "nothing";
    }
}

// Only asks where documents start.
class DocumentStarts : public YAML::EventHandler {
public:
    int line = 0;
    void OnDocumentStart(const YAML::Mark& mark) override { line = mark.line + 1; }
    void OnDocumentEnd() override {}
    void OnNull(const YAML::Mark&, YAML::anchor_t) override {}
    void OnAlias(const YAML::Mark&, YAML::anchor_t) override {}
    void OnScalar(const YAML::Mark&, const std::string&, YAML::anchor_t, const std::string&) override {}
    void OnSequenceStart(const YAML::Mark&, const std::string&, YAML::anchor_t, YAML::EmitterStyle::value) override {}
    void OnSequenceEnd() override {}
    void OnMapStart(const YAML::Mark&, const std::string&, YAML::anchor_t, YAML::EmitterStyle::value) override {}
    void OnMapEnd() override {}
};

// The line where a second document starts, or 0. YAML::Load reads the first document and passes over what
// follows; YAML::LoadAll never ends on a text like ", a".
int second_document(const std::string& text) {
    std::istringstream in(text);
    YAML::Parser parser(in);
    DocumentStarts starts;
    return parser.HandleNextDocument(starts) && parser.HandleNextDocument(starts) ? starts.line : 0;
}

YAML::Node parse(const std::string& text, const fs::path& path) {
    try {
        if (int line = second_document(text))
            throw UsageError(fmt::format("{}:{}: the YAML document has ended before this", path.string(), line),
                             "the file is one map of keys: check '---', commas and brackets");
        return YAML::Load(text);
    } catch (const YAML::Exception& error) {
        throw UsageError(fmt::format("{}:{}: malformed YAML: {}", path.string(), error.mark.line + 1, error.msg),
                         "check brackets, indentation and the blank after each ':'");
    }
}

}  // namespace

YamlFile::YamlFile(const std::string& text, const fs::path& path, const std::string& form) : path_(path.string()) {
    YAML::Node root = parse(text, path);
    if (!root.IsMap()) fail(fmt::format("expected a map of keys, found {}", kind_of(root)), form);
    entries_ = map(root, "the file");
}

void YamlFile::fail(const YAML::Node& at, const std::string& phrase, const std::string& hint) const {
    int line = at.IsDefined() ? at.Mark().line + 1 : 0;
    throw UsageError(fmt::format("{}:{}: {}", path_, line > 0 ? line : 1, phrase), hint);
}

void YamlFile::fail(const std::string& phrase, const std::string& hint) const {
    throw UsageError(fmt::format("{}:1: {}", path_, phrase), hint);
}

std::vector<YamlEntry> YamlFile::map(const YAML::Node& node, const std::string& what) const {
    if (!node.IsMap())
        fail(node, fmt::format("'{}' must be a map, found {}", what, kind_of(node)), "write it as {key: value, ...}");
    std::vector<YamlEntry> result;
    for (const auto& pair : node) {
        if (!pair.first.IsScalar())
            fail(pair.first, fmt::format("a key of '{}' is {}", what, kind_of(pair.first)), "keys are words");
        YamlEntry entry{pair.first.Scalar(), pair.first, pair.second};
        if (const YamlEntry* first = find(result, entry.key))
            fail(entry.at, fmt::format("'{}' appears twice in '{}'", entry.key, what),
                 fmt::format("it stands on line {} already", first->at.Mark().line + 1));
        result.push_back(entry);
    }
    return result;
}

std::vector<YAML::Node> YamlFile::list(const YAML::Node& node, const std::string& what) const {
    if (!node.IsSequence())
        fail(node, fmt::format("'{}' must be a list, found {}", what, kind_of(node)), "write it as [a, b, ...]");
    return {node.begin(), node.end()};
}

std::string YamlFile::text(const YAML::Node& node, const std::string& what) const {
    if (!node.IsScalar() || node.Scalar().empty())
        fail(node, fmt::format("'{}' must be a text, found {}", what, kind_of(node)),
             "write one word, or put it in quotes");
    return node.Scalar();
}

int64_t YamlFile::integer(const YAML::Node& node, const std::string& what) const {
    std::string word = node.IsScalar() ? node.Scalar() : kind_of(node);
    int64_t value = 0;
    const char* end = word.data() + word.size();
    auto [used, error] = std::from_chars(word.data(), end, value);
    if (error == std::errc::result_out_of_range)
        fail(node, fmt::format("'{}' is {}, which does not fit into 64 bits", what, word), "use a smaller number");
    if (!node.IsScalar() || error != std::errc() || used != end)
        fail(node, fmt::format("'{}' must be a whole number, found '{}'", what, word),
             "write digits only, such as 4096");
    return value;
}

double YamlFile::number(const YAML::Node& node, const std::string& what) const {
    std::string word = node.IsScalar() ? node.Scalar() : kind_of(node);
    double value = 0;
    const char* end = word.data() + word.size();
    auto [used, error] = std::from_chars(word.data(), end, value);
    if (!node.IsScalar() || error != std::errc() || used != end || !std::isfinite(value))
        fail(node, fmt::format("'{}' must be a finite number, found '{}'", what, word), "write it as 0.5 or 1e-5");
    return value;
}

Expression YamlFile::expression(const YAML::Node& node, const std::string& what) const {
    std::string word = text(node, what);
    try {
        return Expression::parse(word);
    } catch (const UsageError& error) {
        fail(node, fmt::format("'{}' is not an expression: {}", what, error.what()),
             "in Python's syntax; put it in quotes when it holds a comma");
    }
}

void YamlFile::check_keys(const std::vector<YamlEntry>& entries, const std::vector<std::string>& known,
                          const std::string& where) const {
    for (const YamlEntry& entry : entries)
        if (std::find(known.begin(), known.end(), entry.key) == known.end())
            fail(entry.at, fmt::format("unknown key '{}' in '{}'", entry.key, where), suggestion(entry.key, known));
}

const YamlEntry* find(const std::vector<YamlEntry>& entries, const std::string& key) {
    for (const YamlEntry& entry : entries)
        if (entry.key == key) return &entry;
    return nullptr;
}

std::string suggestion(const std::string& word, const std::vector<std::string>& candidates) {
    std::vector<std::string> near = nearest(word, candidates, 3);
    std::string text = near.empty() ? "" : fmt::format("did you mean '{}'? ", join(near, "' or '"));
    return text + "known: " + (candidates.empty() ? "none" : join(candidates, ", "));
}

}  // namespace strop
