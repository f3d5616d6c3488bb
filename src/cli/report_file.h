// What a command is given as a RESULT: a result folder, or the report.json that lies in one.
#pragma once

#include <filesystem>
#include <string>

#include "core/record.h"

namespace strop::cli {

struct ReportFile {
    std::filesystem::path folder;
    RunRecord record;  // as report::read reads it
};

// A UsageError that names the file where there is none, or none that can be read.
ReportFile read_report_file(const std::string& given);

// "1.24× (1.20–1.28)"
std::string ratio_text(const Ratio& ratio);

}  // namespace strop::cli
