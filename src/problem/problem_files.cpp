#include "problem/problem_files.h"

#include <algorithm>
#include <set>
#include <vector>

#include <fmt/format.h>

#include "base/error.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/strings.h"
#include "problem/cpp_reference.h"

namespace strop {

namespace {

constexpr const char* problem_file = "problem.yaml";
constexpr size_t longest_mention_search = size_t{1} << 20;  // bytes of a file in which others are looked for

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; }

// As a whole word.
bool mentions(const std::string& text, const std::string& name) {
    for (size_t at = text.find(name); at != std::string::npos; at = text.find(name, at + 1)) {
        const size_t end = at + name.size();
        if ((at == 0 || !is_word(text[at - 1])) && (end == text.size() || !is_word(text[end]))) return true;
    }
    return false;
}

// What files are called where they are used.
std::string used_name(const fs::path& path) {
    return path.extension() == ".py" ? path.stem().string() : path.filename().string();
}

std::vector<fs::path> modules_below(const fs::path& folder) {
    std::vector<fs::path> modules;
    std::error_code failed;
    for (fs::recursive_directory_iterator at(folder, failed), end; at != end; at.increment(failed))
        if (at->path().extension() == ".py" && at->is_regular_file(failed)) modules.push_back(at->path());
    return modules;
}

std::string mark_of(const fs::path& path) {
    std::error_code failed;
    const uintmax_t bytes = fs::file_size(path, failed);
    return !failed && bytes > most_problem_bytes ? fmt::format("{} bytes", bytes) : content_hash(read_file(path));
}

// Whether a name stays below the folder that it begins in.
bool stays_below(const std::string& name) {
    const fs::path path(name);
    return !name.empty() && name.find('\0') == std::string::npos && path.is_relative() && path.has_filename() &&
           std::none_of(path.begin(), path.end(), [](const fs::path& part) { return part == ".." || part == "."; });
}

[[noreturn]] void fail_too_large(const std::string& what) {
    throw UsageError(fmt::format("{}: more than {} of files do not travel to a worker", what,
                                 human_bytes(static_cast<double>(most_problem_bytes))),
                     "make large tables in the reference, or run on the worker's machine");
}

}  // namespace

FileMarks marks_of_files(const Problem& problem) {
    std::vector<fs::path> paths = {problem.folder / problem_file, problem.reference};
    paths.insert(paths.end(), problem.baselines.begin(), problem.baselines.end());
    std::set<fs::path> taken(paths.begin(), paths.end());
    std::vector<fs::directory_entry> others;
    std::error_code failed;
    for (const fs::path& folder : std::set{problem.folder, problem.reference.parent_path()})
        for (const fs::directory_entry& entry : fs::directory_iterator(folder, failed))
            if (!entry.path().filename().string().starts_with(".")) others.push_back(entry);
    auto take = [&](const fs::path& path) {
        if (taken.insert(path).second) paths.push_back(path);
    };
    for (size_t i = 1; i < paths.size(); ++i) {  // grows; problem.yaml has named its files already
        if (fs::file_size(paths[i], failed) > longest_mention_search) continue;
        const std::string text = read_file(paths[i]);
        for (const fs::directory_entry& other : others) {
            if (taken.count(other.path()) || !mentions(text, used_name(other.path()))) continue;
            if (other.is_regular_file(failed)) take(other.path());
            else if (other.is_directory(failed))
                for (const fs::path& module : modules_below(other.path())) take(module);
        }
    }
    if (is_cpp(problem.reference))
        for (const fs::path& file : read_cpp_reference(problem.reference).files) take(file);
    FileMarks marks;
    for (const fs::path& path : paths) marks[path.lexically_relative(problem.folder).string()] = mark_of(path);
    return marks;
}

bool holds(const fs::path& folder, const FileMarks& marks) try {
    std::error_code failed;
    return std::all_of(marks.begin(), marks.end(), [&](const auto& file) {
        const fs::path path = folder / file.first;
        return fs::is_regular_file(path, failed) && mark_of(path) == file.second;
    });
} catch (const std::exception&) {  // not to be read here
    return false;
}

FileContents read_files(const Problem& problem, const FileMarks& marks) {
    FileContents contents;
    size_t bytes = 0;
    for (const auto& [name, mark] : marks) {
        const fs::path path = problem.folder / name;
        const std::string hint = "a worker elsewhere has what lies in the problem's folder: put it there";
        if (!stays_below(name))
            throw UsageError(
                fmt::format("{}: lies outside of {}", path.lexically_normal().string(), problem.folder.string()), hint);
        if (fs::canonical(path) != fs::canonical(problem.folder) / name)
            throw UsageError(fmt::format("{}: is a link", path.string()), hint);
        bytes += fs::file_size(path);
        if (bytes > most_problem_bytes) fail_too_large(path.string());
        contents[name] = read_file(path);
    }
    return contents;
}

void write_files(const fs::path& folder, const FileContents& contents) {
    size_t bytes = 0;
    for (const auto& [name, content] : contents) {
        if (!stays_below(name))
            throw UsageError(fmt::format("'{}' is no file of a problem's folder", name), "names stay below the folder");
        bytes += content.size();
        if (bytes > most_problem_bytes) fail_too_large(name);
    }
    for (const auto& [name, content] : contents) write_file(folder / name, content);
}

}  // namespace strop
