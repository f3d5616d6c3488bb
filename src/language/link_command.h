// How a compiler's driver links a shared library. Whoever knows it starts the linker without the driver, which takes
// as long to start as a small kernel takes to be compiled.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace strop {

struct LinkCommand {
    std::vector<std::string> words;
    size_t library = 0, object = 0;  // which of them name these
    std::vector<std::string> linking(const std::string& to, const std::vector<std::string>& objects) const;
};

// From what clang prints for `-shared -o LIBRARY OBJECT -###`: each command that it would start in a line, its words in
// quotation marks. nullopt where the last of them does not make that library of that object.
std::optional<LinkCommand> read_link_command(const std::string& printed, const std::string& library,
                                             const std::string& object);

}  // namespace strop
