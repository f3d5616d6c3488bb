// Sources of kernels, compiled and loaded into this process with nothing between: no sandbox, no entry.
#pragma once

#include <dlfcn.h>
#include <unistd.h>

#include <cstdlib>
#include <optional>
#include <string>

#include <fmt/format.h>

#include "base/file.h"
#include "base/strings.h"
#include "core/kernel.h"
#include "fakes/with_team.h"
#include "language/link_command.h"

namespace strop {

inline bool is_installed(const std::string& program) {
    return std::system(fmt::format("command -v {} >/dev/null 2>&1", program).c_str()) == 0;
}

// Empty: there is none.
inline const std::string& compiler() {
    static const std::string found = [] {
        for (const char* candidate : {"clang++-19", "clang++", "g++", "c++"})
            if (is_installed(candidate)) return candidate;
        return "";
    }();
    return found;
}

inline bool is_clang(const std::string& program) { return program.find("clang") != std::string::npos; }

// The shell's words that make a library of an object. GNU's linker without clang's driver: LLVM's and the driver take
// longer to start than most kernels take to be compiled.
inline std::string linking(const std::string& with, const std::string& library, const std::string& object) {
    static const std::optional<LinkCommand> of_clang = []() -> std::optional<LinkCommand> {
        const TemporaryFolder folder;
        const std::string object_file = (folder.path() / "kernel.o").string(), said = object_file + ".said";
        write_file(object_file, "");
        const std::string ask =
            fmt::format("{} -shared -fuse-ld=bfd -o LIBRARY {} -### 2> {}", compiler(), object_file, said);
        const bool known = is_clang(compiler()) && std::system(ask.c_str()) == 0;
        return known ? read_link_command(read_file(said), "LIBRARY", object_file) : std::nullopt;
    }();
    if (of_clang && with == compiler()) return join(of_clang->linking(library, {object, team_object()}), " ");
    return fmt::format("{} -shared -o {} {} {}", with, library, object, team_object());
}

// " -DTILE=4 -DUNROLL=2"
inline std::string defines(const Configuration& configuration) {
    std::string flags;
    for (const auto& [name, value] : configuration) flags += fmt::format(" -D{}={}", name, to_string(value));
    return flags;
}

class CompiledLibrary {
public:
    // `flags`: "-O2 -DTILE=4"
    CompiledLibrary(const std::string& source, const std::string& flags, const std::string& with = compiler()) {
        const TemporaryFolder folder;
        const std::string stem = (folder.path() / "kernel").string(), library = stem + ".so";
        write_file(stem + ".cpp", with_team(source));
        const std::string compiling = fmt::format(
            "{0} -std=c++17 -march=native -fPIC -Wno-psabi {1} -c -o {2}.o {2}.cpp 2> {2}.err", with, flags, stem);
        const std::string command =
            fmt::format("{} && {} 2>> {}.err", compiling, linking(with, library, stem + ".o"), stem);
        const bool made = std::system(command.c_str()) == 0;
        errors = read_file(stem + ".err");
        if (made) handle_ = dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
        if (made && !handle_) errors += dlerror();
    }

    // Null: there is none, or no library.
    template <typename Function>
    Function* entry(const std::string& name) const {
        return handle_ ? reinterpret_cast<Function*>(dlsym(handle_, name.c_str())) : nullptr;
    }

    std::string errors;  // the compiler's and the linker's, warnings too

private:
    void* handle_ = nullptr;  // stays open: threads of a team may still be in it
};

}  // namespace strop
