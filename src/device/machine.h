// Detects this machine (hwloc, /proc/cpuinfo, affinity mask) and measures its ceilings once; the measurements are
// cached under cache_folder()/machine-<fingerprint>.json.
#pragma once

#include <optional>
#include <set>

#include "base/clock.h"
#include "core/machine.h"

namespace strop {

// Fast (milliseconds): topology and instruction set only; ceilings are zero. As kernels for `target` (target.h) see it,
// whose errors pass through.
Machine detect_machine(const std::string& target = {});

// detect_machine() with ceilings from the cache, else measured now (a few seconds) and cached.
// A cache that cannot be written is no error.
Machine measured_machine(const std::string& target = {});

// Measures all ceilings and cache bandwidths of `machine`, ignoring the cache.
void measure_ceilings(Machine& machine);

// Measures again, keeps the higher of each two figures, and caches them: a ceiling that was measured beside busy
// neighbours, or on a processor with a lower clock, is none.
void raise_ceilings(Machine& machine);

// They are measured again when they are asked for.
void forget_ceilings(const Machine& machine);

// Since the cached ceilings of `machine` were measured; nothing when none are cached.
std::optional<Seconds> age_of_ceilings(const Machine& machine);

struct Compiler {
    std::string name;         // "clang" or "g++"
    std::string path;         // absolute
    std::string version;      // "19.1.7"
    std::string linker = {};  // of clang, which knows several: "bfd" or "lld"
};

// Kernel compilers that are installed, preferred first (clang++-19, clang++, g++-12, g++). Empty when none.
std::vector<Compiler> kernel_compilers();

// The Python that runs references: $STROP_PYTHON, else .venv/bin/python in home_folder(), else python3 if it has
// NumPy. EnvironmentError with a hint when there is none.
std::string reference_python();

struct Interpreter {
    std::string description;  // "Python 3.11.2, numpy 2.1.0, torch 2.6.0, triton 3.2.0", as far as they are there
    std::set<std::string> packages;    // of numpy, torch, triton and jax those that are there
    std::vector<std::string> folders;  // that it reads to import something
};
// What such a Python says of itself.
const Interpreter& interpreter(const std::string& python);

}  // namespace strop
