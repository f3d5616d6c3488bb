#include "problem/framework.h"

#include <sstream>

#include "base/file.h"
#include "base/strings.h"
#include "problem/cpp_reference.h"

namespace strop {

bool imports(const std::string& python, const std::string& module) {
    std::istringstream lines(python);
    auto names = [&](std::string_view named) {
        named = trim(named);
        return named.substr(0, named.find_first_of(". ;#")) == module;
    };
    for (std::string line; std::getline(lines, line);) {
        if (line.starts_with("from ") && names(std::string_view(line).substr(5))) return true;
        if (!line.starts_with("import ")) continue;
        for (const std::string& one : split(line.substr(7), ','))
            if (names(one)) return true;
    }
    return false;
}

std::string framework_of_text(const std::string& python) { return imports(python, "torch") ? "pytorch" : "numpy"; }

std::string framework_of(const fs::path& reference) {
    return is_cpp(reference) ? "c++" : framework_of_text(read_file(reference));
}

std::string framework_of_kernel(const std::string& python, const fs::path& reference) {
    if (imports(python, "triton")) return "pytorch";
    if (framework_of(reference) != "pytorch") return framework_of_text(python);
    for (const char* form : {"\ndef custom_kernel(", "\nclass ModelNew("})
        if (("\n" + python).find(form) != std::string::npos) return "pytorch";
    return imports(python, "numpy") ? framework_of_text(python) : "pytorch";
}

}  // namespace strop
