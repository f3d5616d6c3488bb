// Markdown of texts that others may have written. Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace strop::report::markdown_text {

// Text in a table's cell or a paragraph: nothing in it is taken for Markdown or HTML.
std::string escaped(std::string_view text);
// A code span that holds any text; a pipe would still end a table's cell.
std::string code(std::string_view text);
// `alignment`: one letter a column, 'l' or 'r'. An empty line follows.
std::string table(const std::vector<std::string>& titles, std::string_view alignment,
                  const std::vector<std::vector<std::string>>& rows);
// A block of code that no line of the text ends, without a line end after it.
std::string fenced(std::string_view text, std::string_view language = {});

}  // namespace strop::report::markdown_text
