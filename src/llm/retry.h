// When a failed attempt is made again, and after how long. The same policy as the providers' own libraries.
#pragma once

#include <ctime>
#include <map>
#include <optional>
#include <string>

#include "base/clock.h"
#include "llm/model.h"
#include "llm/wire_error.h"

namespace strop::llm {

// One attempt that came to nothing.
struct Attempt {
    bool no_answer = false;                      // no connection, or one that broke
    WireError error;                             // unless there was no answer
    std::map<std::string, std::string> headers;  // names in lower case
};

// How long to wait before the retry number `retry` (from 0); nothing: it is not worth one. `jitter` is in [0, 1),
// `now` the wall-clock time.
std::optional<Seconds> wait_before_retry(const Attempt& attempt, int retry, double jitter, std::time_t now);

// False as soon as it is cancelled.
bool wait(Seconds time, const Cancel& cancel);

}  // namespace strop::llm
