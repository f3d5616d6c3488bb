// What a candidate or a host may write into its pipe: whatever it likes.
#include <algorithm>
#include <cstring>
#include <string_view>

#include "base/strings.h"
#include "fuzz/fuzz.h"
#include "judge/answer.h"

namespace {

using namespace strop;
using namespace strop::judge;

void take_all(std::string_view bytes, bool is_python) {
    auto receive = [&](void* data, size_t size) {
        if (size > bytes.size()) return sandbox::Child::Wait::closed;
        std::memcpy(data, bytes.data(), size);
        bytes.remove_prefix(size);
        return sandbox::Child::Wait::ready;
    };
    Answer answer;
    for (double batch_ns = 1e6; read_answer(receive, answer) == sandbox::Child::Wait::ready; batch_ns *= 1.5) {
        fuzz::must(answer.text.size() <= std::min(answer.reply.payload_bytes, longest_text), "a text too long");
        fuzz::must(printable(answer.text) == answer.text, "a text that commands the terminal");
        Verdict verdict = verdict_of(answer.reply, is_python);
        const bool done = answer.reply.status == 0 && answer.reply.payload_bytes == 0;
        fuzz::must((verdict == Verdict::ok) == done, "a verdict that nobody gave");
        (void)clocks_agree(answer.reply.inside_nanoseconds, batch_ns);
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    const std::string bytes = fuzz::text_of(data, size);
    for (bool is_python : {false, true}) take_all(bytes, is_python);
    return 0;
}
