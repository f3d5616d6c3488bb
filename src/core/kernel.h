// Strategies, kernels and their tunable spaces. Plain data.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/expression.h"

namespace strop {

// A named approach to a problem.
struct Strategy {
    enum class State { active, pruned, winner };

    std::string id;                     // unique in a run: "online_single_read"
    std::string family;                 // "row_reduction", "contraction", ...
    std::string proposer;               // "playbook" or a model's name
    std::string parent;                 // id of the strategy it deepens; empty for a planned one
    std::string hypothesis;             // why it should be fast, one or two sentences
    std::string bottleneck;             // what should limit it: "memory", "compute", "parallelism", "latency"
    std::vector<std::string> excludes;  // ids or families it is incompatible with
    double confidence = 0.5;            // 0..1, re-scored from what was measured
    State state = State::active;
    std::string reason;  // why pruned, or what it wins
};
std::string name_of(Strategy::State state);

// One tunable: `// strop:tune MR = 6 | 8 | 14`, one whose value is set before the first call, so that all its values
// share one compilation: `// strop:late KC = 128 | 256`, compiler flags: `// strop:flags OPT = -O2 | -O3`, or the
// compiler: `// strop:compiler CXX = clang | g++`.
// The first value is the default.
struct Tunable {
    enum class Kind { constant, late, flags, compiler };
    std::string name;
    std::vector<Value> values;
    Kind kind = Kind::constant;
};
std::string name_of(Tunable::Kind kind);

struct TunableSpace {
    std::vector<Tunable> tunables;
    std::vector<Expression> constraints;  // over tunables
};

// A value for each tunable.
using Configuration = std::map<std::string, Value>;
std::string describe(const Configuration& configuration);  // "KC=256 MR=8"
// "clang" or "g++"; empty where the space leaves that open.
std::string compiler_of(const TunableSpace& space, const Configuration& configuration);

enum class Language { cpp, opencl, cuda, triton, tilelang, python };
std::string name_of(Language language);
// That a run writes kernels in for a device: "cpu", "opencl", "cuda", or a worker's name.
Language language_for(const std::string& device);

// Source in one language for one strategy.
struct Kernel {
    std::string id;        // unique in a run: the strategy's id, or "online_single_read+prefetch"
    std::string strategy;  // Strategy::id
    Language language = Language::cpp;
    std::string source;
    TunableSpace space;     // parsed from the source's comments
    Configuration initial;  // the author's best guess, a member of the space
    std::string author;     // "playbook", a model's name, a person
    std::string parent;     // id of the kernel this was made from; may be empty
    // Over dimensions and integer parameters: where this kernel may be called. Absent: everywhere.
    std::optional<Expression> condition;
};
// Whether the kernel's condition holds; `bindings` are those of the problem at a shape (bindings_of). One that cannot
// be evaluated (a division by zero) does not hold.
bool may_be_called(const Kernel& kernel, const Bindings& bindings);
// The same for configurations that are compiled together: they differ in late tunables only.
std::string library_of(const Kernel& kernel, const Configuration& configuration);

}  // namespace strop
