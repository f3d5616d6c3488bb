// What vector_prelude() says in another way for float64: polynomials and bits of numbers that are twice as wide.
#pragma once

#include <map>
#include <string>

namespace strop::playbook {

const std::map<std::string, std::string>& double_helpers();

}  // namespace strop::playbook
