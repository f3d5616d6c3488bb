#include "problem/framework.h"

#include <sstream>

#include "base/file.h"
#include "problem/cpp_reference.h"

namespace strop {

std::string framework_of_text(const std::string& python) {
    std::istringstream lines(python);
    for (std::string line, keyword, module; std::getline(lines, line);) {
        bool indented = line.rfind("import ", 0) != 0 && line.rfind("from ", 0) != 0;
        if (indented) continue;
        std::istringstream words(line);
        words >> keyword >> module;
        if (module.substr(0, module.find_first_of(".,;")) == "torch") return "pytorch";
    }
    return "numpy";
}

std::string framework_of(const fs::path& reference) {
    return is_cpp(reference) ? "c++" : framework_of_text(read_file(reference));
}

}  // namespace strop
