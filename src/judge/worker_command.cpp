#include "judge/worker_command.h"

#include <algorithm>
#include <cstdlib>
#include <map>

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

void read_duration(const YamlFile& yaml, const std::vector<YamlEntry>& fields, const char* key, Seconds& duration) {
    const YamlEntry* field = find(fields, key);
    if (!field) return;
    try {
        duration = parse_duration(yaml.text(field->value, key));
    } catch (const UsageError& error) {
        yaml.fail(field->value, error.what(), error.hint());
    }
}

// A command and how many workers it stands for.
struct Meant {
    WorkerCommand command;
    int count = 1;
};

Meant named(const YamlFile& yaml, const YamlEntry& entry) {
    Meant meant;
    WorkerCommand& command = meant.command;
    command.given = entry.key;
    const std::vector<YamlEntry> fields = yaml.map(entry.value, entry.key);
    yaml.check_keys(fields, {"start", "wait", "count", "silence", "batch"}, entry.key);
    const YamlEntry *start = find(fields, "start"), *count = find(fields, "count");
    if (!start) yaml.fail(entry.at, fmt::format("'{}' has no 'start'", entry.key), example);
    command.argv = start_of(yaml, *start);
    read_duration(yaml, fields, "wait", command.patience);
    read_duration(yaml, fields, "silence", command.silence);
    if (command.silence < least_silence)
        yaml.fail(find(fields, "silence")->value, fmt::format("'silence' is {:g} s", command.silence.count()),
                  fmt::format("{:g}s or more: one that works says so every few seconds", least_silence.count()));
    read_duration(yaml, fields, "batch", command.batch);
    if (!count) return meant;
    const int64_t given = yaml.integer(count->value, "count");
    if (given < 1 || given > most_of_one_name)
        yaml.fail(count->value, fmt::format("'count' is {}", given), fmt::format("1 to {}", most_of_one_name));
    meant.count = static_cast<int>(given);
    return meant;
}

Meant meant_by(const std::string& given, const fs::path& file) {
    const std::vector<std::string> words = split_words(given);
    if (words.empty()) throw UsageError("--worker names no command", "for example --worker \"ssh gpu1 strop worker\"");
    if (words.size() > 1 || given.find('/') != std::string::npos) return {{given, words}, 1};
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

}  // namespace

std::string WorkerCommand::label() const { return number > 0 ? fmt::format("{} #{}", given, number) : given; }

std::string WorkerCommand::name() const { return is_own() ? "the worker" : fmt::format("the worker '{}'", label()); }

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

WorkerCommand worker_command(const std::string& given, const fs::path& file) { return meant_by(given, file).command; }

std::vector<WorkerCommand> worker_commands(const std::vector<std::string>& given, const fs::path& file) {
    std::vector<WorkerCommand> commands;
    std::map<std::string, int> alike;
    for (const std::string& one : given) {
        const Meant meant = meant_by(one, file);
        commands.insert(commands.end(), static_cast<size_t>(meant.count), meant.command);
        alike[meant.command.given] += meant.count;
    }
    std::map<std::string, int> numbers;
    for (WorkerCommand& command : commands)
        if (alike[command.given] > 1) command.number = ++numbers[command.given];
    return commands;
}

fs::path workers_file() {
    if (const char* file = std::getenv("STROP_WORKERS"); file && *file) return file;
    if (const char* folder = std::getenv("XDG_CONFIG_HOME"); folder && *folder)
        return fs::path(folder) / "strop/workers.yaml";
    const char* home = std::getenv("HOME");
    return fs::path(home ? home : "/") / ".config/strop/workers.yaml";
}

}  // namespace strop::judge
