// The process that a kernel runs in: strop-candidate LIBRARY LAYOUT_FD ("-": no kernel, calls do nothing).
#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "judge/candidate.h"

using namespace strop::judge;

namespace {

constexpr size_t slack_bytes = 1 << 21;

// What asking takes by itself: the judge measures it in a process that no kernel has touched.
void do_nothing(void* const*, const double*, const int64_t*) {}

Entry load(const char* path, void*& library) {
    library = ::dlopen(path, RTLD_NOW | RTLD_LOCAL);
    Entry entry = library ? reinterpret_cast<Entry>(::dlsym(library, "strop_call")) : nullptr;
    if (!entry) give_up(::dlerror());
    return entry;
}

// One call at each point with memory of its own, which is zero (rehearsal.h). The points come on standard input.
int rehearse(const char* path) {
    void* library = nullptr;
    const Entry entry = load(path, library);
    auto word = [] {
        int64_t value = 0;
        if (std::fread(&value, sizeof value, 1, stdin) != 1) give_up("a broken rehearsal");
        return value;
    };
    const int64_t points = word(), tensor_count = word();
    std::vector<double> parameters(static_cast<size_t>(word()));
    std::vector<int64_t> dimensions(static_cast<size_t>(word()));
    for (double& parameter : parameters) {
        const int64_t bits = word();
        std::memcpy(&parameter, &bits, sizeof bits);
    }
    for (int64_t i = 0; i < points; ++i) {
        for (int64_t& extent : dimensions) extent = word();
        std::vector<void*> tensors(static_cast<size_t>(tensor_count));
        for (void*& tensor : tensors) tensor = std::calloc(static_cast<size_t>(word()) + slack_bytes, 1);
        entry(tensors.data(), parameters.data(), dimensions.data());
        for (void* tensor : tensors) std::free(tensor);
    }
    return 0;
}

}  // namespace

int main(int argc, char** argv) {
    if (argc != 3) give_up("usage: strop-candidate LIBRARY LAYOUT_FD (started by the judge)");
    if (std::strcmp(argv[2], "rehearse") == 0) return rehearse(argv[1]);
    Candidate candidate(std::atoi(argv[2]));
    if (std::strcmp(argv[1], "-") == 0) candidate.serve(do_nothing);
    void* library = nullptr;
    const Entry entry = load(argv[1], library);
    candidate.take_library(library);
    candidate.serve(entry);
}
