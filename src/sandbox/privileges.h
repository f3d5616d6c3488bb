// What a process gives up for good, itself and whatever it executes. Async-signal-safe, for a child before exec.
#pragma once

namespace strop::sandbox {

bool forbid_new_privileges();  // set-user-id programs run as anybody's

// Takes effect with exec: opening the program still takes what the user may. True where there is nothing to drop.
bool drop_capabilities();

}  // namespace strop::sandbox
