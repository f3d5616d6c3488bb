#include "problem/cpp_reference.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "base/error.h"
#include "base/file.h"
#include "base/strings.h"

namespace strop {

namespace {

// The name between the quotation marks of an `#include "…"`; else empty.
std::string included_name(std::string_view line) {
    line = trim(line);
    if (!line.starts_with("#")) return {};
    line = trim(line.substr(1));
    if (!line.starts_with("include")) return {};
    line = trim(line.substr(7));
    const size_t end = line.starts_with('"') ? line.find('"', 1) : std::string_view::npos;
    return end == std::string_view::npos ? "" : std::string(line.substr(1, end - 1));
}

bool lies_below(const fs::path& folder, const fs::path& path) {
    const fs::path relative = path.lexically_relative(folder);
    return !relative.empty() && *relative.begin() != "..";
}

class Flattener {
public:
    explicit Flattener(const fs::path& reference) : folder_(reference.parent_path()) { take(reference); }
    CppReference result;

private:
    void take(const fs::path& path) {
        taken_.insert(path);
        result.files.push_back(path);
        place(1, path);
        int number = 0;
        for (const std::string& line : split(without_byte_order_mark(read_file(path)), '\n')) {
            ++number;
            const std::string name = included_name(line);
            const fs::path other = (path.parent_path() / name).lexically_normal();
            std::error_code failed;
            if (name.empty() || !fs::is_regular_file(other, failed)) {
                add(line + "\n");
                continue;
            }
            if (!lies_below(folder_, other))
                throw UsageError(
                    fmt::format("{}:{}: '{}' lies outside of {}", path.string(), number, name, folder_.string()),
                    "a problem is one folder: put the file there");
            if (taken_.count(other)) {
                add("\n");
                continue;
            }
            take(other);
            place(number + 1, path);
        }
    }

    void add(const std::string& line) {
        result.source += line;
        result.numbered += line;
    }
    void place(int number, const fs::path& path) {
        result.numbered += fmt::format("#line {} \"{}\"\n", number, path.lexically_relative(folder_).string());
    }

    fs::path folder_;
    std::set<fs::path> taken_;
};

}  // namespace

bool is_cpp(const fs::path& reference) {
    const std::string ending = reference.extension();
    return ending == ".cpp" || ending == ".cc" || ending == ".cxx" || ending == ".c";
}

CppReference read_cpp_reference(const fs::path& reference) { return Flattener(reference).result; }

std::string reference_text(const fs::path& reference) {
    return is_cpp(reference) ? read_cpp_reference(reference).source : read_file(reference);
}

}  // namespace strop
