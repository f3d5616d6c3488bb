// A run's record condensed to what others may use of it.
#pragma once

#include "core/digest.h"
#include "core/record.h"

namespace strop {

// Processor and instruction set, or the device, as a name: "amd-epyc-7b13-avx2". Letters, digits and hyphens.
std::string hardware_of(const RunRecord& record);

// [a-z0-9-], at most 80 characters, never empty: safe as a file's name.
std::string slug(std::string_view text);

// "online" of "online+prefetch": the one that was planned.
std::string planned_strategy(const std::string& id);

// Of a finished run. Effects are taken from the least times: the search spends most of its evaluations where it is fast
// already, so that means over configurations would say where it searched.
Digest digest_of(const RunRecord& record);

// "online UNROLL=8: 1.23", or of the strategy as a whole "online: 1.00".
std::string describe(const Digest::Effect& effect);

}  // namespace strop
