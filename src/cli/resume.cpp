// strop resume: go on with a run that was stopped.
#include <unistd.h>

#include "base/error.h"
#include "base/interrupt.h"
#include "cli/commands.h"
#include "cli/finish.h"
#include "cli/progress.h"
#include "cli/store_access.h"

namespace strop::cli {

int command_resume(const Arguments& arguments) {
    const RunRecord earlier = load_named_run(arguments);
    const judge::Workers workers = workers_of(arguments, earlier.settings);
    install_interrupt_handler(Interruptible::resumable);
    const std::unique_ptr<Store> store = store_of_run(arguments);
    double budget = arguments.has("--budget") ? arguments.duration("--budget").count() : 0;
    RunRecord record;
    {
        Progress progress(arguments.has("--quiet"));  // takes its block off the screen before the result is printed
        record = resume(earlier.run, {budget}, workers, *store, progress);
    }
    return finish(record, arguments);
}

}  // namespace strop::cli
