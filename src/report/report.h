// Pure functions from a RunRecord to texts, and back from one of them. No file, no clock, no terminal.
#pragma once

#include <string>
#include <vector>

#include "core/record.h"

namespace strop::report {

// The document of `strop optimize --json`; its schema lies in docs/report.schema.json.
std::string json(const RunRecord& record);
// Back from that document: the run, the machine, the settings, the winners, and times and ratios at the shapes. A
// UsageError when the text is no such document.
RunRecord read(const std::string& json);
std::string markdown(const RunRecord& record);
// One self-contained page with inline SVG pictures: speedup per shape with intervals, roofline, search
// history, tree of strategies with reasons. No script from elsewhere; light and dark; prints well.
std::string html(const RunRecord& record);
// What lies in that page, for pages of others.
std::string html_body(const RunRecord& record);
std::string html_footer(const RunRecord& record);
// The closing summary for a person; `color`: ANSI colours; `width`: columns.
std::string terminal(const RunRecord& record, bool color, int width);

}  // namespace strop::report
