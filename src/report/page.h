// The HTML page around a report's body: one file, light, dark and print.
#pragma once

#include <string>

namespace strop::report {

// All but the nonce are HTML already.
struct Page {
    std::string title, body, footer;
    std::string head = {}, header = {};  // more of the head; what stands above the body
    std::string nonce = {};              // that a content security policy wants of the style sheet
};
std::string page(const Page& page);
// A picture under its heading, with what it shows; empty where there is no picture.
std::string figure(const std::string& title, const std::string& svg, const std::string& caption);

}  // namespace strop::report
