#include "judge/needed_libraries.h"

#include <algorithm>
#include <string>

#include <link.h>

namespace strop::judge {

namespace fs = std::filesystem;

namespace {

struct Loaded {
    fs::path path;                    // empty: the program
    std::vector<std::string> needed;  // names
};

// The run-time of C and C++ has to fit the other system and is part of it (PRE_EXCLUDE_REGEXES in install.cmake).
bool is_of_the_system(const std::string& name) {
    static const char* const stems[] = {"libc",       "libm",      "libdl",    "librt",
                                        "libpthread", "libresolv", "libgcc_s", "libstdc++"};
    return name.starts_with("ld-linux") || std::any_of(std::begin(stems), std::end(stems), [&](const char* stem) {
               return name.starts_with(std::string(stem) + ".so");
           });
}

std::vector<std::string> needed_by(const dl_phdr_info& info) {
    std::vector<std::string> needed;
    for (int i = 0; i < info.dlpi_phnum; ++i) {
        if (info.dlpi_phdr[i].p_type != PT_DYNAMIC) continue;
        const auto* const entries = reinterpret_cast<const ElfW(Dyn)*>(info.dlpi_addr + info.dlpi_phdr[i].p_vaddr);
        const char* names = nullptr;
        for (const ElfW(Dyn)* entry = entries; entry->d_tag != DT_NULL; ++entry)
            if (entry->d_tag == DT_STRTAB) {  // an address, or still an offset where the loader leaves it so
                const ElfW(Addr) at = entry->d_un.d_ptr;
                names = reinterpret_cast<const char*>(at < info.dlpi_addr ? info.dlpi_addr + at : at);
            }
        for (const ElfW(Dyn)* entry = entries; names && entry->d_tag != DT_NULL; ++entry)
            if (entry->d_tag == DT_NEEDED) needed.emplace_back(names + entry->d_un.d_val);
    }
    return needed;
}

int note(dl_phdr_info* info, size_t, void* all) {
    static_cast<std::vector<Loaded>*>(all)->push_back({info->dlpi_name, needed_by(*info)});
    return 0;
}

}  // namespace

std::vector<fs::path> needed_libraries() {
    std::vector<Loaded> loaded;
    ::dl_iterate_phdr(note, &loaded);
    std::vector<fs::path> found;
    std::vector<std::string> wanted = loaded.empty() ? std::vector<std::string>{} : loaded.front().needed;
    for (size_t i = 0; i < wanted.size(); ++i) {
        if (is_of_the_system(wanted[i])) continue;
        const auto library = std::find_if(loaded.begin(), loaded.end(),
                                          [&](const Loaded& one) { return one.path.filename() == wanted[i]; });
        if (library == loaded.end()) continue;
        found.push_back(library->path);
        for (const std::string& name : library->needed)
            if (std::find(wanted.begin(), wanted.end(), name) == wanted.end()) wanted.push_back(name);
    }
    return found;
}

}  // namespace strop::judge
