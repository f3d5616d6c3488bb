// strop report: a run's report in another form.
#include "report/report.h"

#include <unistd.h>

#include <fmt/format.h>

#include "base/file.h"
#include "cli/commands.h"
#include "cli/store_access.h"
#include "cli/terminal.h"

namespace strop::cli {

namespace {

std::string render(const RunRecord& record, const std::string& format, bool to_file) {
    if (format == "markdown") return report::markdown(record);
    if (format == "html") return report::html(record);
    if (format == "json") return report::json(record);
    return report::terminal(record, !to_file && use_color(STDOUT_FILENO), terminal_width());
}

}  // namespace

int command_report(const Arguments& arguments) {
    std::string out = arguments.text("--out");
    std::string text = render(load_named_run(arguments), arguments.text("--format"), !out.empty());
    if (!text.ends_with('\n')) text += '\n';
    if (out.empty()) {
        fmt::print("{}", text);
    } else {
        write_named_file(out, text);
        fmt::print(stderr, "{} is written\n", out);
    }
    return 0;
}

}  // namespace strop::cli
