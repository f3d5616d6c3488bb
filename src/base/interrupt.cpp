#include "base/interrupt.h"

#include <atomic>
#include <csignal>
#include <cstring>

#include <unistd.h>

#include "base/error.h"

namespace strop {

namespace {

std::atomic<int> signals_seen = 0;  // two threads may be given one each at the same moment
static_assert(std::atomic<int>::is_always_lock_free);

void say(const char* text) {
    ssize_t ignored = ::write(STDERR_FILENO, text, std::strlen(text));
    (void)ignored;
}

const char* said = "";

void on_signal(int) {
    if (++signals_seen == 1) return say(said);
    ::_exit(static_cast<int>(Exit::interrupted));
}

}  // namespace

void install_interrupt_handler(Interruptible work) {
    said = work == Interruptible::resumable ? "\ninterrupted: saving the state (once more to stop at once)\n"
                                            : "\ninterrupted: stopping (once more to stop at once)\n";
    struct sigaction action = {};
    action.sa_handler = on_signal;
    ::sigaction(SIGINT, &action, nullptr);
    ::sigaction(SIGTERM, &action, nullptr);
}

bool interrupted() { return signals_seen > 0; }

void check_interrupt() {
    if (interrupted()) throw Interrupted();
}

}  // namespace strop
