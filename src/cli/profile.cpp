// strop profile: where a kernel's time goes, and the one change to try next.
#include <unistd.h>

#include <random>

#include <fmt/format.h>

#include "base/error.h"
#include "base/file.h"
#include "base/interrupt.h"
#include "cli/commands.h"
#include "cli/finish.h"
#include "cli/kernel_file.h"
#include "cli/terminal.h"
#include "run/profiling.h"

namespace strop::cli {

int command_profile(const Arguments& arguments) {
    const std::string file = arguments.text("KERNEL"), page = arguments.text("--html");
    Problem problem = problem_of_compiled(arguments);
    const Kernel kernel = read_kernel(file, problem, kernel_file_hint);
    if (kernel.language != Language::cpp)
        throw UsageError(fmt::format("{}: a profile is of a kernel in C++", file), "`strop judge` checks and times it");
    const Configuration configuration = configuration_of(kernel, arguments);
    const std::vector<std::string> labels = arguments.all("--point");
    check_points(problem, labels);
    keep_points(problem, labels);
    const judge::WorkerCommand command = worker_of(arguments);
    if (!page.empty() && !fs::is_directory(fs::absolute(page).parent_path()))
        throw UsageError(fmt::format("{}: its folder does not exist", page), "make the folder first");
    install_interrupt_handler();
    judge::WorkerClient worker = started(command);
    worker.open(problem, labels, std::random_device{}());
    report::ProfileReport report = profile_kernel(worker, problem, kernel, configuration);
    report.kernel = fs::path(file).filename();
    report.strop_version = STROP_VERSION;
    report.profile.evidence = with_file_name(report.profile.evidence, file);
    const bool ok = report.profile.verdict == Verdict::ok;
    if (!page.empty() && ok) {
        write_named_file(page, report::profile_html(report));
        fmt::print(stderr, "{} is written\n", page);
    }
    if (arguments.has("--json")) fmt::print("{}", report::profile_json(report));
    else fmt::print("{}", report::profile_terminal(report, use_color(STDOUT_FILENO), terminal_width()));
    return ok ? 0 : static_cast<int>(Exit::no_improvement);
}

}  // namespace strop::cli
