#include "judge/program_copy.h"

#include <algorithm>

#include <unistd.h>

#include <fmt/format.h>

#include "base/error.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/strings.h"
#include "judge/needed_libraries.h"
#include "judge/programs.h"
#include "sandbox/process.h"

namespace strop::judge {

namespace {

constexpr Seconds archive_limit{120};
constexpr int64_t longest_archive = int64_t{1} << 30;

// What a worker reads of its home, whole folders too.
constexpr const char* read_by_workers[] = {"data", "python/strop", "src/device/ceilings_main.cpp",
                                           "src/language/cuda_emulator"};

void add_home_file(std::vector<CopiedFile>& files, const fs::path& home, const fs::path& path) {
    files.push_back({("share/strop" / path.lexically_relative(home)).string(), path});
}

void add_home_files(std::vector<CopiedFile>& files, const fs::path& home, const fs::path& path) {
    if (!fs::is_directory(path)) return add_home_file(files, home, path);
    for (auto entry = fs::recursive_directory_iterator(path); entry != fs::recursive_directory_iterator(); ++entry)
        if (entry->path().filename() == "__pycache__") entry.disable_recursion_pending();
        else if (entry->is_regular_file()) add_home_file(files, home, entry->path());
}

std::string hash_of_copy() {
    std::string all;
    for (const CopiedFile& file : copied_files())
        all += fmt::format("{} {}\n", file.name, content_hash(read_file(file.path)));
    return content_hash(all);
}

std::string archive_of_copy() {
    const TemporaryFolder stage("strop-copy");
    for (const CopiedFile& file : copied_files()) {
        const fs::path link = stage.path() / file.name;
        fs::create_directories(link.parent_path());
        fs::create_symlink(file.path, link);
    }
    sandbox::Command tar;
    // A third of the time, for a tenth more bytes.
    tar.argv = {"tar", "-chf", "-", "-I", "gzip -1", "-C", stage.path().string(), "bin", "lib", "share"};
    tar.limits.wall = archive_limit;
    tar.limits.output_bytes = longest_archive;
    sandbox::Finished packed = sandbox::run(tar);
    if (!packed.ok())
        throw EnvironmentError(
            fmt::format("Strop cannot be packed to be copied: tar: {}: {}", packed.describe(), trim(packed.err)),
            "install tar and gzip here, or install Strop there and name the worker by `start:`");
    return std::move(packed.out);
}

}  // namespace

std::vector<CopiedFile> copied_files() {
    const fs::path home = fs::absolute(home_folder());
    // By number: the file of its name may be another by now, and to tar `self` is tar.
    std::vector<CopiedFile> files = {{"bin/strop", fmt::format("/proc/{}/exe", ::getpid())},
                                     {"bin/strop-worker", worker_program()},
                                     {"bin/strop-candidate", candidate_program()},
                                     {"bin/strop-candidate-python.so", candidate_library()}};
    for (const fs::path& library : needed_libraries()) files.push_back({"lib/" + library.filename().string(), library});
    try {
        for (const char* name : read_by_workers) add_home_files(files, home, home / name);
    } catch (const fs::filesystem_error& error) {
        throw EnvironmentError(fmt::format("Strop cannot be copied: {}", error.what()), "install Strop again");
    }
    std::sort(files.begin(), files.end(), [](const CopiedFile& a, const CopiedFile& b) { return a.name < b.name; });
    return files;
}

const std::string& copy_hash() {
    static const std::string hash = hash_of_copy();
    return hash;
}

const std::string& copy_archive() {
    static const std::string archive = archive_of_copy();
    return archive;
}

}  // namespace strop::judge
