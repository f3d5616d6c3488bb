#include "judge/worker_command.h"

#include <algorithm>
#include <cstdlib>

#include <fmt/format.h>

#include "base/error.h"
#include "base/file.h"
#include "yaml/yaml_file.h"

namespace strop::judge {

namespace {

constexpr const char* example = "for example `h100: {start: \"ssh gpu1 strop worker\"}`";

std::vector<std::string> start_of(const YamlFile& yaml, const YamlEntry& start) {
    const std::string text = yaml.text(start.value, "start");
    try {
        std::vector<std::string> words = split_words(text);
        if (!words.empty()) return words;
    } catch (const UsageError& error) {
        yaml.fail(start.value, error.what(), error.hint());
    }
    yaml.fail(start.value, "'start' is empty", example);
}

WorkerCommand named(const YamlFile& yaml, const YamlEntry& entry) {
    WorkerCommand command;
    command.given = entry.key;
    const std::vector<YamlEntry> fields = yaml.map(entry.value, entry.key);
    yaml.check_keys(fields, {"start", "wait"}, entry.key);
    const YamlEntry *start = find(fields, "start"), *wait = find(fields, "wait");
    if (!start) yaml.fail(entry.at, fmt::format("'{}' has no 'start'", entry.key), example);
    command.argv = start_of(yaml, *start);
    if (!wait) return command;
    try {
        command.patience = parse_duration(yaml.text(wait->value, "wait"));
    } catch (const UsageError& error) {
        yaml.fail(wait->value, error.what(), error.hint());
    }
    return command;
}

}  // namespace

std::string WorkerCommand::name() const { return is_own() ? "the worker" : fmt::format("the worker '{}'", given); }

std::vector<std::string> split_words(const std::string& text) {
    std::vector<std::string> words;
    bool inside = false;  // of a word, which may be empty between quotes
    char quote = 0;
    for (size_t i = 0; i < text.size(); ++i) {
        const char c = text[i];
        const bool blank = c == ' ' || c == '\t' || c == '\n';
        if (!quote && blank) {
            inside = false;
            continue;
        }
        if (!inside) words.emplace_back();
        inside = true;
        const bool escapes =
            c == '\\' && quote != '\'' && i + 1 < text.size() && (!quote || text[i + 1] == '"' || text[i + 1] == '\\');
        if (escapes) words.back() += text[++i];
        else if (c == quote) quote = 0;
        else if (!quote && (c == '\'' || c == '"')) quote = c;
        else words.back() += c;
    }
    if (quote) throw UsageError(fmt::format("'{}': a quote has no end", text), fmt::format("close it with {}", quote));
    return words;
}

WorkerCommand worker_command(const std::string& given, const fs::path& file) {
    const std::vector<std::string> words = split_words(given);
    if (words.empty()) throw UsageError("--worker names no command", "for example --worker \"ssh gpu1 strop worker\"");
    if (words.size() > 1 || given.find('/') != std::string::npos) return {given, words};
    std::error_code failed;
    if (!fs::exists(file, failed))
        throw UsageError(fmt::format("--worker {}: there is no {}", given, file.string()),
                         "name a command of several words, or write that file: " + std::string(example));
    const YamlFile yaml(read_file(file), file, example);
    std::vector<std::string> names;
    for (const YamlEntry& entry : yaml.entries()) names.push_back(entry.key);
    if (const YamlEntry* entry = find(yaml.entries(), words[0])) return named(yaml, *entry);
    throw UsageError(fmt::format("--worker {}: {} has no such worker", given, file.string()), suggestion(given, names));
}

fs::path workers_file() {
    if (const char* file = std::getenv("STROP_WORKERS"); file && *file) return file;
    if (const char* folder = std::getenv("XDG_CONFIG_HOME"); folder && *folder)
        return fs::path(folder) / "strop/workers.yaml";
    const char* home = std::getenv("HOME");
    return fs::path(home ? home : "/") / ".config/strop/workers.yaml";
}

}  // namespace strop::judge
