#include "core/record.h"

namespace strop {

std::string name_of(Outcome outcome) {
    switch (outcome) {
        case Outcome::improved: return "improved";
        case Outcome::no_improvement: return "no_improvement";
        case Outcome::interrupted: return "interrupted";
        case Outcome::running: return "running";
        case Outcome::failed: return "failed";
    }
    return {};
}

}  // namespace strop
