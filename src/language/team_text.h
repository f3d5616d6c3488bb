// What kernels run on several threads with: a readable piece of C++ for every kernel that asks for it by
// `// strop:team`. Users find it once at the top of the file that they take home.
#pragma once

#include <string>

namespace strop {

// What kernels see: `namespace team`, its #include lines first. Compiled with every kernel.
std::string team_interface();
// The same with what is behind it. Compiled once for kernels that have the interface only.
std::string team_source();
// Both in an anonymous namespace, for a file that needs nothing else; the #include lines are apart.
struct TeamText {
    std::string includes, body;
};
TeamText team_text();
bool has_team(const std::string& source);  // such a file

// `NAME_set_parallel`, which the file that users take home offers: definition and, commented, declaration.
std::string set_parallel_definition(const std::string& problem);
std::string set_parallel_declaration(const std::string& problem);

}  // namespace strop
