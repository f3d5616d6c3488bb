// Small functions that the kernels for pooling share, as text.
#pragma once

#include <string>

namespace strop::playbook {

std::string vector_walker();  // each_vector, whose last vector reaches back
std::string taps_helper();    // Taps, taps_inside
std::string every_helper();   // every

}  // namespace strop::playbook
