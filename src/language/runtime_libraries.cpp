#include "language/runtime_libraries.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>
#include <system_error>

#include <link.h>

#include "base/strings.h"
#include "sandbox/process.h"

namespace strop {

namespace {

namespace fs = std::filesystem;

// Up to the version: libstdc++.so.6.0.30, libomp.so.5.
constexpr const char* of_languages[] = {"libc.so",       "libm.so",        "libmvec.so",  "libdl.so",     "librt.so",
                                        "libpthread.so", "libstdc++.so",   "libc++.so",   "libc++abi.so", "libgcc_s.so",
                                        "libatomic.so",  "libquadmath.so", "libunwind.so"};
constexpr const char* of_openmp[] = {"libomp.so", "libgomp.so", "libiomp5.so"};
constexpr const char* usual_folders[] = {"/lib", "/lib64", "/usr/lib", "/usr/lib64", "/usr/local/lib"};

// Of this process, which is linked with the same C and C++ libraries as the one that kernels run in.
std::set<std::string> loaded_libraries() {
    std::set<std::string> files;
    ::dl_iterate_phdr(
        [](dl_phdr_info* info, size_t, void* found) {
            if (info->dlpi_name && info->dlpi_name[0] == '/')
                static_cast<std::set<std::string>*>(found)->insert(info->dlpi_name);
            return 0;
        },
        &files);
    return files;
}

template <size_t count>
bool is_one_of(const std::string& file, const char* const (&names)[count]) {
    return std::any_of(std::begin(names), std::end(names),
                       [&](const std::string& name) { return file == name || file.starts_with(name + "."); });
}

// No linker's script, and of no other word length: each costs a rule of the sandbox for each process.
bool fits_this_program(const fs::path& file) {
    char head[5] = {};
    std::ifstream(file, std::ios::binary).read(head, sizeof head);
    return std::equal(head, head + 4,
                      "\x7f"
                      "ELF") &&
           head[4] == (sizeof(void*) == 8 ? 2 : 1);
}

bool is_loader(const std::string& file) { return file.starts_with("ld-linux") || file.starts_with("ld-musl"); }

}  // namespace

std::vector<std::string> needed_libraries(const std::string& library) {
    sandbox::Command command;
    command.argv = {"ldd", library};
    command.limits.wall = Seconds(20);
    std::vector<std::string> files;
    for (const std::string& line : split(sandbox::run(command).out, '\n'))  // libx.so => /folder/libx.so (0x7f...)
        if (size_t path = line.find('/'), end = line.rfind(" ("); path < end && end != std::string::npos)
            files.push_back(line.substr(path, end - path));
    return files;
}

std::vector<std::string> runtime_libraries(const std::vector<std::string>& folders) {
    std::set<std::string> searched(std::begin(usual_folders), std::end(usual_folders)), found;
    searched.insert(folders.begin(), folders.end());
    for (const fs::path library : loaded_libraries()) {
        searched.insert(library.parent_path());
        const std::string name = library.filename();
        if (is_one_of(name, of_languages) || is_loader(name)) found.insert(fs::weakly_canonical(library));
    }
    std::set<std::string> openmp;
    std::error_code failed;
    for (const std::string& folder : searched)
        for (const fs::directory_entry& entry : fs::directory_iterator(folder, failed)) {
            const std::string name = entry.path().filename();
            if ((is_one_of(name, of_languages) || is_loader(name)) && fits_this_program(entry.path()))
                found.insert(fs::canonical(entry.path(), failed));  // a library has several names
            if (is_one_of(name, of_openmp) && fits_this_program(entry.path()))
                openmp.insert(fs::canonical(entry.path(), failed));
        }
    for (const std::string& library : openmp) {  // some are linked with libraries that describe the machine
        found.insert(library);
        for (const std::string& needed : needed_libraries(library)) found.insert(fs::weakly_canonical(needed));
    }
    return {found.begin(), found.end()};
}

}  // namespace strop
