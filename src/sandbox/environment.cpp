#include "sandbox/environment.h"

#include <unistd.h>

namespace strop::sandbox {

std::map<std::string, std::string> own_environment() {
    std::map<std::string, std::string> variables;
    for (char** entry = ::environ; entry && *entry; ++entry) {
        std::string text = *entry;
        if (size_t equals = text.find('='); equals != std::string::npos && equals > 0)
            variables[text.substr(0, equals)] = text.substr(equals + 1);
    }
    return variables;
}

}  // namespace strop::sandbox
