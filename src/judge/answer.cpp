#include "judge/answer.h"

#include <algorithm>

#include "base/strings.h"

namespace strop::judge {

sandbox::Child::Wait read_answer(const Receive& receive, Answer& answer) {
    using Wait = sandbox::Child::Wait;
    answer = {};
    Wait wait = receive(&answer.reply, sizeof answer.reply);
    uint32_t left = wait == Wait::ready ? answer.reply.payload_bytes : 0;
    std::string text(std::min(left, longest_text), '\0'), dropped;
    if (!text.empty()) wait = receive(text.data(), text.size());
    left -= static_cast<uint32_t>(text.size());
    while (wait == Wait::ready && left > 0) {  // else it would be taken for the next reply
        dropped.resize(std::min(left, longest_text));
        wait = receive(dropped.data(), dropped.size());
        left -= static_cast<uint32_t>(dropped.size());
    }
    if (wait == Wait::ready) answer.text = printable(text);
    return wait;
}

Verdict verdict_of(const Reply& reply, bool is_python) {
    switch (reply.status) {
        case 0: return reply.payload_bytes == 0 ? Verdict::ok : Verdict::cheated;
        case 2: return is_python ? Verdict::unsupported : Verdict::crashed;
        case 3: return Verdict::cheated;
        default: return Verdict::crashed;
    }
}

bool clocks_agree(int64_t inside_ns, double batch_ns) {
    const double share = static_cast<double>(inside_ns) / batch_ns;
    return share > 0.1 && share < 10;
}

}  // namespace strop::judge
