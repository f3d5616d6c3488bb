#include "problem/memory.h"

#include <algorithm>
#include <charconv>

#include <fmt/format.h>

#include "base/error.h"
#include "base/file.h"
#include "base/strings.h"
#include "problem/loader.h"

namespace strop {

namespace {

constexpr double input_sets = 3;

std::optional<std::string> read_if_there(const fs::path& path) {
    try {
        return read_file(path);
    } catch (const UsageError&) {
        return std::nullopt;
    }
}

// The number that a text starts with; nothing for "max" and the like.
std::optional<double> leading_number(std::string_view text) {
    text = trim(text);
    int64_t value = 0;
    auto [used, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc()) return std::nullopt;
    return static_cast<double>(value);
}

std::optional<double> number_in(const fs::path& path) {
    std::optional<std::string> text = read_if_there(path);
    return text ? leading_number(*text) : std::nullopt;
}

// The number behind `key` at the start of a line.
std::optional<double> field_of(const fs::path& path, const std::string& key) {
    std::optional<std::string> text = read_if_there(path);
    if (!text) return std::nullopt;
    for (const std::string& line : split(*text, '\n'))
        if (line.rfind(key, 0) == 0) return leading_number(std::string_view(line).substr(key.size()));
    return std::nullopt;
}

// Limit less usage in one control group; pages of files can be given back and so count as free.
std::optional<double> left_in_group(const fs::path& group, const char* limit_file, const char* usage_file,
                                    const std::string& file_pages) {
    std::optional<double> limit = number_in(group / limit_file), usage = number_in(group / usage_file);
    if (!limit || !usage) return std::nullopt;
    return *limit - *usage + field_of(group / "memory.stat", file_pages).value_or(0);
}

void lower_to(std::optional<double>& least, const std::optional<double>& value) {
    if (value) least = least ? std::min(*least, *value) : *value;
}

}  // namespace

double needed_bytes(const Problem& problem, const Dimensions& dims) {
    double bytes = 0;
    for (const Tensor& input : problem.inputs)
        bytes += input_sets * static_cast<double>(bytes_of(problem, input, dims));
    for (const Tensor& output : problem.outputs)
        bytes += input_sets * static_cast<double>(sizeof(double)) *
                     static_cast<double>(element_count(problem, output, dims)) +
                 static_cast<double>(bytes_of(problem, output, dims));
    return bytes;
}

std::optional<double> available_bytes(const fs::path& root) {
    std::optional<double> available = field_of(root / "proc/meminfo", "MemAvailable:");
    if (available) *available *= 1024;  // the file is in kB
    std::optional<std::string> groups = read_if_there(root / "proc/self/cgroup");
    if (!groups) return available;
    for (const std::string& line : split(*groups, '\n')) {
        std::vector<std::string> fields = split(line, ':');  // number, controllers, path
        if (fields.size() < 3) continue;
        bool unified = fields[1].empty();
        if (!unified && fields[1].find("memory") == std::string::npos) continue;
        fs::path top = root / (unified ? "sys/fs/cgroup" : "sys/fs/cgroup/memory");
        fs::path group = fs::path(fields[2]).relative_path();
        // A limit of any ancestor holds too; in a container the top folder is the container's own group.
        for (;; group = group.parent_path()) {
            lower_to(available, unified ? left_in_group(top / group, "memory.max", "memory.current", "inactive_file ")
                                        : left_in_group(top / group, "memory.limit_in_bytes", "memory.usage_in_bytes",
                                                        "total_inactive_file "));
            if (group.empty()) break;
        }
    }
    return available;
}

void check_memory(const Problem& problem) {
    std::optional<double> available = available_bytes();
    if (!available) return;
    for (const ShapePoint& point : problem.points) {
        double needed = needed_bytes(problem, point.dims);
        if (needed <= *available) continue;
        throw EnvironmentError(
            fmt::format("{}: shape '{}' ({}) needs {}, {} are available", (problem.folder / "problem.yaml").string(),
                        point.label, describe(point.dims), human_bytes(needed), human_bytes(std::max(*available, 0.0))),
            "make that shape smaller, free memory, or use a larger machine");
    }
}

}  // namespace strop
