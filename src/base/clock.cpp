#include "base/clock.h"

#include <cctype>
#include <cstdlib>
#include <ctime>

#include <fmt/chrono.h>
#include <fmt/format.h>

#include "base/error.h"

namespace strop {

Seconds parse_duration(const std::string& text) {
    auto fail = [&]() -> Seconds {
        throw UsageError(fmt::format("'{}' is not a duration", text),
                         "write it as 60s, 2m, 1h30m or 500ms; it must be positive");
    };
    double total = 0;
    const char* at = text.c_str();
    if (!*at) return fail();
    while (*at) {
        if (!std::isdigit(static_cast<unsigned char>(*at)) && *at != '.') return fail();
        char* end = nullptr;
        double value = std::strtod(at, &end);
        if (end == at) return fail();
        at = end;
        switch (*at) {
            case 'h':
                total += value * 3600;
                ++at;
                break;
            case 'm':
                if (at[1] == 's') total += value / 1000, at += 2;
                else total += value * 60, ++at;
                break;
            case 's':
                total += value;
                ++at;
                break;
            case '\0': total += value; break;
            default: return fail();
        }
    }
    if (!(total > 0) || total > 1e9) return fail();
    return Seconds(total);
}

std::string utc_now() { return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr))); }

}  // namespace strop
