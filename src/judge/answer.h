// What a child says to a request (protocol.h). Its bytes are its own: a candidate may write anything it likes.
#pragma once

#include <functional>
#include <string>

#include "core/evaluation.h"
#include "judge/protocol.h"
#include "sandbox/process.h"

namespace strop::judge {

inline constexpr uint32_t longest_text = 1 << 16;

struct Answer {
    Reply reply;
    std::string text;  // at most longest_text bytes, printable; what more was announced is read and dropped
};

// Fills `size` bytes, or says why it cannot; sandbox::Child::receive with its limit.
using Receive = std::function<sandbox::Child::Wait(void* data, size_t size)>;

// `answer` holds something only when this is `ready`.
sandbox::Child::Wait read_answer(const Receive& receive, Answer& answer);

// The verdict that a reply stands for. A kernel's process has no way to be unsupported, and who is done has nothing to
// add: what follows would come when it likes.
Verdict verdict_of(const Reply& reply, bool is_python);

// The clock in a kernel's process beside the referee's, of the same batch: within a factor of ten. A busy system delays
// wake-ups, which only the referee sees: who disagrees is no liar yet.
bool clocks_agree(int64_t inside_ns, double batch_ns);

}  // namespace strop::judge
