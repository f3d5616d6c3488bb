// The source of one kernel: comment, tunables, helpers, function.
#pragma once

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "base/strings.h"
#include "core/kernel.h"
#include "core/machine.h"
#include "playbook/halves.h"
#include "playbook/vector_code.h"

namespace strop::playbook {

// What a writer of kernels says of one.
struct KernelParts {
    std::string body, helpers;
    std::set<std::string> used;  // of vector_prelude
    std::string lacks;           // non-empty: an operation that cannot be written
};

class KernelSource {
public:
    // `problem`: as the body's function has it.
    KernelSource(const Problem& problem, const std::string& comment)
        : problem_(problem),
          comment_("// " + problem.name + ": " + comment + "\n") {}

    // The first value is the default; `guess` is what should fit this machine.
    void tune(const std::string& name, const std::vector<int64_t>& values, int64_t guess) {
        declare("tune", name, values, guess);
    }
    // Lanes of a register, of two, and of half a one or of four. Where memory is all, half a register may be faster:
    // streamed stores of 32 bytes over those of 64 by a fifth.
    void tune_vectors(const Machine& machine, bool halves) {
        const int64_t lanes = std::max(4, machine.vector_bytes / 4);
        tune("VL", {lanes, 2 * lanes, halves && lanes > 4 ? lanes / 2 : 4 * lanes}, lanes);
    }
    // Down to a quarter of a register: what comes from memory in small pages comes a tenth faster in more loads of 16
    // bytes than in fewer of 64, if nothing but the loads takes time (`only_loads`).
    void tune_narrow_vectors(const Machine& machine, bool only_loads) {
        const int64_t lanes = std::max(4, machine.vector_bytes / 4), half = std::max<int64_t>(4, lanes / 2),
                      quarter = std::max<int64_t>(4, lanes / 4);
        std::vector<int64_t> values = {lanes, 2 * lanes};
        for (int64_t narrow : {half, quarter})
            if (narrow < std::min(lanes, values.back())) values.push_back(narrow);
        tune("VL", values, only_loads ? quarter : lanes);
    }
    // Nothing is compiled anew for another value.
    void late(const std::string& name, const std::vector<int64_t>& values, int64_t guess) {
        declare("late", name, values, guess);
    }
    // Bytes of tensors that no cache holds.
    void tune_size(const std::string& name, const Machine& machine) {
        constexpr int64_t mebi = 1 << 20;
        late(name, {8 * mebi, 0, mebi, 32 * mebi, int64_t{1} << 40},
             (machine.last_cache_bytes() >= 32 * mebi ? 32 : 8) * mebi);
    }
    // Over tunables.
    void require(const std::string& condition) { tunables_ += "// strop:require " + condition + "\n"; }
    // `used`: of vector_prelude.
    std::string text(const std::set<std::string>& used, const std::string& helpers, const std::string& body) const {
        return comment_ + "// strop:team\n" + tunables_ + vector_prelude(used) + half_vectors(problem_, used) +
               helpers + "\n" + body + typed_entry(problem_);
    }

    Configuration initial;

private:
    void declare(const std::string& kind, const std::string& name, const std::vector<int64_t>& values, int64_t guess) {
        std::vector<std::string> texts;
        for (int64_t value : values) texts.push_back(std::to_string(value));
        tunables_ += "// strop:" + kind + " " + name + " = " + join(texts, " | ") + "\n";
        initial[name] = guess;
    }

    const Problem& problem_;
    std::string comment_, tunables_;
};

}  // namespace strop::playbook
