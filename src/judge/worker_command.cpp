#include "judge/worker_command.h"

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <map>
#include <string_view>

#include <fmt/format.h>

#include "base/error.h"
#include "base/file.h"
#include "yaml/yaml_file.h"

namespace strop::judge {

namespace {

constexpr const char* example = "for example `h100: {at: \"ssh gpu1\"}`, or `h100: {start: \"ssh gpu1 strop worker\"}`";
constexpr Language every_language[] = {Language::cpp, Language::opencl, Language::cuda, Language::triton,
                                       Language::tilelang};
constexpr const char* usual_folder = ".cache/strop";

std::string program_of(const std::vector<std::string>& words) { return fs::path(words[0]).filename().string(); }

// Where commands begin there: ssh's login folder, a container's working folder. What srun leads to usually has the same
// homes, and begins in the folder of here.
std::string usual_folder_of(const std::vector<std::string>& place) {
    const char* home = std::getenv("HOME");
    return program_of(place) == "srun" && home ? fmt::format("{}/{}", home, usual_folder) : usual_folder;
}

bool is_place(const std::vector<std::string>& words) {
    static const char* const known[] = {"ssh", "docker", "podman", "kubectl", "srun"};
    const std::string program = program_of(words);
    return std::any_of(std::begin(known), std::end(known), [&](const char* name) { return program == name; }) &&
           std::none_of(words.begin(), words.end(),
                        [](const std::string& word) { return word.find("worker") != std::string::npos; });
}

std::vector<std::string> words_of(const YamlFile& yaml, const YamlEntry& field) {
    const std::string text = yaml.text(field.value, field.key);
    try {
        std::vector<std::string> words = split_words(text);
        if (!words.empty()) return words;
    } catch (const UsageError& error) {
        yaml.fail(field.value, error.what(), error.hint());
    }
    yaml.fail(field.value, fmt::format("'{}' is empty", field.key), example);
}

// The same word to every shell, and to none.
bool is_plain(const std::string& folder) {
    return !folder.empty() && folder[0] != '-' && std::all_of(folder.begin(), folder.end(), [](unsigned char c) {
        return std::isalnum(c) || std::string_view("/._-+@%:,").find(static_cast<char>(c)) != std::string_view::npos;
    });
}

void read_start(const YamlFile& yaml, const std::vector<YamlEntry>& fields, const YamlEntry& entry,
                WorkerCommand& command) {
    const YamlEntry *start = find(fields, "start"), *at = find(fields, "at"), *folder = find(fields, "folder");
    if (!start && !at) yaml.fail(entry.at, fmt::format("'{}' has no 'start' and no 'at'", entry.key), example);
    if (start && at)
        yaml.fail(at->at, fmt::format("'{}' has both 'start' and 'at'", entry.key),
                  "`at`: where Strop is copied to if it is missing; `start`: what starts a worker that is there");
    if (folder && !at) yaml.fail(folder->at, "'folder' is where a copy goes, and only 'at' makes one", "leave it out");
    if (start) {
        command.argv = words_of(yaml, *start);
        return;
    }
    command.place = words_of(yaml, *at);
    command.folder = folder ? yaml.text(folder->value, "folder") : usual_folder_of(command.place);
    if (folder && !is_plain(command.folder))
        yaml.fail(
            folder->value, fmt::format("'folder' is no plain path: '{}'", command.folder),
            "letters, digits and /._-+@%:, which no shell reads in its own way; one without / at its beginning is "
            "in the folder where commands begin there");
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

void read_languages(const YamlFile& yaml, const std::vector<YamlEntry>& fields, std::vector<Language>& languages) {
    const YamlEntry* field = find(fields, "languages");
    if (!field) return;
    std::vector<std::string> names;
    for (const Language language : every_language) names.push_back(name_of(language));
    for (const YAML::Node& node : yaml.list(field->value, "languages")) {
        const std::string name = yaml.text(node, "languages");
        const auto known = std::find(names.begin(), names.end(), name);
        if (known == names.end())
            yaml.fail(node, fmt::format("'{}' is no language of kernels", name), suggestion(name, names));
        languages.push_back(every_language[known - names.begin()]);
    }
    if (languages.empty()) yaml.fail(field->value, "'languages' is empty", "leave it out, or name one");
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
    yaml.check_keys(fields, {"start", "at", "folder", "languages", "wait", "count", "silence", "batch"}, entry.key);
    const YamlEntry* count = find(fields, "count");
    read_start(yaml, fields, entry, command);
    read_languages(yaml, fields, command.languages);
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

std::vector<std::string> names_in(const YamlFile& yaml) {
    std::vector<std::string> names;
    for (const YamlEntry& entry : yaml.entries()) names.push_back(entry.key);
    return names;
}

Meant command_of(const std::string& given, const std::vector<std::string>& words) {
    if (!is_place(words)) return {{given, words}, 1};
    return {{given, {}, words, usual_folder_of(words)}, 1};
}

Meant meant_by(const std::string& given, const fs::path& file) {
    const std::vector<std::string> words = split_words(given);
    if (words.empty()) throw UsageError("--worker names no command", "for example --worker \"ssh gpu1\"");
    if (words.size() > 1 || given.find('/') != std::string::npos) return command_of(given, words);
    std::error_code failed;
    if (!fs::exists(file, failed))
        throw UsageError(fmt::format("--worker {}: there is no {}", given, file.string()),
                         "name a command of several words, or write that file: " + std::string(example));
    const YamlFile yaml(read_file(file), file, example);
    if (const YamlEntry* entry = find(yaml.entries(), words[0])) return named(yaml, *entry);
    throw UsageError(fmt::format("--worker {}: {} has no such worker", given, file.string()),
                     suggestion(given, names_in(yaml)));
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

std::vector<std::string> worker_names(const fs::path& file) {
    std::error_code failed;
    if (!fs::exists(file, failed)) return {};
    return names_in(YamlFile(read_file(file), file, example));
}

fs::path workers_file() {
    if (const char* file = std::getenv("STROP_WORKERS"); file && *file) return file;
    if (const char* folder = std::getenv("XDG_CONFIG_HOME"); folder && *folder)
        return fs::path(folder) / "strop/workers.yaml";
    const char* home = std::getenv("HOME");
    return fs::path(home ? home : "/") / ".config/strop/workers.yaml";
}

}  // namespace strop::judge
