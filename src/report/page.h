// The HTML page around a report's body: one file, light, dark and print.
#pragma once

#include <string>

namespace strop::report {

// `title` and `footer` are HTML already.
std::string page(const std::string& title, const std::string& body, const std::string& footer);
// A picture under its heading, with what it shows; empty where there is no picture.
std::string figure(const std::string& title, const std::string& svg, const std::string& caption);

}  // namespace strop::report
