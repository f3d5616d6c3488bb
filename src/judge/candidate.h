// What a kernel's process does: it answers the judge's requests (protocol.h) by calls of one function on buffers that
// it shares with the judge. It is linked with nothing of ours but cuda_driver: expected values, the referee's clock and
// the generator of inputs are elsewhere.
#pragma once

#include <cstdint>

namespace strop::judge {

// Tensors are the inputs, then the outputs; dimensions in the problem's order.
using Entry = void (*)(void* const* tensors, const double* parameters, const int64_t* dimensions);

// Ends the process, before its first answer: there is no kernel, and `what` is the reason.
[[noreturn]] void give_up(const char* what);

class Candidate {
public:
    // Before the kernel is loaded: what is there now can no longer be replaced, where the system seals memory.
    explicit Candidate(int layout_fd);

    // The values of late tunables and the stream of a device, by the variables of a compiled kernel's library.
    void take_library(void* library);
    // Which point has these dimensions, as the function's last argument says; -1: none.
    int64_t point_at(const int64_t* dimensions) const;
    // Until the judge says that it is enough, or is gone.
    [[noreturn]] void serve(Entry entry);

private:
    struct Parts;
    Parts* parts_;  // as long as the process
};

}  // namespace strop::judge
