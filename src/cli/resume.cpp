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
    std::string name = load_named_run(arguments).run;
    install_interrupt_handler();
    Store store(store_path(arguments));
    Progress progress(arguments.has("--quiet"));
    double budget = arguments.has("--budget") ? arguments.duration("--budget").count() : 0;
    return finish(resume(name, budget, worker_command(), store, progress), arguments);
}

}  // namespace strop::cli
