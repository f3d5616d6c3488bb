// Files: whole reads, atomic writes. Errors are `EnvironmentError`s or `UsageError`s that name the path.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace strop {

namespace fs = std::filesystem;

// The whole file; a UsageError when it cannot be read.
std::string read_file(const fs::path& path);

// Writes beside the target and renames, so that a reader sees the old or the new text, never half.
// A full disk or a read-only folder is an EnvironmentError. A link is replaced: others may have put it there.
void write_file(const fs::path& path, std::string_view text);

// The same of a file that the user named: a link stays, and what it names is replaced; a pipe or a device is written
// to.
void write_named_file(const fs::path& path, std::string_view text);

// A fresh empty folder under $TMPDIR (or /tmp), removed with all it holds by the destructor.
class TemporaryFolder {
public:
    explicit TemporaryFolder(std::string_view prefix = "strop");
    ~TemporaryFolder();
    TemporaryFolder(const TemporaryFolder&) = delete;
    TemporaryFolder& operator=(const TemporaryFolder&) = delete;
    const fs::path& path() const { return path_; }

private:
    fs::path path_;
};

// Where Strop's own files (problems/, python/, prompts/) lie: $STROP_HOME, else found upward from the executable.
fs::path home_folder();

// Where this machine's measurements and compiled kernels are kept: $STROP_CACHE, else
// $XDG_CACHE_HOME/strop, else ~/.cache/strop.
fs::path cache_folder();

}  // namespace strop
