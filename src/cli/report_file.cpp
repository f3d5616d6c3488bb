#include "cli/report_file.h"

#include <fmt/format.h>

#include "base/error.h"
#include "base/file.h"
#include "report/report.h"

namespace strop::cli {

ReportFile read_report_file(const std::string& given) {
    std::error_code failed;
    fs::path file = fs::absolute(given);
    if (fs::is_directory(file, failed)) file /= "report.json";
    if (!fs::is_regular_file(file, failed))
        throw UsageError(fmt::format("{}: there is no report", file.string()),
                         "give a folder that `strop optimize` wrote, such as strop-out/softmax");
    const std::string text = read_file(file);
    try {
        return {file.parent_path(), report::read(text)};
    } catch (const UsageError& error) {
        throw UsageError(fmt::format("{}: {}", file.string(), error.what()), error.hint());
    }
}

std::string ratio_text(const Ratio& ratio) {
    return fmt::format("{:.2f}× ({:.2f}–{:.2f})", ratio.ratio, ratio.low, ratio.high);
}

}  // namespace strop::cli
