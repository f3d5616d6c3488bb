// One C++ source from several kernels that run one after the other.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "core/kernel.h"
#include "core/problem.h"

namespace strop::playbook {

// The kernel of one stage. Its problem's inputs and outputs are named as in the function that calls it.
struct StageKernel {
    Problem problem;
    std::string source;  // contract of language/contract.h
    Configuration initial;
    double seconds = 0;                   // estimated; where a program has too many tunables, the least keep none
    std::optional<Expression> condition;  // where it may be called; elsewhere `otherwise` is
    std::string otherwise;                // source of the same function, without tunables; empty without a condition
    bool is_table = false;                // the source defines arrays that hold its outputs: nothing is called
    std::optional<size_t> same_as;        // an earlier stage that computes the same: its function is called again
};

// A value between the stages.
struct Buffer {
    std::string name;
    DType dtype = DType::float32;
    std::vector<Expression> shape;
    size_t first = 0, last = 0;  // the stages that write it, and read it last
};

struct ProgramText {
    std::string source;
    Configuration initial;
};
ProgramText write_program(const Problem& problem, const std::string& comment, const std::vector<StageKernel>& stages,
                          const std::vector<Buffer>& buffers);

// Buffers whose lives do not overlap share a slot: the slot of each, in order.
std::vector<size_t> plan_slots(const std::vector<Buffer>& buffers);
// Bytes of all slots at these dimensions.
double bytes_of_slots(const std::vector<Buffer>& buffers, const Bindings& dimensions);

}  // namespace strop::playbook
