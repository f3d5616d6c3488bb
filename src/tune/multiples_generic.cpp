#include "tune/multiples_loop.h"

namespace strop::tune {

AddMultiples wide_add_multiples() { return nullptr; }

}  // namespace strop::tune
