// Ctrl-C: the first one asks for an orderly stop, the second one ends the process at once.
#pragma once

namespace strop {

// Whether what is done can be gone on with afterwards.
enum class Interruptible { resumable, lost };

// Installs handlers for SIGINT and SIGTERM. On the first signal `interrupted()` becomes true and one
// line says so on standard error; on the second the process exits with code 130.
void install_interrupt_handler(Interruptible work = Interruptible::lost);

bool interrupted();

// Throws `Interrupted` when the user asked to stop.
void check_interrupt();

}  // namespace strop
