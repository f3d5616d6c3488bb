// A kernel's source as text: shown with line numbers, changed by edits, and what can be told of it without a compiler.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace strop::agent {

// One change: `find` occurs exactly once.
struct Edit {
    std::string find, replace;
};

// "  12| code"
std::string numbered(const std::string& source);
// One after the other. Nothing where one does not apply exactly once; `why` then says which.
std::optional<std::string> apply_edits(std::string source, const std::vector<Edit>& edits, std::string& why);

// Outside of comments and strings.
bool names(const std::string& source, const std::string& identifier);
// Whether there is code with a function of that name, as far as text can tell; a reply that was cut off is not whole.
bool defines(const std::string& source, const std::string& function);
bool is_whole(const std::string& source);

// Takes out the declarations of tunables that no code names, and conditions on them; their names.
std::vector<std::string> drop_unused_tunables(std::string& source);

}  // namespace strop::agent
