// What writers of schedules share: their answer, and the comments at the head of a source.
#pragma once

#include <set>
#include <string>

#include "backend/block_writer.h"
#include "schedule/schedule.h"

namespace strop::backend {

struct SourceText {
    std::string source;
    std::string lacks;  // non-empty: what the language cannot say; there is no source then
};

// The first name of the problem that is among these words; empty when there is none.
std::string reserved_name(const Problem& problem, const std::set<std::string>& words);

// "// NAME: hypothesis", then `strop:tune` and `strop:require`, a line each.
std::string head_comments(const Problem& problem, const schedule::Schedule& schedule, const BlockProgram& program);

// The macros that kernels in tiles need; empty without tiles.
std::string tile_macros(const BlockProgram& program);

}  // namespace strop::backend
