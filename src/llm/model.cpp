#include "llm/model.h"

namespace strop::llm {

std::string name_of(Failure failure) {
    switch (failure) {
        case Failure::none: return "none";
        case Failure::no_key: return "no_key";
        case Failure::rejected: return "rejected";
        case Failure::denied: return "denied";
        case Failure::rate_limited: return "rate_limited";
        case Failure::overloaded: return "overloaded";
        case Failure::network: return "network";
        case Failure::timed_out: return "timed_out";
        case Failure::cancelled: return "cancelled";
        case Failure::refused: return "refused";
        case Failure::cut_off: return "cut_off";
        case Failure::empty: return "empty";
        case Failure::malformed: return "malformed";
        case Failure::over_limit: return "over_limit";
        case Failure::not_recorded: return "not_recorded";
    }
    return "none";
}

}  // namespace strop::llm
