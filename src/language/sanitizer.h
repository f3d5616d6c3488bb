// Builds that watch themselves while they run: AddressSanitizer (Serebryany et al. 2012), UndefinedBehaviorSanitizer
// and ThreadSanitizer (Serebryany, Iskhodzhanov 2009; with Archer it knows what OpenMP's barriers order).
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "core/evaluation.h"
#include "device/machine.h"

namespace strop {

struct Sanitizer {
    std::string name;                                // "ThreadSanitizer"
    std::vector<std::string> flags;                  // of the compilation, after all others
    std::vector<std::string> preloaded;              // its run-time, in a process that was built without it
    std::map<std::string, std::string> environment;  // of that process
    Verdict verdict = Verdict::crashed;              // that a finding stands for
    bool watches_threads = false;
    std::string missing;  // why it cannot be had; the rest is empty then
};

// Both kinds, with a reason where this compiler does not bring one.
std::vector<Sanitizer> sanitizers_of(const Compiler& compiler);

// How a process ends in which one found something.
inline constexpr int sanitizer_exit_code = 86;
// One line out of what it wrote then: "ThreadSanitizer: data race: Write of size 4 at kernel0.cpp:12, Previous read of
// size 4 at kernel0.cpp:15". `library`: the kernel's, with its source beside it.
std::string finding_in(const std::string& report, const std::filesystem::path& library);

}  // namespace strop
