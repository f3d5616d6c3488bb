#include "core/profile.h"

namespace strop {

std::string name_of(Dimension dimension) {
    switch (dimension) {
        case Dimension::memory: return "memory";
        case Dimension::compute: return "compute";
        case Dimension::parallelism: return "parallelism";
        case Dimension::algorithm: return "algorithm";
    }
    return {};
}

}  // namespace strop
