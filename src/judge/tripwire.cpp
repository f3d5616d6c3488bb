#include "judge/tripwire.h"

#include <array>
#include <cctype>
#include <string_view>

#include "base/file.h"
#include "language/contract.h"
#include "language/team_text.h"

namespace strop::judge {

namespace {

// Names in a library's tables and texts; a kernel that computes has none of them.
constexpr std::array names = {"dlopen",
                              "dlsym",
                              "dl_iterate_phdr",
                              "mprotect",
                              "mremap",
                              "memfd_create",
                              "process_vm_readv",
                              "sched_setaffinity",
                              "pthread_setaffinity",
                              "clock_gettime",
                              "_ZNSt6chrono3_V2",
                              "syscall",
                              "madvise",
                              "/proc/self",
                              "/proc/",
                              "/dev/shm",
                              "getenv",
                              "sigaction",
                              "pthread_create",
                              "_ZNSt6thread"};
// What brings data of others into a build, code without names, and names that are put together.
constexpr std::array words = {"##",
                              ".incbin",
                              "#embed",
                              "__asm",
                              "asm(",
                              "asm (",
                              "asm volatile",
                              "#pragma comment",
                              "__builtin_return_address",
                              "__builtin_frame_address",
                              "constructor"};

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; }

// "static float sum;", "static const float* seen": state that is written between calls, or an address of the caller's.
// Constants and scratch (arrays, vectors) are not meant.
bool keeps_state(std::string_view declaration) {
    if (declaration.find('(') < declaration.find_first_of("=;[{")) return false;  // a function
    const bool pointer = declaration.find('*') < declaration.find_first_of("=;[{");
    const bool constant = declaration.find("const ") < declaration.find_first_of("=;[{");
    const bool array = declaration.find('[') < declaration.find_first_of("=;");
    const bool number = declaration.find("float ") == 0 || declaration.find("double ") == 0;
    return (pointer && !array) || (number && !constant && !array);
}

bool declares_state(std::string_view source) {
    constexpr std::string_view word = "static ";
    for (size_t at = source.find(word); at != std::string_view::npos; at = source.find(word, at + 1)) {
        if (at > 0 && is_word(source[at - 1])) continue;
        std::string_view rest = source.substr(at + word.size());
        for (const std::string_view more : {"thread_local ", "volatile ", "inline "})
            if (rest.starts_with(more)) rest.remove_prefix(more.size());
        if (keeps_state(rest.substr(0, rest.find(';') + 1))) return true;
    }
    return false;
}

}  // namespace

std::vector<std::string> tripwires(const std::string& source, const std::filesystem::path& library) {
    std::vector<std::string> found;
    const std::string built = read_file(library), team = asks_for_team(source) ? team_source() : "";
    auto is_in = [](const std::string& text, const char* name) { return text.find(name) != std::string::npos; };
    // What the threads that it asked for bring along is not the kernel's, unless it names that too.
    for (const char* name : names)
        if (is_in(built, name) && (!is_in(team, name) || is_in(source, name)))
            found.push_back(std::string("names ") + name);
    for (const char* word : words)
        if (source.find(word) != std::string::npos) found.push_back(std::string("has ") + word);
    if (declares_state(source)) found.push_back("keeps a number or a pointer between calls");
    return found;
}

}  // namespace strop::judge
