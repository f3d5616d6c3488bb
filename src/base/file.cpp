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

void write_file(const fs::path& path, std::string_view text) {
    fs::path parent = path.has_parent_path() ? path.parent_path() : fs::path(".");
    std::error_code failed;
    fs::create_directories(parent, failed);
    fs::path temporary = path;
    temporary += fmt::format(".{}.tmp", getpid());
    auto fail = [&](int error) {
        ::unlink(temporary.c_str());
        throw EnvironmentError(fmt::format("{}: cannot be written: {}", path.string(), std::strerror(error)),
                               error == ENOSPC ? "free some disk space, or choose another folder with --out"
                                               : "choose a folder that you may write to with --out");
    };
    int fd = ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    if (fd < 0) fail(errno);
    for (size_t done = 0; done < text.size();) {
        ssize_t n = ::write(fd, text.data() + done, text.size() - done);
        if (n < 0) {
            int error = errno;
            ::close(fd);
            fail(error);
        }
        done += static_cast<size_t>(n);
    }
    if (::close(fd) != 0) fail(errno);
    if (::rename(temporary.c_str(), path.c_str()) != 0) fail(errno);
}

TemporaryFolder::TemporaryFolder(std::string_view prefix) {
    std::string pattern = (fs::temp_directory_path() / fmt::format("{}-XXXXXX", prefix)).string();
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
