// The style sheet of the HTML report: light, dark and print.
#pragma once

namespace strop::report {

extern const char* const style_sheet;

}  // namespace strop::report
