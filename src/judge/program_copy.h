// What a worker of this very program needs on another machine: a tree as an installation is (cmake/install.cmake), of
// what a worker reads alone. No configuration, key, store or cache is part of it.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace strop::judge {

struct CopiedFile {
    std::string name;  // in the copy: "bin/strop"
    std::filesystem::path path;
};

// In the order of their names. EnvironmentError where one is missing.
std::vector<CopiedFile> copied_files();

// Of names and contents; made once a process, as is the archive (tar, gzip).
const std::string& copy_hash();
const std::string& copy_archive();

}  // namespace strop::judge
