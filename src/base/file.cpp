#include "base/file.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <sstream>

#include <fcntl.h>
#include <unistd.h>

#include <fmt/format.h>

#include "base/error.h"

namespace strop {

std::string read_file(const fs::path& path) {
    std::error_code ignored;
    if (fs::is_directory(path, ignored))
        throw UsageError(fmt::format("{}: is a folder, not a file", path.string()), "name the file itself");
    std::ifstream in(path, std::ios::binary);
    if (!in)
        throw UsageError(fmt::format("{}: cannot be read: {}", path.string(), std::strerror(errno)),
                         "check the path and its permissions");
    std::ostringstream text;
    text << in.rdbuf();
    return text.str();
}

namespace {

// Whole, or an error.
int write_all(int fd, std::string_view text) {
    for (size_t done = 0; done < text.size();) {
        const ssize_t n = ::write(fd, text.data() + done, text.size() - done);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) return errno;
        done += static_cast<size_t>(n);
    }
    return 0;
}

EnvironmentError cannot_write(const fs::path& path, int error) {
    return EnvironmentError(
        fmt::format("{}: cannot be written: {}", path.string(), std::strerror(error)),
        error == ENOSPC ? "free some disk space, or choose another folder" : "choose a place that you may write to");
}

// To a pipe, a terminal or a device, where there is nothing to replace.
void write_through(const fs::path& path, std::string_view text) {
    const int fd = ::open(path.c_str(), O_WRONLY | O_CLOEXEC);
    if (fd < 0) throw cannot_write(path, errno);
    const int error = write_all(fd, text);
    ::close(fd);
    if (error != 0) throw cannot_write(path, error);
}

// What it names in the end, whether that exists or not.
fs::path behind_links(fs::path path) {
    constexpr int most_links = 40;  // as the system follows
    std::error_code failed;
    for (int i = 0; i < most_links && fs::is_symlink(path, failed); ++i)
        path = (path.parent_path() / fs::read_symlink(path, failed)).lexically_normal();
    return path;
}

}  // namespace

void write_file(const fs::path& path, std::string_view text) {
    const fs::path parent = path.has_parent_path() ? path.parent_path() : fs::path(".");
    std::error_code failed;
    fs::create_directories(parent, failed);
    fs::path temporary = path;
    temporary += fmt::format(".{}.tmp", getpid());
    auto fail = [&](int error) {
        ::unlink(temporary.c_str());
        throw cannot_write(path, error);
    };
    const int fd = ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    if (fd < 0) fail(errno);
    const int error = write_all(fd, text);
    if (::close(fd) != 0 || error != 0) fail(error != 0 ? error : errno);
    if (::rename(temporary.c_str(), path.c_str()) != 0) fail(errno);
}

void write_named_file(const fs::path& path, std::string_view text) {
    std::error_code failed;
    const fs::file_status status = fs::status(path, failed);
    const bool of_system = path.string().starts_with("/dev/") || path.string().starts_with("/proc/");
    if (fs::is_other(status) || (of_system && fs::exists(status))) return write_through(path, text);
    write_file(behind_links(path), text);
}

TemporaryFolder::TemporaryFolder(std::string_view prefix) {
    std::error_code failed;
    const fs::path folder = fs::temp_directory_path(failed);
    if (failed)
        throw EnvironmentError(
            fmt::format("{}: is no folder for temporary files", std::getenv("TMPDIR") ? std::getenv("TMPDIR") : "/tmp"),
            "set TMPDIR to a folder that you may write to");
    std::string pattern = (folder / fmt::format("{}-XXXXXX", prefix)).string();
    if (!mkdtemp(pattern.data()))
        throw EnvironmentError(fmt::format("{}: cannot create a folder: {}", pattern, std::strerror(errno)),
                               "set TMPDIR to a folder that you may write to");
    path_ = pattern;
}

TemporaryFolder::~TemporaryFolder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
}

fs::path home_folder() {
    if (const char* home = std::getenv("STROP_HOME")) return home;
    std::error_code failed;
    fs::path here = fs::read_symlink("/proc/self/exe", failed);
    for (fs::path folder = here.parent_path(); folder != folder.root_path(); folder = folder.parent_path())
        for (const fs::path& home : {folder, folder / "share" / "strop"})  // a checkout; where it was installed
            if (fs::exists(home / "python" / "strop" / "host.py", failed)) return home;
    throw EnvironmentError("strop's own files (python/strop) were not found beside the program",
                           "set STROP_HOME to the folder of the Strop checkout");
}

fs::path cache_folder() {
    if (const char* cache = std::getenv("STROP_CACHE")) return cache;
    if (const char* xdg = std::getenv("XDG_CACHE_HOME")) return fs::path(xdg) / "strop";
    if (const char* home = std::getenv("HOME")) return fs::path(home) / ".cache" / "strop";
    return fs::temp_directory_path() / fmt::format("strop-cache-{}", getuid());
}

}  // namespace strop
