// C++ kernels: from source and configuration to a shared library with one entry, `strop_call`.
#pragma once

#include <deque>
#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "core/kernel.h"
#include "core/machine.h"
#include "core/problem.h"
#include "device/machine.h"
#include "language/link_command.h"
#include "sandbox/process.h"

namespace strop {

// The libraries' only entry: tensors are the inputs, then the outputs; parameters as doubles; dimensions in
// the problem's order. It calls the kernel.
using KernelEntry = void (*)(void* const* tensors, const double* parameters, const int64_t* dimensions);
inline constexpr const char* kernel_entry_name = "strop_call";
// The libraries' only variable: an int64_t for each late tunable, set before the first call.
inline constexpr const char* late_values_name = "strop_late";
// Of kernels in CUDA C++, a pointer: the stream that they launch on, set before the first call.
inline constexpr const char* stream_name = "strop_stream";
// And a function: what the CUDA run-time says of launches since it was last asked; null: nothing is wrong.
inline constexpr const char* launch_error_name = "strop_launch_error";

struct Build {
    std::string source;
    Configuration configuration;  // of `space`; empty for a source without tunables
    TunableSpace space;
    std::vector<std::string> flags;   // beside the usual ones: "-fsanitize=address"
    bool trusted_links = false;       // honour `// strop:link -ldnnl` (baselines only)
    bool emulated = false;            // CUDA C++, rewritten for the emulator (cuda_emulator.h)
    std::string cuda;                 // CUDA C++ for a device of this architecture, "sm_90"; empty: it is for the host
    std::vector<std::string> linked;  // further sources, flags of the linker
};

struct Built {
    bool ok = false;
    std::filesystem::path library;
    bool trusted = false;             // a baseline, which may call libraries
    std::vector<std::string> needed;  // files of libraries that it may load
    std::filesystem::path cache;      // of a program that a driver compiles when it is first called; empty: nothing is
    std::map<std::string, std::string> environment;  // that it is to be run in
    std::vector<int64_t> late_values;                // in the order of the space's late tunables
    int device = -1;                                 // the CUDA device that it runs on
    std::string interpreter;  // of a kernel in Python, whose file `library` is; empty: it is none
    Configuration tunables;   // of a kernel in Python
    std::string message;      // the compiler's, shortened, without our paths
    double seconds = 0;       // this build's share of the wall time; 0 when it was there
};

class CppToolchain {
public:
    // EnvironmentError when no compiler is installed.
    explicit CppToolchain(const Machine& machine);
    CppToolchain(std::vector<Compiler> compilers, const Machine& machine);

    // "clang 19.1.7 -O3 -march=native ...": the usual compiler, part of every evaluation's key.
    std::string description() const { return describe(compilers_.front()); }
    std::map<std::string, std::string> descriptions() const;  // by name, of all compilers that a kernel may ask for
    // By name, "g++"; the usual one where that is empty, null where there is none of that name.
    const Compiler* find(const std::string& name) const;
    const std::vector<std::string>& flags() const { return flags_; }

    // Compiles side by side on `parallel` cores, each in a folder of its own below `folder`, the same nothing twice:
    // builds that differ in late tunables only share a library. Longest first, by what is known (Graham 1969, "Bounds
    // on multiprocessing timing anomalies"). The last few hundred libraries are kept.
    std::vector<Built> build(const Problem& problem, const std::vector<Build>& builds,
                             const std::filesystem::path& folder, int parallel);

private:
    struct Library {
        Built built;
        std::string source_hash;
        std::vector<std::string> flags;  // of its configuration
        double seconds = 0;              // that compiling it alone took; 0: not yet known
    };

    struct Words;    // of a compiler's command line
    struct Steps;    // commands that make a library
    struct Pending;  // a library that is to be compiled

    double expected_seconds(const Library& library) const;
    void compile(std::vector<Pending> pending, int parallel);
    const std::vector<std::string>& libraries_of_kernels();
    std::filesystem::path build_adapter(const Problem& problem, const Build& build,
                                        const std::filesystem::path& folder) const;
    sandbox::Command cuda_command(const Build& build, const Compiler& compiler, const std::filesystem::path& library,
                                  const std::filesystem::path& adapter) const;
    std::vector<std::filesystem::path> build_emulator(const Compiler& compiler,
                                                      const std::filesystem::path& folder) const;
    std::filesystem::path build_team(const Build& build, const Compiler& compiler,
                                     const std::filesystem::path& folder) const;
    std::vector<std::filesystem::path> build_units(const Build& build, const Compiler& compiler,
                                                   const std::filesystem::path& folder) const;
    void compile_object(const Compiler& compiler, const std::vector<std::string>& flags,
                        const std::filesystem::path& source, const std::filesystem::path& object) const;
    sandbox::Command confined(const std::filesystem::path& folder) const;
    std::string describe(const Compiler& compiler) const;
    Words words_of(const Build& build, const Compiler& compiler, const std::filesystem::path& library,
                   const std::filesystem::path& adapter) const;
    Steps steps(const Build& build, const Compiler& compiler, const std::filesystem::path& library,
                const std::filesystem::path& adapter);
    const std::optional<LinkCommand>& link_command(const Compiler& compiler, const Words& words,
                                                   const std::filesystem::path& adapter);
    void forget_oldest(const std::set<std::string>& needed);

    std::vector<Compiler> compilers_;  // the usual one first
    std::string target_;               // that everything is compiled for
    std::vector<std::string> flags_, folders_, runtime_libraries_;
    std::map<std::string, std::optional<LinkCommand>> link_commands_;  // by compiler and flags
    std::map<std::string, Library> libraries_;                         // by content
    std::deque<std::string> order_;                                    // of libraries_, oldest first
    int next_ = 0;                                                     // libraries are numbered
};

// "nvcc 13.0.88 -O3 -std=c++17 -arch=sm_90"
std::string describe_cuda(const Compiler& compiler, const std::string& architecture);

// The adapter from `strop_call` to the kernel's own signature; of one in CUDA C++ with the stream behind everything.
std::string call_adapter(const Problem& problem);
std::string cuda_call_adapter(const Problem& problem);

}  // namespace strop
