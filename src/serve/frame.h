// What all pages look like, and the HTML that they are put together from.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/record.h"
#include "serve/pages.h"

namespace strop::serve {

struct Crumb {
    std::string text, address;  // an empty address: this page
};

// `title`: plain text; `body`, `head` and `footer`: HTML.
std::string framed(const std::string& title, const std::vector<Crumb>& path, const std::string& body,
                   const Frame& frame, const std::string& head = {}, const std::string& footer = {});

// As a part of an address: all but letters, digits and -._~ in percents.
std::string address_part(std::string_view text);
std::string run_address(const std::string& run);
std::string kernel_address(const std::string& run, const std::string& kernel);

std::string badge(const std::string& outcome);  // a dot and the word
// A button that posts; `fields`: more HTML inside of the form.
std::string post_button(const std::string& address, const std::string& words, const Frame& frame,
                        const std::string& fields = {}, bool disabled = false);
// "1.42×", coloured by its side of 1 unless it is in doubt.
std::string speedup_cell(double ratio, bool sure = true);
std::string said_lines(const std::vector<std::string>& lines);

}  // namespace strop::serve
