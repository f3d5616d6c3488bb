// The worker: a referee behind a pipe. One JSON message a line:
//   {"op": "hello"}                               -> {"strop", "protocol", "machine", "toolchain", "weaker"}
//   (worker_greeting.h)
//   {"op": "ping"}                                -> {}
//   {"op": "languages"}                           -> {"languages": ["cpp"...]}: whose kernels can run there
//   {"op": "machine", "lasting": SECONDS}         -> {"machine": {...}} with ceilings, measured again where they are
//   older
//   {"op": "open", "folder": FOLDER, "files": {NAME: MARK}, "points": [LABEL...], "seed": N, "reference_limit":
//   SECONDS}
//                                                 -> {"toolchain", "toolchains", "note", "least": {DIMENSION: N}}, or
//                                                 {"wanted": true} where there is no such folder with these files:
//                                                 `files`, then `open` again
//   {"op": "files", "files": {NAME: BASE64}}      -> {}
//   {"op": "baselines"}                           -> {"baselines": [...], "missing": [{name, how}]}
//   {"op": "evaluate", "kernels": [...], "requests": [...]}
//                                                 -> {"evaluations": [...]}; a request's kernel is one, or its place
//   {"op": "probe", "requests": [...]}            -> {"probes": [...]}
//   {"op": "profile", "request": {...}}           -> {"profile": {...}}
//   {"op": "sanitize", "request": {...}, "seconds": N}   -> {"sanitizers": [...]}
//   {"op": "emulate", "request": {...}, "seconds": N}    -> {"evaluation": {...}}
//   {"op": "compare", "request": {...}}           -> {"comparison": {...}}
//   {"op": "vectors", "points": [...]}            -> {"vectors": [...]}
//   {"op": "reseed", "seed": N}                   -> {}
// Answers with an open problem carry "reference_seconds", the total so far. A failure of the user's input is
// {"error": {"phrase", "hint", "exit"}}. Before an answer that takes its time there are lines that only say that it is
// worked on (`working_line`), every few seconds: who hears none talks to nobody. Whatever starts a command with a pipe
// can host a worker; worker_client.h asks it.
#pragma once

#include <iosfwd>

#include "base/clock.h"

namespace strop::judge {

inline constexpr Seconds usual_heartbeat{5};

// Serves until the input ends.
void serve_worker(std::istream& in, std::ostream& out, Seconds heartbeat = usual_heartbeat);

}  // namespace strop::judge
